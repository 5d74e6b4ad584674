"""What a hook says on stderr, and the stub that stands where no full report could be made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..catalogue.sentences import shell_word
from ..report.printable import clip, one_line
from ..report.written_files import write_whole
from ..views import markdown_text
from ..views.junit_text import junit_without_verdict
from .request import HookRequest

_LINE = 200


def summary_lines(report: Mapping[str, Any]) -> list[str]:
    """The verdict, the line that proves it, and the first thing to do; from a report as JSON."""
    found = report.get("diagnosis")
    if not found:
        return [f"outcome: {report.get('outcome', 'unknown')}; no cause was found in what could be read"]
    head = found.get("summary") or found.get("title") or found.get("cause")
    lines = [f"{found.get('cause')}: {_short(head)} ({found.get('certainty')})"]
    for evidence in (found.get("evidence") or [])[:1]:
        place = f"{evidence.get('file')}:{evidence.get('line')}" if evidence.get("line") else evidence.get("file")
        lines.append(f"  proof  {place}: {_short(evidence.get('text'))}")
    for step in (found.get("remedy") or [])[:1]:
        lines.append(f"  do     {_short(step.get('text'))}")
        if step.get("command"):
            lines.append(f"         {_short(step['command'])}")
    return lines


def stub_text(request: HookRequest, inputs: Sequence[str], why: str) -> str:
    """A page that says what is known without any reading, and how to get the rest."""
    lines = [f"# No diagnosis yet: {markdown_text.text(one_line(request.reason))}", "", markdown_text.text(why), ""]
    if inputs:
        words = " ".join(map(shell_word, inputs))
        lines += ["To read the logs now:", "", "```sh", f"diagnose {words}", "```", ""]
    return "\n".join(lines)


def stub_json(request: HookRequest, why: str) -> str:
    """The stub in the report's own JSON form."""
    how = "run `diagnose` on the logs by hand"
    report = {
        "schema_version": "1",
        "outcome": "failed" if request.exit_code or request.signal else "unfinished",
        "diagnosis": {"cause": "unknown", "title": one_line(request.reason), "summary": why, "certainty": "possible"},
        "gaps": [{"text": why, "how": how, "command": None}],
    }
    return json.dumps(report, indent=2) + "\n"


def write_stub(request: HookRequest, targets: Sequence[Path], inputs: Sequence[str], why: str) -> None:
    """Writes the stub where the report will be, each in the form that its name asks for."""
    for target in targets:
        text = stub_json(request, why) if target.suffix == ".json" else stub_text(request, inputs, why)
        if target.suffix in (".html", ".htm"):
            text = f"<!doctype html><meta charset=utf-8><title>No diagnosis yet</title><pre>{escape(text)}</pre>\n"
        if target.suffix == ".xml":
            text = junit_without_verdict(request.reason, why)
        write_output(target, text, request.shared)


def write_output(path: Path, text: str, shared: str | None) -> None:
    """Writes one report, whole or not at all; those in the shared folder for its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, private=shared is not None and path.parent == Path(shared))


def _short(text: object) -> str:
    return clip(one_line(str(text or "")), _LINE)
