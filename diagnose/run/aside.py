"""The small processes that stand beside the job, copiers and the sentinel, and the memory that they share with us.

A copier moves one stream of the job's output to where it was going and keeps a copy. It is a process in a session of its
own, so that the job never meets a broken pipe when `diagnose run` is killed, by SIGKILL too: it goes on until the job's
last writer is gone. The sentinel stands in the job's process group and notes what reaches the group: a signal that
reached it too (Ctrl-C, `kill -- -PGID`, `timeout`, `scancel`) has reached the job already; forwarding it would make two
of one, and a launcher that gets a second SIGTERM aborts its clean-up. It also looks whether anything in the launcher's
log folder moves: a stalled file system then holds up the sentinel and nothing else.
"""

from __future__ import annotations

import errno
import glob
import mmap
import os
import select
import signal
import struct
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..hooks.kept import join
from .child import PIPE_BYTES, JobStream

OUTWARD_GONE = 3  # exit status: whoever read our stdout left (`| head`); the job shall meet that as it would alone
_CHUNK_BYTES = 256 << 10
_HIGHEST_FD = 4096  # what a parent that leaks descriptors may have handed us
_GONE = (errno.EPIPE, errno.EIO, errno.ECONNRESET)
_PTY_SETTLE_MS = 30  # a pseudo-terminal hands over by a kernel work queue, a pipe at once
_LOOK_S = 30.0  # how often the log folder is looked at, at most: a file server has better things to do
_PARENT_S = 5.0  # how soon the sentinel is gone after a parent that was killed
_MOST_FILES = 4_000  # of a larger folder, the first ones found


class Board:
    """When the job last showed life, and when each signal reached its process group: numbers in an anonymous map.

    No lock, no message. Times are `time.monotonic()` seconds, which all processes of a machine share.
    """

    __slots__ = ("_map",)

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, mmap.PAGESIZE)
        self.note()

    def note(self, signal_number: int = 0) -> None:
        """Notes that a signal came to a bystander in the job's process group; 0: that something moved."""
        struct.pack_into("d", self._map, 8 * signal_number, time.monotonic())

    def last(self, signal_number: int = 0) -> float:
        """When that was; 0 for never."""
        return float(struct.unpack_from("d", self._map, 8 * signal_number)[0])


@dataclass(slots=True)
class Copier:
    """A running copier, as its parent sees it."""

    stream: JobStream
    pid: int
    ask: int  # one byte asks to say when all that the job wrote is through
    answer: int  # becomes readable then, or at the end of the stream

    def ask_drained(self) -> None:
        """Asks the copier to report when everything written so far is through."""
        try:
            os.write(self.ask, b"?")
        except OSError:
            return  # it has ended: `answer` reads as ended too


def start_copier(stream: JobStream, board: Board, signals: Collection[int]) -> Copier:
    """Forks the copier of one stream."""
    asked, ask = os.pipe()
    answer, answered = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _settle(stream, (asked, answered), signals)
            status = _copy(stream, board, asked, answered)
            if os.getppid() != parent:  # nobody is left to report: leave a readable copy for `diagnose FOLDER`
                join(stream.kept.path)
        finally:
            os._exit(status)
    os.close(asked)
    os.close(answered)
    return Copier(stream, pid, ask, answer)


def _settle(stream: JobStream, control: tuple[int, int], signals: Collection[int]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in signals:
        signal.signal(number, signal.SIG_IGN)
    wanted = {stream.read_end, stream.outward, stream.kept.fd, *control}
    highest = max(wanted)
    low = 0
    for fd in sorted(wanted):
        os.closerange(low, fd)  # another stream's write end held open here would never let it end
        low = fd + 1
    os.closerange(highest + 1, _HIGHEST_FD)
    os.chdir("/")


def _copy(stream: JobStream, board: Board, asked: int, answered: int) -> int:
    buffer = memoryview(bytearray(_CHUNK_BYTES))
    poll = select.poll()
    poll.register(stream.read_end, select.POLLIN)
    poll.register(asked, select.POLLIN)
    total, drain_to = 0, -1  # when asked: the count of bytes at which all that stood in the pipe is certainly through
    while True:
        settle_ms = _PTY_SETTLE_MS if stream.terminal else 0
        ready = {fd for fd, _ in poll.poll(None if drain_to < 0 else settle_ms)}
        if asked in ready:
            if os.read(asked, 1):
                drain_to = total + PIPE_BYTES
            else:
                poll.unregister(asked)  # the parent is gone; the job is not
        if stream.read_end in ready:
            try:
                data = buffer[: os.readv(stream.read_end, [buffer])]
            except OSError:
                return 0  # EIO: the pseudo-terminal's last writer closed it
            if not data:
                return 0
            board.note()
            stream.kept.write(data)
            total += len(data)
            if not _write_all(stream.outward, data):
                return OUTWARD_GONE
        if drain_to >= 0 and (not ready or total >= drain_to):
            _write_all(answered, memoryview(b"!"))
            drain_to = -1


def _write_all(fd: int, data: memoryview) -> bool:
    """Writes everything, waiting as the job would; False when the reader is gone."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            waiter = select.poll()  # somebody set our stdout non-blocking (node does)
            waiter.register(fd, select.POLLOUT)
            waiter.poll()
        except OSError as error:
            # a full disk loses output, as it would without us; only a reader that left ends the stream
            return error.errno not in _GONE
    return True


def start_sentinel(board: Board, signals: Collection[int], patterns: Sequence[str], hang_after_s: float | None) -> int:
    """Forks the sentinel, which watches the files that match `patterns`; returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _stand(board, signals, patterns, parent, hang_after_s)
        finally:
            os._exit(0)
    return pid


def _stand(
    board: Board, signals: Collection[int], patterns: Sequence[str], parent: int, hang_after_s: float | None
) -> None:
    signal.set_wakeup_fd(-1)
    for number in signals:
        signal.signal(number, lambda got, _frame: board.note(got))
    os.closerange(0, _HIGHEST_FD)  # it must keep no pipe open whose end somebody waits for
    patterns = patterns if hang_after_s else ()
    pause_s = min(_LOOK_S, hang_after_s / 4) if hang_after_s else _PARENT_S
    before = _fingerprint(patterns)
    while os.getppid() == parent:
        select.select([], [], [], pause_s)
        now = _fingerprint(patterns)
        if now != before:
            board.note()
            before = now


def _fingerprint(patterns: Sequence[str]) -> tuple[int, int, float]:
    """Count, bytes and newest change of the files that match or lie below: what any line written changes."""
    count, size_bytes, newest = 0, 0, 0.0
    waiting = [path for pattern in patterns for path in glob.glob(pattern)]
    while waiting and count < _MOST_FILES:
        path = waiting.pop()
        try:
            if os.path.isdir(path):
                waiting += [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
                continue
            status = os.stat(path)
        except OSError:
            continue
        count, size_bytes, newest = count + 1, size_bytes + status.st_size, max(newest, status.st_mtime)
    return count, size_bytes, newest
