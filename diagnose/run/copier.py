"""The copier: one small process per stream that moves the job's output to where it was going and keeps a copy.

It is a process of its own, in a session of its own, so that the job never meets a broken pipe when `diagnose run` is
killed, by SIGKILL too: the copier goes on until the job's last writer is gone.
"""

from __future__ import annotations

import errno
import os
import select
import signal
from collections.abc import Collection
from dataclasses import dataclass

from .board import Board
from .streams import PIPE_BYTES, JobStream

OUTWARD_GONE = 3  # exit status: whoever read our stdout left (`| head`); the job shall meet that as it would alone
_CHUNK_BYTES = 256 << 10
_HIGHEST_FD = 4096  # what a parent that leaks descriptors may have handed us
_GONE = (errno.EPIPE, errno.EIO, errno.ECONNRESET)
_PTY_SETTLE_MS = 30  # a pseudo-terminal hands over by a kernel work queue, a pipe at once


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
                stream.kept.unroll(board.total_bytes(stream.slot), stream.kept.path.removesuffix(".part") + ".log")
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
    wanted = {stream.read_end, stream.outward, stream.kept_fd, *control}
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
    drain_to = -1  # when asked: the count of bytes at which all that stood in the pipe is certainly through
    while True:
        settle_ms = _PTY_SETTLE_MS if stream.terminal else 0
        ready = {fd for fd, _ in poll.poll(None if drain_to < 0 else settle_ms)}
        if asked in ready:
            if os.read(asked, 1):
                drain_to = board.total_bytes(stream.slot) + PIPE_BYTES
            else:
                poll.unregister(asked)  # the parent is gone; the job is not
        if stream.read_end in ready:
            outcome = _move(stream, board, buffer)
            if outcome is not None:
                return outcome
        if drain_to >= 0 and (not ready or board.total_bytes(stream.slot) >= drain_to):
            _write_all(answered, memoryview(b"!"))
            drain_to = -1


def _move(stream: JobStream, board: Board, buffer: memoryview) -> int | None:
    try:
        count = os.readv(stream.read_end, [buffer])
    except OSError:
        count = 0  # EIO: the pseudo-terminal's last writer closed it
    if count == 0:
        return 0
    data = buffer[:count]
    stream.kept.write(stream.kept_fd, board.add(stream.slot, count), data)
    return None if _write_all(stream.outward, data) else OUTWARD_GONE


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
