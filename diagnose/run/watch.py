"""The wait: forwards signals, keeps copiers alive, asks for a report when the job hangs, is signalled, or has failed.

One loop over one `poll`: a pipe that signals write to, and nothing else. No file is touched here but the ends of
pipes, so that no stalled file system can hold up a signal.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .aside import OUTWARD_GONE, Board, Copier, start_copier
from .child import JobStream, copy_size

_NOT_PASSED = {
    "SIGKILL", "SIGSTOP", "SIGCHLD", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT", "SIGPIPE", "SIGXFSZ", "SIGURG",
    "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL",
}  # fmt: skip
PASSED = frozenset(
    number for number in signal.valid_signals() if not (isinstance(number, signal.Signals) and number.name in _NOT_PASSED)
)
ENDING = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT})
PREEMPTING = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})  # SIGKILL follows these, and no report after it
_SHARED_S = 0.25  # the sentinel got it within this time of us: it went to the whole group
_LATE_S = 5.0  # on a busy machine we may be told so much later than the sentinel; each of its notes then counts once
_SHARED_WAIT_S = 0.05
_AWAKE_WAIT_S = 2.0  # and the sentinel so much later than we, while it waits for a processor
_MOST_RESTARTS = 20  # of copiers; something that kills them over and over is obeyed in the end

# reason -> reporter's pid, and the time at which to stop waiting for it; None when none could be started
Ask = Callable[[str], tuple[int, float] | None]


@dataclass(slots=True)
class Watch:
    """A running job and what stands around it."""

    board: Board
    streams: list[JobStream]
    copiers: list[Copier]
    signals: frozenset[int]
    sentinel: int
    wakeup: int
    hang_after_s: float | None
    ask_hang: Ask
    ask_signal: Ask
    job: int = 0
    status: int | None = None  # as of waitpid
    restarts: int = 0
    outward_gone: bool = False  # somebody who read our output has left
    hang_reported: float = 0.0  # `last()` of the silence that was reported
    shared: dict[int, float] = field(default_factory=dict)  # signal -> the sentinel's note that was counted
    reporters: dict[int, float] = field(default_factory=dict)  # pid -> time.monotonic() at which it is ended


def catch_signals(numbers: frozenset[int]) -> int:
    """Lets the given signals wake a pipe instead of ending us; returns its read end."""
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in (*numbers, signal.SIGCHLD):
        signal.signal(number, lambda _number, _frame: None)
    return read_end


def passable_signals() -> frozenset[int]:
    """The signals to pass on: all that are not ignored already (`nohup`, `&` in a script), which the job inherits."""
    return frozenset(number for number in PASSED if signal.getsignal(number) is not signal.SIG_IGN)


def wait_for_job(watch: Watch) -> int:
    """Waits until the job has ended; returns its status as of waitpid."""
    while watch.status is None:
        _turn(watch, _pause_s(watch))
        if watch.status is None:
            _look_for_silence(watch)
    return watch.status


def drain(watch: Watch) -> None:
    """Waits until all that the job wrote is through to where it was going."""
    for copier in watch.copiers:
        copier.ask_drained()
        poll = select.poll()
        poll.register(copier.answer, select.POLLIN)
        poll.register(watch.wakeup, select.POLLIN)
        while copier.answer not in {fd for fd, _ in poll.poll()}:
            for number in _read_signals(watch):
                if number in ENDING:
                    return
            _reap(watch)
            if copier not in watch.copiers:
                break


def wait_for_reporter(watch: Watch, pid: int, until: float) -> bool:
    """Waits for the last report; False when a signal cut it short or its time ran out."""
    watch.reporters[pid] = until
    while pid in watch.reporters:
        if not _turn(watch, max(0.0, min(until - time.monotonic(), 3600.0))):
            end_reporters(watch)
            return False
        if pid in watch.reporters and time.monotonic() >= until:
            end_reporters(watch)
            return False
    return True


def end_reporters(watch: Watch) -> None:
    """Ends every reporter with all that it started."""
    _end_reporters(watch, float("inf"))


def end_sentinel(watch: Watch) -> None:
    """Ends the sentinel; copiers end with the job's last writer, which may outlive us."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(watch.sentinel, signal.SIGKILL)
        os.waitpid(watch.sentinel, 0)


def _pause_s(watch: Watch) -> float | None:
    moments = list(watch.reporters.values())
    if watch.hang_after_s is not None:
        moved = watch.board.last()
        since = moved if moved > watch.hang_reported else time.monotonic()  # reported: only look whether it moves again
        moments.append(since + watch.hang_after_s)
    if not moments:
        return None
    return max(0.05, min(min(moments) - time.monotonic(), 3600.0))


def _turn(watch: Watch, pause_s: float | None) -> bool:
    """Sleeps until something happens and sees to it; False when the job is over and a signal asks us to end too."""
    poll = select.poll()
    poll.register(watch.wakeup, select.POLLIN)
    poll.poll(None if pause_s is None else pause_s * 1000)
    for number in _read_signals(watch):
        if watch.status is not None and number in ENDING:
            return False
        if watch.status is None:
            _pass_on(watch, number)
    _reap(watch)
    _end_reporters(watch, time.monotonic())
    return True


def _read_signals(watch: Watch) -> list[int]:
    try:
        data = os.read(watch.wakeup, 4096)
    except BlockingIOError:
        return []
    return [number for number in data if number in watch.signals]


def _pass_on(watch: Watch, number: int) -> None:
    if number == signal.SIGWINCH:
        _resize(watch)
    if not _reached_group(watch, number):
        try:
            os.kill(watch.job, number)
        except ProcessLookupError:
            return
    if number in PREEMPTING and not watch.reporters:
        _expect(watch, watch.ask_signal(signal.Signals(number).name))


def _reached_group(watch: Watch, number: int) -> bool:
    """Whether the signal came to the whole process group, and so to the job, already."""
    begin = time.monotonic()
    while True:
        waited = time.monotonic() - begin
        is_settled = waited >= _SHARED_WAIT_S and (waited >= _AWAKE_WAIT_S or not _is_runnable(watch.sentinel))
        seen = watch.board.last(number)
        if seen > begin - _SHARED_S or seen > max(watch.shared.get(number, 0.0), begin - _LATE_S):
            watch.shared[number] = seen
            return True
        if is_settled:
            return False
        time.sleep(0.002)


def _is_runnable(pid: int) -> bool:
    """Whether a process has work to do, such as a signal that it has not seen yet; False where that cannot be told."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read(512).rpartition(b") ")[2][:1] == b"R"
    except OSError:
        return False


def _resize(watch: Watch) -> None:
    changed = [s for s in watch.streams if s.terminal and copy_size(s.outward, s.read_end)]
    if changed:
        os.killpg(os.getpgrp(), signal.SIGWINCH)  # now that the size is there; ours comes back and changes nothing


def _reap(watch: Watch) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid == watch.job:
            watch.status = status
        watch.reporters.pop(pid, None)
        for copier in list(watch.copiers):
            if copier.pid == pid:
                _replace_copier(watch, copier, status)


def _replace_copier(watch: Watch, copier: Copier, status: int) -> None:
    """A copier that was killed (by the out-of-memory killer, say) is started again before the job can notice."""
    stream = copier.stream
    os.close(copier.ask)
    os.close(copier.answer)
    watch.copiers.remove(copier)
    if os.WIFSIGNALED(status) and watch.restarts < _MOST_RESTARTS:
        watch.restarts += 1
        stream.kept.go_on()
        watch.copiers.append(start_copier(stream, watch.board, watch.signals))
        return
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == OUTWARD_GONE:
        os.close(stream.read_end)  # the job meets the reader's absence as it would alone
        stream.read_end = -1
        watch.outward_gone = True


def _end_reporters(watch: Watch, now: float) -> None:
    for pid, until in list(watch.reporters.items()):
        if now >= until:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            del watch.reporters[pid]  # one that hangs in the kernel is left behind


def _look_for_silence(watch: Watch) -> None:
    if watch.hang_after_s is None or watch.reporters:
        return
    moved = watch.board.last()
    if moved > watch.hang_reported and time.monotonic() - moved >= watch.hang_after_s:
        watch.hang_reported = time.monotonic()
        _expect(watch, watch.ask_hang(f"no output for {watch.hang_after_s:g} s"))


def _expect(watch: Watch, asked: tuple[int, float] | None) -> None:
    if asked is not None:
        watch.reporters[asked[0]] = asked[1]
