"""The process that reads and decides: a request with its inputs on stdin, report files out; ended when time is up.

What stands where no full report could be made, and what is said of one on stderr, is written here too.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..catalogue.sentences import shell_word
from ..report.printable import clip, one_line
from ..report.written_files import write_whole
from ..views import escapes
from ..views.escapes import junit_without_verdict
from .request import HookRequest, decode_request

if TYPE_CHECKING:
    from ..report.report import Report
    from ..scan.scan import Scan

_RENDER_S = 1.5  # what is left for deciding and writing when reading has used its share
_LINE = 200  # characters of a line on stderr
_LIKELY = 0.8  # the most that may be believed of a report from one node of many


def write_reports(request: HookRequest) -> None:
    """Diagnoses the request's inputs and writes every output, each whole or not at all."""
    from ..engine import diagnose
    from ..job.job import JobContext

    context = JobContext(
        exit_code=request.exit_code, signal=request.signal, world_size=request.world_size, hosts=request.hosts,
        launcher=request.launcher, start=request.start, end=request.end,
    )  # fmt: skip
    report = diagnose(
        *request.inputs, job=context, budget_s=max(1.0, request.seconds_left() - _RENDER_S), rules=request.rules,
        tz=request.tz, rank_from=request.rank_from, lang=request.lang,
    )  # fmt: skip
    report = bound_by_nodes(report, len(request.hosts) or 1, request.nodes)
    for output in request.outputs:
        write_output(Path(output), rendered(report, request, Path(output)), request.shared)


def rendered(report: Report, request: HookRequest, output: Path) -> str:
    """Returns the report in the form that the output's name asks for."""
    from ..views.rendering import SUFFIXES, render
    from .config import template_for

    form = "slack" if output.suffix == ".slack" else SUFFIXES.get(output.suffix.lower(), "markdown")
    template = template_for(request.templates, output.suffix) if form != "json" else None
    return render(report, form, width=100, template=template, redact=request.redact)


def bound_by_nodes(report: Report, seen: int, nodes: int | None) -> Report:
    """Returns the report, at most `likely` when it knows fewer nodes than the job has, and saying so."""
    from ..report.report import Gap

    if nodes is None or seen >= nodes:
        return report
    gap = Gap(
        text=f"{seen} of {nodes} nodes' (or tasks') logs were read; the first failure may be in another",
        how="collect the scans of all nodes in one shared folder: diagnose hook --shared DIR on each",
    )
    found = report.diagnosis
    if found is not None and found.certainty == "certain":
        found = replace(found, certainty="likely", confidence=min(found.confidence, _LIKELY))
    return replace(report, diagnosis=found, gaps=(gap, *report.gaps))


def write_scan(request: HookRequest) -> None:
    """Reads the request's inputs into one scan file, every source under the node's name."""
    import gzip

    from ..catalogue.load import load_rules
    from ..report.redaction import redact_plain
    from ..scan.reading import Deadline, read_all
    from ..scan.scan import scan_to_json
    from ..scan.scanner import ScanRules

    deadline = Deadline.after(max(1.0, request.seconds_left() - _RENDER_S))
    found = read_all(request.inputs, ScanRules(load_rules(*request.rules)), deadline)
    _name_after(found, request.node)
    text = scan_to_json(found, redact_plain) if request.redact else scan_to_json(found)
    write_whole(Path(request.outputs[0]), gzip.compress(text.encode("utf-8", "replace"), mtime=0), private=True)


def _name_after(scan: Scan, node: str) -> None:
    """`/var/log/train/rank0.log` of every node would be one file to the reader; `node7/var/log/…` is not."""
    scan.sources = {
        name: replace(source, name=name)
        for name, source in ((f"{node}/{s.name.lstrip('/')}", s) for s in scan.sources.values())
    }


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
    lines = [f"# No diagnosis yet: {escapes.text(one_line(request.reason))}", "", escapes.text(why), ""]
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
    """Write the stub where the report will be, each in the form that its name asks for."""
    for target in targets:
        text = stub_json(request, why) if target.suffix == ".json" else stub_text(request, inputs, why)
        if target.suffix in (".html", ".htm"):
            text = f"<!doctype html><meta charset=utf-8><title>No diagnosis yet</title><pre>{escape(text)}</pre>\n"
        if target.suffix == ".xml":
            text = junit_without_verdict(request.reason, why)
        write_output(target, text, request.shared)


def write_output(path: Path, text: str, shared: str | None) -> None:
    """Write one report, whole or not at all; those in the shared folder for its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, private=shared is not None and path.parent == Path(shared))


def _short(text: object) -> str:
    return clip(one_line(str(text or "")), _LINE)


def main() -> int:
    """Serves one request; what goes wrong is one line on stderr, for the reporter to pass on."""
    request = decode_request(sys.stdin.buffer.read())
    try:
        (write_scan if request.scan else write_reports)(request)
    except Exception as error:  # whatever it is, the reporter has to say it in one line
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
