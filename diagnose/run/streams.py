"""The job's ways out: a pipe or a pseudo-terminal each, and the copiers that move what comes to where it was going.

Output goes to a pipe, or a pseudo-terminal where ours is a terminal; two descriptors that lead to one place (`2>&1`, one
terminal) share one, so that the order of lines is kept. A stream that is closed stays closed.

A copier moves one stream and keeps a copy. It is a process in a session of its own, so that the job never meets a broken
pipe when `diagnose run` is killed, by SIGKILL too: it goes on until the job's last writer is gone.

The sentinel, which notes what reaches the job's process group and its log folder, and the board that it notes it on.

The sentinel stands in the job's process group: a signal that reached it too (Ctrl-C, `kill -- -PGID`, `timeout`,
`scancel`) has reached the job already; forwarding it would make two of one, and a launcher that gets a second SIGTERM
aborts its clean-up. It also looks whether anything in the launcher's log folder moves: a stalled file system then holds
up the sentinel and nothing else.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import mmap
import os
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..hooks.kept import Kept, fingerprint, join

OUTWARD_GONE = 3  # exit status: whoever read our stdout left (`| head`); the job shall meet that as it would alone
_PIPE_BYTES = 1 << 20  # the most that an unprivileged process may ask for; larger reads, fewer switches
_OPOST = 1  # index of c_oflag in termios lists
_CHUNK_BYTES = 256 << 10
_GONE = (errno.EPIPE, errno.EIO, errno.ECONNRESET)
_PTY_SETTLE_MS = 30  # a pseudo-terminal hands over by a kernel work queue, a pipe at once


@dataclass(slots=True)
class JobStream:
    """One way out of the job."""

    outward: int  # a private duplicate of our own descriptor
    read_end: int
    write_end: int
    child_fds: tuple[int, ...]
    terminal: bool
    kept: Kept
    copier: int = 0  # the pid of the process that moves it, 0 once that has ended; and its two pipes
    ask: int = -1  # one byte asks to say when all that the job wrote is through
    answer: int = -1  # becomes readable then, or at the end of the stream


def open_streams(folder: str, tail_bytes: int) -> list[JobStream]:
    """Opens what the job will write to, one stream for each place that ours lead to."""
    groups: dict[tuple[int, int], list[int]] = {}
    for fd in (1, 2):
        with contextlib.suppress(OSError):  # closed (`>&-`): the job finds it closed too
            status = os.fstat(fd)
            groups.setdefault((status.st_dev, status.st_ino), []).append(fd)
    return [_open_stream(tuple(fds), folder, tail_bytes) for fds in groups.values()]


def _open_stream(fds: tuple[int, ...], folder: str, tail_bytes: int) -> JobStream:
    name = "output" if len(fds) > 1 else {1: "stdout", 2: "stderr"}[fds[0]]
    terminal = os.isatty(fds[0])
    read_end, write_end = _open_terminal(fds[0]) if terminal else _open_pipe()
    kept = Kept(os.path.join(folder, name), tail_bytes)
    outward = fcntl.fcntl(fds[0], fcntl.F_DUPFD_CLOEXEC, 3)
    return JobStream(outward, _above_two(read_end), _above_two(write_end), fds, terminal, kept)


def _above_two(fd: int) -> int:
    """Moves a descriptor out of 0..2, where it lands when one of those was closed."""
    if fd > 2:
        return fd
    moved = int(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3))
    os.close(fd)
    return moved


def _open_pipe() -> tuple[int, int]:
    read_end, write_end = os.pipe()
    if sys.platform == "linux" and hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):  # over the user's limit: the usual 64 KiB then
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return read_end, write_end


def _open_terminal(ours: int) -> tuple[int, int]:
    """A pseudo-terminal like ours, for output only: it is nobody's controlling terminal, keys go to stdin as ever."""
    master, slave = os.openpty()
    modes = termios.tcgetattr(ours)
    modes[_OPOST] &= ~termios.OPOST  # the real terminal turns \n into \r\n; twice would be once too often
    termios.tcsetattr(slave, termios.TCSANOW, modes)
    copy_size(ours, master)
    return master, slave


def copy_size(ours: int, master: int) -> bool:
    """Gives the pseudo-terminal our terminal's size; returns whether it changed."""
    try:
        wanted = fcntl.ioctl(ours, termios.TIOCGWINSZ, bytes(8))
        if wanted == fcntl.ioctl(master, termios.TIOCGWINSZ, bytes(8)):
            return False
        fcntl.ioctl(master, termios.TIOCSWINSZ, wanted)
    except OSError:
        return False  # the terminal is gone
    return True


# --- copiers -------------------------------------------------------------------------------------------------------


def start_copier(stream: JobStream, board: Board, signals: Collection[int]) -> None:
    """Forks the copier of one stream."""
    asked, ask = os.pipe()
    answer, answered = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _settle({stream.read_end, stream.outward, stream.kept.fd, asked, answered}, signals)
            status = _copy(stream, board, asked, answered)
            if os.getppid() != parent:  # nobody is left to report: leave a readable copy for `diagnose FOLDER`
                join(stream.kept.path)
        finally:
            os._exit(status)
    os.close(asked)
    os.close(answered)
    stream.copier, stream.ask, stream.answer = pid, ask, answer


def _settle(wanted: set[int], signals: Collection[int]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in signals:
        signal.signal(number, signal.SIG_IGN)
    for kept, following in pairwise([-1, *sorted(wanted), HIGHEST_FD]):
        os.closerange(kept + 1, following)  # another stream's write end held open here would never let it end
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
                drain_to = total + _PIPE_BYTES
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


# --- the sentinel ----------------------------------------------------------------------------------------------------

HIGHEST_FD = 4096  # what a parent that leaks descriptors may have handed us
_LOOK_S = 30.0  # how often the log folder is looked at, at most: a file server has better things to do
_PARENT_S = 5.0  # how soon the sentinel is gone after a parent that was killed


class Board:
    """When the job last showed life, and when each signal reached its process group: numbers in an anonymous map. No lock,
    no message. Times are `time.monotonic()` seconds, which all processes of a machine share."""

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


def start_sentinel(board: Board, signals: Collection[int], patterns: Sequence[str], hang_after_s: float | None) -> int:
    """Forks the sentinel, which watches the files that match `patterns`; returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.set_wakeup_fd(-1)
        for number in signals:
            signal.signal(number, lambda got, _frame: board.note(got))
        os.closerange(0, HIGHEST_FD)  # it must keep no pipe open whose end somebody waits for
        pause_s = min(_LOOK_S, hang_after_s / 4) if hang_after_s else _PARENT_S
        before = fingerprint(patterns) if hang_after_s else None
        while os.getppid() == parent:
            select.select([], [], [], pause_s)
            if before is not None and before != (before := fingerprint(patterns)):
                board.note()
    finally:
        os._exit(0)
