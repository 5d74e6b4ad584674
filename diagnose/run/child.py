"""Starting and ending: the job as it would have been started without us, and our own end in the job's manner."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from collections.abc import Collection, Mapping, Sequence

from .streams import JobStream

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # what shells say
_PYTHON_IGNORES = (signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE))  # at start-up, and exec would keep it


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
