"""The job as a process, and the wait for it: signals go on to it, copiers stay alive, silence and endings are told.

It is started as it would have been without us, in our process group and session; stdin is inherited and never touched.
One loop over one `poll`: a pipe that signals write to, and nothing else. No file is touched here but the ends of pipes,
so that no stalled file system can hold up a signal.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Sequence

from .streams import OUTWARD_GONE, Board, JobStream, copy_size, start_copier, start_sentinel

_NOT_PASSED = {
    "SIGKILL", "SIGSTOP", "SIGCHLD", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGPIPE", "SIGXFSZ", "SIGURG",
    "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL",
}  # fmt: skip
PASSED = frozenset(
    number for number in signal.valid_signals() if not (isinstance(number, signal.Signals) and number.name in _NOT_PASSED)
)
PREEMPTING = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})  # SIGKILL follows these, and no report after it
ENDING = PREEMPTING | {signal.SIGINT}
_PYTHON_IGNORES = (signal.SIGPIPE, getattr(signal, "SIGXFSZ", signal.SIGPIPE))  # at start-up, and exec would keep it
_SHARED_WAIT_S = 0.5  # the sentinel got a signal that went to the whole group within so much of us
_LATE_S = 5.0  # on a busy machine we may be told so much later than the sentinel; each of its notes then counts once
_LONGEST_S = 3600.0
_MOST_RESTARTS = 20  # of copiers; something that kills them over and over is obeyed in the end


class Watch:
    """A running job and what stands around it."""

    def __init__(self, streams: list[JobStream], hang_after_s: float | None) -> None:
        self.streams, self.hang_after_s = streams, hang_after_s
        self.board = Board()
        self.job = 0
        self.status: int | None = None  # as of waitpid
        self.outward_gone = False  # somebody who read our output has left
        # Not those that are ignored already (`nohup`, `&` in a script): the job inherits that.
        self._signals = frozenset(number for number in PASSED if signal.getsignal(number) is not signal.SIG_IGN)
        self._wakeup, self._alarm = os.pipe()
        self._sentinel = self._restarts = 0
        self._hang_reported = 0.0  # when a silence was reported
        self._shared: dict[int, float] = {}  # signal -> the sentinel's note that was counted
        self.reporters: dict[int, float] = {}  # pid -> time.monotonic() at which it is ended

    def ask(self, reason: str, *, is_silent: bool) -> None:
        """Asks for a report on silence, or before the end that a signal announces, and notes the reporter."""
        raise NotImplementedError

    def begin(self, command: Sequence[str], patterns: Sequence[str]) -> None:
        """Starts the copiers, the sentinel, which looks at `patterns`, and the job. Raises OSError where it cannot run."""
        for end in (self._wakeup, self._alarm):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._alarm, warn_on_full_buffer=False)
        for number in (*self._signals, signal.SIGCHLD):
            signal.signal(number, lambda _number, _frame: None)
        for stream in self.streams:
            start_copier(stream, self.board, self._signals)
        self._sentinel = start_sentinel(self.board, self._signals, patterns, self.hang_after_s)
        try:
            self.job = os.posix_spawnp(
                command[0], list(command), os.environ, setsigdef=[*self._signals, *_PYTHON_IGNORES],
                file_actions=[(os.POSIX_SPAWN_DUP2, s.write_end, fd) for s in self.streams for fd in s.child_fds],
            )  # fmt: skip
        except OSError:
            self.end_sentinel()
            raise
        for stream in self.streams:
            os.close(stream.write_end)

    def wait_for_job(self) -> int:
        """Waits until the job has ended; returns its status as of waitpid."""
        while self.status is None:
            self._turn(self._pause_s())
            if self.status is None:
                self._look_for_silence()
        return self.status

    def drain(self) -> None:
        """Waits until all that the job wrote is through to where it was going."""
        for stream in self.streams:
            if stream.copier:
                with contextlib.suppress(OSError):  # it has ended: `answer` reads as ended too
                    os.write(stream.ask, b"?")
            while stream.copier and stream.answer not in _readable(stream.answer, self._wakeup):
                if ENDING & set(self._read_signals()):
                    return
                self._reap()

    def wait_for_reporter(self, pid: int) -> bool:
        """Waits for the last report; False when a signal cut it short or its time ran out."""
        until = self.reporters[pid]
        while pid in self.reporters:
            if not self._turn(until - time.monotonic()) or time.monotonic() >= until:
                is_done = pid not in self.reporters
                self.end_reporters()
                return is_done
        return True

    def end_reporters(self, now: float = float("inf")) -> None:
        """Ends the reporters whose time is up, each with all that it started; one that hangs in the kernel is left."""
        for pid in [pid for pid, until in self.reporters.items() if now >= until]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            del self.reporters[pid]

    def end_sentinel(self) -> None:
        """Ends the sentinel; copiers end with the job's last writer, which may outlive us."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._sentinel, signal.SIGKILL)
            os.waitpid(self._sentinel, 0)

    def _pause_s(self) -> float:
        moments = list(self.reporters.values())
        if self.hang_after_s is not None:
            moved = self.board.last()
            since = moved if moved > self._hang_reported else time.monotonic()  # reported: only look whether it moves
            moments.append(since + self.hang_after_s)
        return max(0.05, min(moments, default=float("inf")) - time.monotonic())

    def _turn(self, pause_s: float) -> bool:
        """Sleeps until something happens and sees to it; False when the job is over and a signal asks us to end too."""
        _readable(self._wakeup, pause_s=max(0.0, min(pause_s, _LONGEST_S)))
        for number in self._read_signals():
            if self.status is None:
                self._pass_on(number)
            elif number in ENDING:
                return False
        self._reap()
        self.end_reporters(time.monotonic())
        return True

    def _read_signals(self) -> list[int]:
        try:
            return [number for number in os.read(self._wakeup, 4096) if number in self._signals]
        except BlockingIOError:
            return []

    def _pass_on(self, number: int) -> None:
        sized = [copy_size(s.outward, s.read_end) for s in self.streams if s.terminal and number == signal.SIGWINCH]
        if any(sized):
            os.killpg(os.getpgrp(), number)  # now that the size is there; ours comes back and changes nothing
        if not self._reached_group(number):
            try:
                os.kill(self.job, number)
            except ProcessLookupError:
                return
        if number in PREEMPTING and not self.reporters:
            self.ask(signal.Signals(number).name, is_silent=False)

    def _reached_group(self, number: int) -> bool:
        """Whether the signal came to the whole process group, and so to the job, already."""
        begin = time.monotonic()
        oldest = max(self._shared.get(number, 0.0), begin - _LATE_S)
        while (seen := self.board.last(number)) <= oldest:
            if time.monotonic() > begin + _SHARED_WAIT_S:
                return False
            time.sleep(0.002)
        self._shared[number] = seen
        return True

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if pid == self.job:
                    self.status = status
                self.reporters.pop(pid, None)
                for stream in [stream for stream in self.streams if stream.copier == pid]:
                    self._replace(stream, status)

    def _replace(self, stream: JobStream, status: int) -> None:
        """A copier that was killed (by the out-of-memory killer, say) is started again before the job can notice."""
        os.close(stream.ask)
        os.close(stream.answer)
        stream.copier = 0
        if os.WIFSIGNALED(status) and self._restarts < _MOST_RESTARTS:
            self._restarts += 1
            stream.kept.go_on()
            start_copier(stream, self.board, self._signals)
        elif os.WIFEXITED(status) and os.WEXITSTATUS(status) == OUTWARD_GONE:
            os.close(stream.read_end)  # the job meets the reader's absence as it would alone
            self.outward_gone = True

    def _look_for_silence(self) -> None:
        moved = self.board.last()
        if self.hang_after_s is None or self.reporters or moved <= self._hang_reported:
            return
        if time.monotonic() - moved >= self.hang_after_s:
            self._hang_reported = time.monotonic()
            self.ask(f"no output for {self.hang_after_s:g} s", is_silent=True)


def _readable(*fds: int, pause_s: float | None = None) -> set[int]:
    poll = select.poll()  # `select` takes no descriptor above 1023, and a parent may have left many open
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return {fd for fd, _ in poll.poll(None if pause_s is None else pause_s * 1000)}


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
