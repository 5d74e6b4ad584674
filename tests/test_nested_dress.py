"""Two dresses at once, as a cluster puts on what a program prints: the verdict stays, whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.damage.dresses import clock
from benchmarks.damage.files import Case, encoded
from diagnose import diagnose

FIXTURES = Path(__file__).parent.parent / "fixtures"
NAMES = ("real-exception-behind-an-end", "illegal-access", "incidents-5-twin-sigkill", "ecc-under-watchdog")
Said = tuple[str, str | None, tuple[int | None, ...], str | None]


def recorded(number: int, line: str) -> str:
    return json.dumps({"timestamp": clock(number), "level": "info", "message": line})


def by_docker(number: int, line: str) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stderr", "time": clock(number)})


DRESSES = {
    "JSON in a pod": lambda n, line: f"[pod/llm-worker-0/main] {recorded(n, line)}",
    "JSON in Docker's": lambda n, line: by_docker(n, recorded(n, line)),
    "JSON behind compose's name": lambda n, line: f"trainer-1  | {recorded(n, line)}",
    "colours in Docker's": lambda n, line: by_docker(n, f"\x1b[36m{line}\x1b[0m"),
    "compose's name on Windows": lambda n, line: f"trainer-1  | {line}\r",
    "loguru in a container's log": lambda n, line: (
        f"{clock(n)} stderr F {clock(n)[:10]} {clock(n)[11:23]} | INFO     | launcher:pump:12 - {line}"
    ),
    "torchrun's label in the journal": lambda n, line: (
        f"Nov 20 {clock(n)[11:19]} gpu-07 train.sh[4711]: " + re.sub(r"^\[rank(\d+)\]:", r"[default\1]:[rank\1]:", line)
    ),
}


def said(folder: Path, files: dict[str, bytes]) -> Said:
    for name, raw in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
    report = diagnose(folder)
    found = report.diagnosis
    if found is None:
        return report.outcome, None, (), None
    return report.outcome, found.cause, tuple(c.rank for c in found.culprits), found.certainty


@pytest.mark.parametrize("name", NAMES)
def test_two_dresses_change_nothing_of_a_verdict(name: str, tmp_path: Path) -> None:
    """Outcome, cause, culprits and certainty: each dress hides the one below it until it is taken off."""
    case = Case.read(FIXTURES / name)
    bare = said(tmp_path / "bare", case.files)
    for what, dress in DRESSES.items():
        lines = {log: text.removesuffix("\n").split("\n") for log, text in case.logs.items()}
        logs = {log: encoded("\n".join(dress(n, x) for n, x in enumerate(own)) + "\n") for log, own in lines.items()}
        assert said(tmp_path / what, case.files | logs) == bare, what
