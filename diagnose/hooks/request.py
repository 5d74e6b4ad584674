"""What whoever saw a failure asks of the reporter: one small JSON object, handed over on standard input.

The one who asks (`diagnose run`, `diagnose hook`, code inside the job) touches no log, rule or network itself: all
that may stall happens in another process, which can be left behind.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from ..lines.record import record
from .config import DEFAULT_BUDGET_S

_NOT_INHERITED = ("LD_PRELOAD", "PYTHONDEVMODE", "PYTHONFAULTHANDLER", "PYTHONINSPECT", "PYTHONSTARTUP")


@record
class KeptCopy:
    """A stream that `diagnose run` kept: the ring file, how many bytes went through, whether it still grows."""

    name: str
    path: str
    total_bytes: int
    head_bytes: int
    tail_bytes: int
    live: bool


@record
class HookRequest:
    """Everything the reporter needs; paths are absolute."""

    reason: str  # exit code 1; signal SIGKILL; no output for 600 s; ValueError: …
    deadline: float  # time.monotonic() seconds at which the asker stops waiting
    budget_s: float = DEFAULT_BUDGET_S
    folder: str | None = None  # the reporter's own place; None: it makes one
    inputs: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()  # globs; only what changed since `start` counts
    kept: tuple[KeptCopy, ...] = ()
    texts: dict[str, str] = field(default_factory=dict)  # file name -> text that is nowhere on disk yet
    outputs: tuple[str, ...] = ()
    stack_pids: tuple[int, ...] = ()
    webhook: str | None = None
    shared: str | None = None
    scan: bool = False  # of the worker is wanted the scan for all nodes, not the report
    nodes: int | None = None  # how many nodes the job has; None where unknown
    node: str = ""
    label: str | None = None  # names the job (and attempt) among others in a shared folder
    rules: tuple[str, ...] = ()
    tz: str | None = None
    rank_from: str | None = None
    redact: bool = True
    lang: str | None = None
    templates: str | None = None
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


def encode_request(request: HookRequest) -> bytes:
    """Returns the request as JSON."""
    return json.dumps(asdict(request)).encode()


def decode_request(data: bytes) -> HookRequest:
    """Reads a request back."""
    raw: dict[str, Any] = json.loads(data)
    raw["kept"] = tuple(KeptCopy(**kept) for kept in raw["kept"])
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in raw.items()}
    return HookRequest(**plain)


def module_command(module: str) -> list[str]:
    """The command that runs one of our modules: this very installation, whatever lies in the working directory.

    `python -m diagnose…` would prefer a `diagnose.py` beside the training script.
    """
    root = str(Path(__file__).resolve().parents[2])
    code = (
        "import sys, runpy; sys.path[:] = [p for p in sys.path if p] + [sys.argv.pop(1)]; "
        f"runpy.run_module('diagnose.{module}', run_name='__main__')"
    )
    return [_interpreter(), "-c", code, root]


def _interpreter() -> str:
    """Python itself: in a frozen or embedding program `sys.executable` is that program, or nothing."""
    is_python = os.path.basename(sys.executable or "").startswith("python") and not getattr(sys, "frozen", False)
    return sys.executable if is_python else "python3"


def quiet_environment() -> dict[str, str]:
    """The environment without what would make a helper act as a part of the job."""
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    return {**kept, "CUDA_VISIBLE_DEVICES": "", "PYTHONWARNINGS": "ignore"}
