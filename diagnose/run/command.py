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
from typing import Any

from ..hooks.config import say
from ..hooks.kept import clear, join
from ..hooks.request import GRACE_S, HookRequest, encode_request, start_reporter
from .streams import JobStream, open_streams
from .watch import Watch, end_like

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # what shells say
_WHO = "diagnose run"


def run_job(command: Sequence[str], request: HookRequest, stacks: bool, keep: str | None, tail_bytes: int) -> int:
    """Run the job; yield its exit code, or die by the job's signal. A failure is reported as `request` says, silence with
    `stacks`. `keep` names the folder for the copy of the output, of which the last `tail_bytes` are kept."""
    try:
        folder = _make_folder(keep)
        run = _Run(request, open_streams(folder, tail_bytes), folder, is_kept=keep is not None, stacks=stacks)
    except Exception as error:
        return _run_plainly(command, error)
    try:
        run.begin(command, request.patterns)
    except Exception as error:
        if run.job:
            raise  # it runs: never twice
        run.clear()
        if isinstance(error, OSError) and error.filename is not None:
            return _say_not_run(error)
        return _run_plainly(command, error)  # no process to be had for the helpers
    try:
        status = run.wait_for_job()
    except Exception as error:  # with or without what goes on around the job
        say(_WHO, f"only waiting for the job from here on: {type(error).__name__}: {error}")
        status = os.waitpid(run.job, 0)[1] if run.status is None else run.status
    run.ended = time.time()
    try:
        run.drain()
        run.finish(status)
        run.end_sentinel()
    except Exception as error:  # the job's status is what counts now
        say(_WHO, f"no report: {type(error).__name__}: {error}")
    return end_like(status)


class _Run(Watch):
    """One run: what was asked, where things lie, and how the reporter is called."""

    def __init__(self, request: HookRequest, streams: list[JobStream], folder: str, *, is_kept: bool, stacks: bool) -> None:
        super().__init__(streams, request.config.hang_after_s)
        self.request = replace(request, folder=folder, start=time.time())
        self.folder, self.is_kept, self.stacks = folder, is_kept, stacks
        self.ended: float | None = None

    def finish(self, status: int) -> None:
        """Asks for the final report when the job failed; else leaves nothing behind."""
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        if status == 0 or (self.outward_gone and number == signal.SIGPIPE):  # `… | head`
            if self.is_kept:
                self.join()
            self.clear()
            return
        code = None if number is not None else os.WEXITSTATUS(status)
        name = next((s.name for s in signal.Signals if s == number), f"signal {number}")
        reason = f"exit code {code}" if number is None else f"ended by {name}"
        say(_WHO, f"{reason}; looking for the cause (at most {self.request.config.budget_s:g} s, Ctrl-C skips it)")
        self.end_reporters()  # an interim report is overtaken, and must not be written over the final one
        pid = self._ask(reason, exit_code=code, signal=number)
        if pid is None or not self.wait_for_reporter(pid):
            self.join()
            say(_WHO, f"no full report was made; for one: diagnose {self.folder}/*.log")

    def ask(self, reason: str, *, is_silent: bool) -> None:
        """Reports silence, with stacks, which are of use only here; or before the job ends, and again when it has."""
        config = replace(self.request.config, shared=None)
        if is_silent:
            say(_WHO, f"{reason}; the job goes on, and is looked at")
            self._ask(reason, interim=True, config=config, stack_pids=(self.job,) if self.stacks else ())
        else:
            self._ask(reason, interim=True, config=replace(config, webhook=None))

    def _ask(self, reason: str, **about: Any) -> int | None:
        """Starts a reporter, and notes when it is to be ended; returns its pid."""
        until = time.monotonic() + self.request.config.budget_s
        request = replace(self.request, reason=reason, deadline=until - GRACE_S, end=self.ended, **about)
        if request.once:  # of the tasks on one node; those that leave scans are several
            request = replace(request, once=None if request.config.shared else f"{request.once}.{reason}")
        try:
            reporter = start_reporter()
        except OSError as error:
            say(_WHO, f"no process to report with: {error.strerror}")
            return None
        reporter.returncode = 0  # whoever waits for all processes waits for this one
        with contextlib.suppress(OSError):
            reporter.communicate(encode_request(request))  # far smaller than a pipe holds, so this cannot wait
        self.reporters[reporter.pid] = until
        return reporter.pid

    def join(self) -> None:
        """Turns the kept copies into plain log files."""
        for stream in self.streams:
            try:
                join(stream.kept.path)
            except OSError as error:
                say(_WHO, f"{stream.kept.path}: {error.strerror}")

    def clear(self) -> None:
        """Removes the copies, and the folder unless it was asked for or holds an interim report."""
        for stream in self.streams:
            clear(stream.kept.path)
        with contextlib.suppress(OSError):
            if not self.is_kept:
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


def _private_folder(base: str) -> str:
    folder = os.path.join(base, f"diagnose-run-{os.urandom(5).hex()}")
    os.mkdir(folder, 0o700)
    return folder


def _run_plainly(command: Sequence[str], error: Exception) -> int:
    """Becomes the job: what we cannot watch must still run."""
    why = getattr(error, "strerror", None) or error
    say(_WHO, f"cannot keep a copy of the output ({why}); running the job without")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except OSError as missing:
        missing.filename = command[0]
        return _say_not_run(missing)


def _say_not_run(error: OSError) -> int:
    """Says why the job could not be started; returns what a shell would."""
    say(_WHO, f"{error.filename}: {error.strerror}")
    return NOT_EXECUTABLE if isinstance(error, PermissionError) else NOT_FOUND
