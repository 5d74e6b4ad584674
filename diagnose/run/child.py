"""The job as a process: what it gets for stdout and stderr, how it is started, and our own end in its manner.

It is started as it would have been without us. Its output goes to a pipe, or a pseudo-terminal where ours is a terminal;
two descriptors that lead to one place (`2>&1`, one terminal) share one, so that the order of lines is kept. A stream that
is closed stays closed. stdin is inherited and never touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import sys
import termios
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..hooks.kept import Kept

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # what shells say
PIPE_BYTES = 1 << 20  # the most that an unprivileged process may ask for; larger reads, fewer switches
_OPOST = 1  # index of c_oflag in termios lists
_PYTHON_IGNORES = (signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE))  # at start-up, and exec would keep it


@dataclass(slots=True)
class JobStream:
    """One way out of the job."""

    outward: int  # a private duplicate of our own descriptor
    read_end: int
    write_end: int
    child_fds: tuple[int, ...]
    terminal: bool
    kept: Kept


def open_streams(folder: str, tail_bytes: int) -> list[JobStream]:
    """Opens what the job will write to, one stream for each place that ours lead to."""
    groups: dict[tuple[int, int], list[int]] = {}
    for fd in (1, 2):
        try:
            status = os.fstat(fd)
        except OSError:
            continue  # closed (`>&-`): the job finds it closed too
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


def start_job(argv: Sequence[str], streams: Sequence[JobStream], signals: Collection[int]) -> int:
    """Starts the job in our process group and session, with our stdin; returns its pid.

    Raises OSError when the program cannot be executed.
    """
    failure, told = os.pipe()
    old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)  # none may be lost between fork and exec
    pid = os.fork()
    if pid == 0:
        try:
            for stream in streams:
                for fd in stream.child_fds:
                    os.dup2(stream.write_end, fd, inheritable=True)
            for number in (*signals, *_PYTHON_IGNORES):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
            os.execvp(argv[0], list(argv))
        except OSError as error:
            os.write(told, str(error.errno).encode())
        finally:
            os._exit(NOT_FOUND)
    os.close(told)
    signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
    text = os.read(failure, 16)
    os.close(failure)
    if text:
        os.waitpid(pid, 0)
        raise OSError(int(text), os.strerror(int(text)), argv[0])
    return pid


def spawn_aside(argv: Sequence[str], request: bytes, environment: Mapping[str, str]) -> int:
    """Starts a helper in a session of its own with `request` on stdin and stderr for what it says; returns its pid."""
    source, sink = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            os.dup2(source, 0)
            os.dup2(2, 1)
            os.closerange(3, 64)
            os.execvpe(argv[0], list(argv), dict(environment))
        finally:
            os._exit(NOT_FOUND)
    os.close(source)
    with contextlib.suppress(OSError):
        os.write(sink, request)  # a request is far smaller than a pipe holds, so this cannot wait
    os.close(sink)
    return pid


def end_like(status: int) -> int:
    """Ends this process by the signal that ended the job, or returns the exit code to end with."""
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the job has dumped its core; ours would overwrite it
    sys.stderr.flush()
    signal.set_wakeup_fd(-1)
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 + number  # process 1 of a container is immune to its own signals
