"""Asks the reporter and waits no longer than the budget; what goes wrong here is a line on stderr, never an error."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from .request import HookRequest, encode_request, module_command, quiet_environment

GRACE_S = 1.0  # between the reporter's own deadline and its end from outside


def deadline_after(budget_s: float) -> float:
    """The moment that goes into the request: a little before the asker stops waiting."""
    return time.monotonic() + max(0.5, budget_s - GRACE_S)


def ask(request: HookRequest) -> None:
    """Has the request served within its budget; a reporter that hangs is ended, or left behind.

    It runs in a session of its own: a launcher that ends this process group does not end the report.
    """
    reporter = subprocess.Popen(
        module_command("hooks.reporter"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=quiet_environment(),
        start_new_session=True, cwd="/",
    )  # fmt: skip
    try:
        reporter.communicate(encode_request(request), timeout=max(0.1, request.seconds_left() + GRACE_S))
    except subprocess.TimeoutExpired:
        _end(reporter)
        say(request.who, f"no report within {request.budget_s:g} s; what is there lies in {request.folder or 'TMPDIR'}")
    except BaseException:
        _end(reporter)
        raise


def say(who: str, text: str) -> None:
    """Writes one line to the real stderr, whatever `sys.stderr` was replaced by."""
    with contextlib.suppress(OSError):
        os.write(2, f"{who}: {text}\n".encode("utf-8", "replace"))


def _end(reporter: subprocess.Popen[bytes]) -> None:
    """Ends it with all that it started; one that hangs in the kernel is not waited for, nor complained about."""
    with contextlib.suppress(OSError):
        os.killpg(reporter.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        reporter.wait(0.2)
    reporter.returncode = reporter.returncode if reporter.returncode is not None else -signal.SIGKILL
