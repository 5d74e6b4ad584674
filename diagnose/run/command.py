"""`diagnose run -- COMMAND`: starts the job, stands aside, and asks for a report when something went wrong.

Only the standard library is imported here, since this process stays for as long as the job runs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import replace

from ..hooks.environment import launcher_of, log_patterns, nodes_of_command, read_environment
from ..hooks.kept import clear, join
from ..hooks.request import GRACE_S, HookRequest, encode_request, module_command, quiet_environment, say
from ..lines.record import record
from .aside import Board, start_copier, start_sentinel
from .child import NOT_EXECUTABLE, NOT_FOUND, end_like, open_streams, spawn_aside, start_job
from .watch import (
    Watch,
    catch_signals,
    drain,
    end_reporters,
    end_sentinel,
    passable_signals,
    wait_for_job,
    wait_for_reporter,
)

_WHO = "diagnose run"


@record
class Asked:
    """What a run was asked to do, beside the report that a failure shall have."""

    logs: tuple[str, ...]  # more places that the job writes to
    hang_after_s: float | None
    stacks: bool
    keep: str | None
    tail_bytes: int
    nodes: int | None


def run_job(command: Sequence[str], request: HookRequest, asked: Asked) -> int:
    """Run the job; yield its exit code, or die by the job's signal. A failure is reported as `request` says."""
    try:
        folder = _make_folder(asked.keep)
        run = _Run(command, request, asked, folder)
    except Exception as error:
        return _run_plainly(command, error)
    try:
        watch = run.start()
    except Exception as error:
        if run.job:
            raise  # it runs: never twice
        run.clear()
        if isinstance(error, OSError) and error.filename is not None:
            return _say_not_run(error)
        return _run_plainly(command, error)  # no process to be had for the helpers
    status = _wait(watch)
    run.ended = time.time()
    try:
        drain(watch)
        _finish(run, watch, status)
        end_sentinel(watch)
    except Exception as error:  # the job's status is what counts now
        _say(f"no report: {type(error).__name__}: {error}")
    return end_like(status)


def _wait(watch: Watch) -> int:
    """Waits for the job, with or without what goes on around it."""
    try:
        return wait_for_job(watch)
    except Exception as error:
        _say(f"only waiting for the job from here on: {type(error).__name__}: {error}")
    return os.waitpid(watch.job, 0)[1] if watch.status is None else watch.status


def _finish(run: _Run, watch: Watch, status: int) -> None:
    """Asks for the final report when the job failed; else leaves nothing behind."""
    left = watch.outward_gone and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPIPE  # `… | head`
    if status == 0 or left:
        if run.asked.keep:
            run.join()
        run.clear()
        return
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = None if number is not None else os.WEXITSTATUS(status)
    reason = f"exit code {code}" if number is None else f"ended by {_signal_name(number)}"
    _say(f"{reason}; looking for the cause (at most {run.request.budget_s:g} s, Ctrl-C skips it)")
    end_reporters(watch)  # an interim report is overtaken, and must not be written over the final one
    asked = run.ask(reason, exit_code=code, signal_number=number, webhook=True)
    if asked is None or not wait_for_reporter(watch, *asked):
        run.join()
        _say(f"no full report was made; for one: diagnose {run.folder}/*.log")


class _Run:
    """One run: what was asked, where things lie, and how the reporter is called."""

    def __init__(self, command: Sequence[str], request: HookRequest, asked: Asked, folder: str) -> None:
        self.command, self.request, self.asked, self.folder = command, request, asked, folder
        self.streams = open_streams(folder, asked.tail_bytes)
        self.board = Board()
        self.patterns = [*asked.logs, *log_patterns(command, _here())]
        self.started = time.time()
        self.ended: float | None = None
        self.job = 0

    def start(self) -> Watch:
        """Starts the helpers and the job. Raises OSError when the job cannot be executed."""
        caught = passable_signals()
        wakeup = catch_signals(caught)
        copiers = [start_copier(stream, self.board, caught) for stream in self.streams]
        sentinel = start_sentinel(self.board, caught, self.patterns, self.asked.hang_after_s)
        watch = Watch(
            self.board, self.streams, copiers, caught, sentinel, wakeup, self.asked.hang_after_s,
            ask_hang=self._ask_hang, ask_signal=lambda name: self.ask(name, interim=True),
        )  # fmt: skip
        try:
            watch.job = self.job = start_job(self.command, self.streams, caught)
        except OSError:
            end_sentinel(watch)
            raise
        for stream in self.streams:
            os.close(stream.write_end)
        return watch

    def ask(
        self,
        reason: str,
        exit_code: int | None = None,
        signal_number: int | None = None,
        interim: bool = False,
        stack_pids: tuple[int, ...] = (),
        webhook: bool = False,
    ) -> tuple[int, float] | None:
        """Starts a reporter; returns its pid and the `time.monotonic()` at which it is to be ended."""
        facts, asked, until = read_environment(), self.asked, time.monotonic() + self.request.budget_s
        shared = self.request.shared
        request = replace(
            self.request, reason=reason, deadline=until - GRACE_S, folder=self.folder, patterns=tuple(self.patterns),
            exit_code=exit_code, signal=signal_number, launcher=launcher_of(self.command), start=self.started,
            end=self.ended, interim=interim, stack_pids=stack_pids,
            webhook=self.request.webhook if webhook else None, shared=None if interim else shared,
            nodes=asked.nodes or facts.tasks or nodes_of_command(self.command) or facts.nodes,
            once=f"{facts.step}.{reason}" if facts.tasks and not shared else None,
        )  # fmt: skip
        try:
            return spawn_aside(module_command("hooks.reporter"), encode_request(request), quiet_environment()), until
        except OSError as error:
            _say(f"no process to report with: {error.strerror}")
            return None

    def _ask_hang(self, reason: str) -> tuple[int, float] | None:
        """Reports silence while the job goes on; only here are stacks of any use."""
        _say(f"{reason}; the job goes on, and is looked at")
        return self.ask(reason, interim=True, stack_pids=(self.job,) if self.asked.stacks else (), webhook=True)

    def join(self) -> None:
        """Turns the kept copies into plain log files."""
        for stream in self.streams:
            try:
                join(stream.kept.path)
            except OSError as error:
                _say(f"{stream.kept.path}: {error.strerror}")

    def clear(self) -> None:
        """Removes the copies, and the folder unless it was asked for or holds an interim report."""
        for stream in self.streams:
            clear(stream.kept.path)
        with contextlib.suppress(OSError):
            if not self.asked.keep:
                os.rmdir(self.folder)


def _make_folder(wanted: str | None) -> str:
    """A private folder for the copies; `tempfile` would do it too, and bring 2 MB of imports for all the time."""
    if wanted is None:
        base = next((b for b in (os.environ.get("TMPDIR"), "/tmp", "/var/tmp") if b and os.access(b, os.W_OK)), ".")
        return _private_folder(base)
    if os.environ.get("SLURM_STEP_NUM_TASKS", "1") != "1":
        wanted = os.path.join(wanted, f"task{os.environ.get('SLURM_PROCID', '')}")  # each task of srun is one of us
    os.makedirs(wanted, 0o700, exist_ok=True)
    return wanted if os.stat(wanted).st_uid == os.geteuid() else _private_folder(wanted)


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:  # removed meanwhile; the job may not need it
        return "/"


def _private_folder(base: str) -> str:
    folder = os.path.join(base, f"diagnose-run-{os.urandom(5).hex()}")
    os.mkdir(folder, 0o700)
    return folder


def _run_plainly(command: Sequence[str], error: Exception) -> int:
    """Becomes the job: what we cannot watch must still run."""
    _say(f"cannot keep a copy of the output ({getattr(error, 'strerror', None) or error}); running the job without")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except OSError as missing:
        missing.filename = command[0]
        return _say_not_run(missing)


def _say_not_run(error: OSError) -> int:
    """Says why the job could not be started; returns what a shell would."""
    _say(f"{error.filename}: {error.strerror}")
    return NOT_EXECUTABLE if isinstance(error, PermissionError) else NOT_FOUND


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _say(text: str) -> None:
    say(_WHO, text)
