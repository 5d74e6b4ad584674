"""The process that reads and decides: a request with its inputs on stdin, report files out; ended when time is up."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.written_files import write_whole
from .request import HookRequest, decode_request
from .summary import write_output

if TYPE_CHECKING:
    from ..report.report import Report
    from ..scan.scan import Scan

_RENDER_S = 1.5  # what is left for deciding and writing when reading has used its share
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
