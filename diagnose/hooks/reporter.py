"""The reporter: a process between who asked and who reads. It holds the deadline, leaves a stub, and says where.

In: a `HookRequest` on stdin. Out: report files, lines on stderr, a post to a web hook. It never waits past the
request's deadline for anything that it can leave; where reading stalls, whoever asked ends it, and the stub is there.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..advice.statement import RemedyStep
from ..catalogue.sentences import shell_word
from ..errors import UsageError
from ..report.parts import Diagnosis, Gap
from ..report.phrases import clip, one_line
from ..report.redaction import without_secrets
from ..report.report import Report
from ..report.written_files import claim_file, make_private_folder, write_whole
from ..views.escapes import slack_escape
from ..views.rendering import SUFFIXES, fill, junit_without_verdict, render, shown
from .config import say, template_for
from .gather import SCAN_SUFFIX, SharedFolder, gather_inputs, plain_name
from .request import HookRequest, decode_request
from .webhook import WEBHOOK_S, post

_RENDER_S = 1.5  # what is left for deciding and writing when reading has used its share
_SCAN_SHARE = 0.5  # of the time, when a scan for all nodes comes before the report
_LIKELY = 0.8  # the most that may be believed of a report from one node of many
_SLACK = ".slack"


def report(request: HookRequest) -> None:
    """Serves one request."""
    if request.once is not None and not _is_first(request.once):
        return
    if request.interim:
        os.nice(10)
    folder = Path(request.folder or tempfile.mkdtemp(prefix="diagnose-hook-"))
    request = replace(request, folder=str(folder), reason=_public(request.reason))
    inputs, gaps = gather_inputs(request, folder)
    for gap in gaps:
        say(request.who, gap)
    request = replace(request, inputs=tuple(inputs))
    outputs = [Path(path) for path in request.config.output]
    if not inputs:
        _begin(request, outputs, "The job left nothing to read.")
        say(request.who, f"{request.reason}; there is nothing to read")
    elif request.config.shared:
        _report_for_all(request, folder, outputs)
    else:
        _report(request, folder, outputs)


def _report(request: HookRequest, folder: Path, outputs: Sequence[Path]) -> None:
    targets = [folder / "report.json", folder / "report.md", *outputs]
    targets = _begin(request, targets, "The analysis had not ended when this was written.")
    webhook_s = min(WEBHOOK_S, request.seconds_left() / 4) if request.config.webhook else 0.0
    try:
        made = _diagnosed(request, max(1.0, request.seconds_left() - webhook_s - _RENDER_S))
        for target in targets:
            _write(target, _rendered(made, request, target.suffix), request.config.shared)
        message = _rendered(made, request, _SLACK) if request.config.webhook else ""
        summary = summary_lines(shown(made, "json", redact=request.redact)[0])
    except Exception as error:  # whatever it is, it has to be said in one line
        trouble = clip(_public(f"{type(error).__name__}: {error}"), 300)
        _begin(request, targets, f"The analysis was not completed: {trouble}.")
        message, summary = slack_escape(f"{request.reason}: {trouble}"), [f"no diagnosis: {trouble}"]
    written = [str(target) for target in targets if target in outputs]
    for line in (*summary, f"report: {' '.join(written or [str(folder / 'report.md')])}"):
        say(request.who, line)
    if request.config.webhook:
        problem = post(request.config.webhook, message, max(0.5, min(WEBHOOK_S, request.seconds_left())))
        say(request.who, problem or "report posted to the web hook")


def _begin(request: HookRequest, outputs: Sequence[Path], why: str) -> list[Path]:
    """Writes the stub to each output; yields those that can be written: a wrong one must not cost the verdict."""
    found = []
    for output in outputs:
        try:
            _write_stub(request, output, why)
        except OSError as error:
            say(request.who, f"{one_line(str(output))} cannot be written: {error.strerror or error}")
        else:
            found.append(output)
    return found


def _report_for_all(request: HookRequest, folder: Path, outputs: Sequence[Path]) -> None:
    """Leaves this node's scan in the shared folder; the first node there waits for the others and reports."""
    place = SharedFolder(Path(str(request.config.shared)), plain_name(request.label or "job"))
    scan = place.scan_of(request.node)
    try:
        place.make()
        write_scan(request, scan, request.seconds_left() * _SCAN_SHARE)
    except Exception as error:
        trouble = f"{place.scans}: {getattr(error, 'strerror', None) or error}"
        say(request.who, f"{scan} was not written ({trouble}); reporting on this node alone")
        several = request.nodes or 2  # who asks for a shared folder has more than this one
        _report(replace(request, nodes=several), folder, outputs)
        return
    if not place.claim(request.node):
        say(request.who, f"left {scan}; {one_line(place.owner())} reports for all: {place.report}")
        return
    scans = place.wait_for_nodes(request.nodes, time.monotonic() + request.seconds_left() * _SCAN_SHARE)
    names = tuple(path.name.removesuffix(SCAN_SUFFIX) for path in scans)
    say(request.who, f"{len(scans)} of {request.nodes or 'an unknown number of'} nodes left a scan in {place.scans}")
    whole = replace(request, inputs=tuple(str(path) for path in scans), hosts=names, nodes=request.nodes or len(scans))
    _report(whole, folder, [place.report, place.report.with_suffix(".json"), *outputs])


# --- reading and deciding -------------------------------------------------------------------------------------------


def _diagnosed(request: HookRequest, budget_s: float) -> Report:
    """Yields the report on the inputs, which is at most `likely` when it knows fewer nodes than the job has."""
    from ..engine import diagnose
    from ..job.job import JobContext

    context = JobContext(
        exit_code=request.exit_code, signal=request.signal, world_size=request.world_size, hosts=request.hosts,
        launcher=request.launcher, start=request.start, end=request.end,
    )  # fmt: skip
    made = diagnose(
        *request.inputs, job=context, budget_s=budget_s, rules=request.config.rules, tz=request.config.tz,
        rank_from=request.config.rank_from, lang=request.config.lang,
    )  # fmt: skip
    if request.config.remember and not request.interim:
        from ..history.store import remembered

        with suppress(UsageError):  # a history that cannot be used costs nothing else
            made = remembered(made, [request.label] if request.label else request.inputs, request.config.rules)
    seen = len(request.hosts) or 1
    if request.nodes is None or seen >= request.nodes:
        return made
    gap = Gap(
        text=f"{seen} of {request.nodes} nodes' (or tasks') logs were read; the first failure may be in another",
        how="collect the scans of all nodes in one shared folder: diagnose hook --shared DIR on each",
    )
    found = made.diagnosis
    if found is not None and found.certainty == "certain":
        found = replace(found, certainty="likely", confidence=min(found.confidence, _LIKELY))
    return replace(made, diagnosis=found, gaps=(gap, *made.gaps))


def _rendered(made: Report, request: HookRequest, suffix: str) -> str:
    """Yields the report in the form that a file of this suffix has."""
    form = "slack" if suffix == _SLACK else SUFFIXES.get(suffix.lower(), "markdown")
    template = template_for(request.config.templates, suffix) if form != "json" else None
    return render(made, form, width=100, template=template, redact=request.redact)


def summary_lines(made: Report) -> list[str]:
    """The verdict, the line that proves it, and the first thing to do."""
    return fill("hook.txt.j2", made=made, found=made.diagnosis).splitlines()


def write_scan(request: HookRequest, path: Path, budget_s: float) -> None:
    """Reads the inputs into one scan file, every source under the node's name: each node has `/var/log/rank0.log`."""
    import gzip

    from ..catalogue.load import load_rules
    from ..engine import read
    from ..scan.scan import scan_to_json

    found = read(request.inputs, load_rules(*request.config.rules), budget_s=max(1.0, budget_s - _RENDER_S))
    named = [replace(source, name=f"{request.node}/{source.name.lstrip('/')}") for source in found.sources.values()]
    found.sources = {source.name: source for source in named}
    text = scan_to_json(found, without_secrets) if request.redact else scan_to_json(found)
    write_whole(path, gzip.compress(text.encode("utf-8", "replace"), mtime=0), private=True)


# --- what stands where no full report could be made ----------------------------------------------------------------


def _write_stub(request: HookRequest, path: Path, why: str) -> None:
    """Writes where the report will be what is known without any reading, and how to have the rest."""
    if path.suffix == ".xml":  # nobody must see a test pass
        text = junit_without_verdict(request.reason, why)
    else:
        said = f"No diagnosis yet: {request.reason}"
        command = f"diagnose {' '.join(map(shell_word, request.inputs))}"
        by_hand = RemedyStep(when="fix", text="Read the logs now", command=command)
        made = Report(
            outcome="failed" if request.exit_code or request.signal else "unfinished",
            summary=said,
            diagnosis=Diagnosis(title=said, summary=said, remedy=(by_hand,) if request.inputs else ()),
            gaps=(Gap(text=why, how="run `diagnose` on the logs by hand"),),
        )
        text = _rendered(made, request, path.suffix)
    _write(path, text, request.config.shared)


def _write(path: Path, text: str, shared: str | None) -> None:
    """Writes one report, whole or not at all; those in the shared folder for its owner only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, private=shared is not None and path.parent == Path(shared))


def _public(text: str) -> str:
    """The reason may quote an exception; it goes into stubs and to the web hook."""
    return without_secrets(one_line(text), privacy=True)


def _is_first(key: str) -> bool:
    """Whether nobody on this machine asked with this key before: eight ranks that fail together get one report."""
    folder = Path(tempfile.gettempdir()) / f"diagnose-{os.getuid()}"
    try:
        make_private_folder(folder)
        return claim_file(folder / f"once-{plain_name(key)}")
    except OSError:
        return True  # better eight reports than none because somebody took our name


def main() -> int:
    """Serves the request on stdin; nothing that goes wrong here is anybody else's failure."""
    request = decode_request(sys.stdin.buffer.read())
    try:
        report(request)
    except Exception as error:  # a hook never fails
        say(request.who, f"no report: {type(error).__name__}: {clip(one_line(str(error)), 300)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
