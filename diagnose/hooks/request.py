"""What whoever saw a failure asks of the reporter: one small JSON object, handed over on standard input.

The one who asks (`diagnose run`, `diagnose hook`, code inside the job) touches no log, rule or network itself: all
that may stall happens in another process, which can be left behind. What goes wrong here is a line on stderr.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any

from ..lines.record import record
from .config import Config, config_or_defaults, say
from .environment import JobFacts

GRACE_S = 1.0  # between the reporter's own deadline and its end from outside
_NOT_INHERITED = ("LD_PRELOAD", "PYTHONDEVMODE", "PYTHONFAULTHANDLER", "PYTHONINSPECT", "PYTHONSTARTUP")


@record
class HookRequest:
    """Everything the reporter needs; paths are absolute."""

    reason: str  # exit code 1; signal SIGKILL; no output for 600 s; ValueError: …
    deadline: float  # time.monotonic() seconds, a little before the asker stops waiting
    config: Config = Config()  # how to read, and where to write; what was asked for goes before what a file says
    folder: str | None = None  # the reporter's own place, where copies of output may lie; None: it makes one
    inputs: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()  # globs; only what changed since `start` counts
    texts: dict[str, str] = field(default_factory=dict)  # file name -> text that is nowhere on disk yet
    stack_pids: tuple[int, ...] = ()
    nodes: int | None = None  # how many nodes the job has; None where unknown
    node: str = ""
    label: str | None = None  # names the job (and attempt) among others in a shared folder
    exit_code: int | None = None
    signal: int | None = None
    world_size: int | None = None
    hosts: tuple[str, ...] = ()
    launcher: str | None = None
    start: float | None = None  # unix seconds
    end: float | None = None
    once: str | None = None  # only the first asker with this key on this machine is served
    interim: bool = False  # the job still runs, and comes first
    who: str = "diagnose"  # how lines on stderr begin

    def seconds_left(self) -> float:
        """How long the asker still waits."""
        return self.deadline - time.monotonic()

    @property
    def redact(self) -> bool:
        """Whether secrets are taken out."""
        return self.config.redact is not False


def prepare_request(who: str, facts: JobFacts, **asked: Any) -> HookRequest:
    """Yield what all askers have in common; what was `asked`, by the names of `Config`, goes before the configuration."""
    config = config_or_defaults(who)
    config = replace(config, webhook=os.environ.get("DIAGNOSE_WEBHOOK") or config.webhook)
    config = replace(config, **{name: value for name, value in asked.items() if value not in (None, (), [])})
    config = replace(
        config, output=tuple(map(absolute, config.output)), rules=tuple(map(absolute, config.rules)),
        shared=absolute(config.shared) if config.shared else None,
    )  # fmt: skip
    return HookRequest(
        who=who, reason="asked for", config=config, deadline=time.monotonic() + max(0.5, config.budget_s - GRACE_S),
        node=facts.part, nodes=facts.tasks or (facts.all_nodes if config.shared else facts.nodes), label=facts.label,
        world_size=facts.world_size,
    )  # fmt: skip


def absolute(path: str) -> str:
    """Yield the path from the root; as it is where the working folder was removed: a job must not fail for that."""
    try:
        return os.path.abspath(path)
    except OSError:
        return path


def start_reporter() -> subprocess.Popen[bytes]:
    """Start what reads a request on its standard input, in a session of its own: a launcher that ends this process group
    does not end the report. It is this very installation, whatever lies in the working folder (`python -m diagnose…` would
    prefer a `diagnose.py` beside the training script), and is told nothing that would make it act as a part of the job."""
    code = (
        "import sys, runpy; sys.path[:] = [p for p in sys.path if p] + [sys.argv.pop(1)]; "
        "runpy.run_module('diagnose.hooks.reporter', run_name='__main__')"
    )
    # In a frozen or embedding program `sys.executable` is that program, or nothing.
    is_python = os.path.basename(sys.executable or "").startswith("python") and not getattr(sys, "frozen", False)
    command = [sys.executable if is_python else "python3", "-c", code, str(Path(__file__).resolve().parents[2])]
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    return subprocess.Popen(
        command, env={**kept, "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore"}, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, start_new_session=True, cwd="/",
    )  # fmt: skip


def ask(request: HookRequest) -> None:
    """Have the request served within its budget; a reporter that hangs is ended, or left behind."""
    reporter = start_reporter()
    try:
        reporter.communicate(encode_request(request), timeout=max(0.1, request.seconds_left() + GRACE_S))
    except subprocess.TimeoutExpired:
        _end(reporter)
        where = " ".join(request.config.output) or request.folder or "TMPDIR"
        say(request.who, f"no report within {request.config.budget_s:g} s; what is there lies in {where}")
    except BaseException:
        _end(reporter)
        raise


def _end(reporter: subprocess.Popen[bytes]) -> None:
    """End it with all that it started; one that hangs in the kernel is not waited for, nor complained about."""
    with suppress(OSError):
        os.killpg(reporter.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        reporter.wait(0.2)
    reporter.returncode = reporter.returncode if reporter.returncode is not None else -signal.SIGKILL


def encode_request(request: HookRequest) -> bytes:
    """Returns the request as JSON."""
    return json.dumps(asdict(request)).encode()


def decode_request(data: bytes) -> HookRequest:
    """Reads a request back."""

    def with_tuples(row: dict[str, Any]) -> dict[str, Any]:
        return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}

    raw: dict[str, Any] = json.loads(data, object_hook=with_tuples)
    return HookRequest(**{**raw, "config": Config(**raw["config"])})
