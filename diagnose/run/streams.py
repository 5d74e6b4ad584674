"""What the job gets for stdout and stderr: a pipe, or a pseudo-terminal where ours is a terminal.

Two descriptors that lead to one place (`2>&1`, one terminal) share one pipe, so that the order of lines is kept.
A stream that is closed stays closed. stdin is inherited and never touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import termios
from dataclasses import dataclass

from .keep import Kept, open_new

PIPE_BYTES = 1 << 20  # the most that an unprivileged process may ask for; larger reads, fewer switches
_OPOST = 1  # index of c_oflag in termios lists


@dataclass(slots=True)
class JobStream:
    """One way out of the job."""

    name: str  # output (stdout and stderr together), stdout or stderr
    slot: int
    outward: int  # a private duplicate of our own descriptor
    read_end: int
    write_end: int
    child_fds: tuple[int, ...]
    terminal: bool
    kept: Kept
    kept_fd: int


def open_streams(folder: str, tail_bytes: int) -> list[JobStream]:
    """Opens what the job will write to, one stream for each place that ours lead to."""
    groups: dict[tuple[int, int], list[int]] = {}
    for fd in (1, 2):
        try:
            status = os.fstat(fd)
        except OSError:
            continue  # closed (`>&-`): the job finds it closed too
        groups.setdefault((status.st_dev, status.st_ino), []).append(fd)
    return [_open_stream(slot, tuple(fds), folder, tail_bytes) for slot, fds in enumerate(groups.values())]


def _open_stream(slot: int, fds: tuple[int, ...], folder: str, tail_bytes: int) -> JobStream:
    name = "output" if len(fds) > 1 else {1: "stdout", 2: "stderr"}[fds[0]]
    terminal = os.isatty(fds[0])
    read_end, write_end = _open_terminal(fds[0]) if terminal else _open_pipe()
    kept = Kept(os.path.join(folder, f"{name}.part"), tail_bytes=tail_bytes)
    kept_fd = open_new(kept.path)
    outward = fcntl.fcntl(fds[0], fcntl.F_DUPFD_CLOEXEC, 3)
    return JobStream(name, slot, outward, _above_two(read_end), _above_two(write_end), fds, terminal, kept, kept_fd)


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
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
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
