"""The tools of `diagnose mcp`: an assistant's questions in, plain answers out, by the official SDK: on stdio, or as HTTP on
loopback.

Reports are redacted before they are kept, errors before they are said, and each answer is bounded.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from functools import wraps
from threading import Lock
from typing import Annotated, Any, Concatenate, ParamSpec

from pydantic import Field

from ..advice.statement import Evidence
from ..catalogue.load import load_rules
from ..catalogue.lookup import causes_of
from ..engine import diagnose
from ..errors import DiagnoseError, MissingExtra, UsageError
from ..history.difference import differences, written_report
from ..job.job import JobContext
from ..lines.rank_ranges import rank_ranges
from ..report.parts import Symptom
from ..report.phrases import one_line
from ..report.redaction import redact, without_secrets
from ..report.report import Report
from ..views.catalogue_page import cause_page
from ..views.rendering import fill, why
from .roots import Roots, excerpt

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
except ImportError as error:
    raise MissingExtra("diagnose mcp needs the official SDK; install diagnose-training[mcp]") from error

HOST = "127.0.0.1"  # never another: whoever reaches the port reads the logs
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
MAX_REPORTS = 8  # kept for later questions
MAX_RANKS = 200  # of one answer
MAX_SECONDS = 300.0  # that one call may read
MAX_TEXT = 8_000  # characters of a message to explain
Paths = Annotated[list[str] | str, Field(description="files, folders, archives or globs below the roots", min_length=1)]
Name = Annotated[str | None, Field(description="the report's name; default: the latest")]
Question = Annotated[str, Field(description="a rank such as 'rank 5', or a cause: its id, a code, a message")]
P = ParamSpec("P")
Answer = dict[str, Any]
Tool = Callable[Concatenate["Desk", P], Answer]


def tool(answer: Tool[P]) -> Tool[P]:
    """Yield the method with its answer bounded, and its errors as one line that holds no secret."""

    @wraps(answer)
    def call(desk: Desk, /, *given: P.args, **named: P.kwargs) -> Answer:
        try:
            with desk.lock:
                return bounded(answer(desk, *given, **named))
        except DiagnoseError as error:
            raise ToolError(without_secrets(one_line(str(error)), privacy=True)) from error

    return call


class Desk:
    """Answers one assistant's questions, one after the other."""

    def __init__(self, roots: Roots, rules: tuple[str, ...] = ()) -> None:
        self.lock = Lock()  # a report is made by all cores already
        self._roots, self._rules = roots, rules
        self._catalogue = load_rules(*rules)  # now: the first question then waits for its logs alone
        self._reports: OrderedDict[str, Report] = OrderedDict()  # redacted, the latest last
        self._files: dict[str, str] = {}  # how reports call a file -> where it is
        self._count = 0

    @tool
    def diagnose_logs(
        self,
        paths: Paths,
        exit_code: Annotated[int | None, Field(description="the job's exit code, if known")] = None,
        world_size: Annotated[int | None, Field(description="how many ranks the job had, if known", ge=1)] = None,
        rank: Annotated[int | None, Field(description="show only what concerns this rank", ge=0)] = None,
        seconds: Annotated[float, Field(description="stop reading after this long", gt=0)] = 60.0,
    ) -> Answer:
        """Name the root cause of a failed or hung training job from its logs, with the culprit, the proof, what to do."""
        context, budget_s = JobContext(exit_code=exit_code, world_size=world_size), max(1.0, min(seconds, MAX_SECONDS))
        inputs = self._roots.files([paths] if isinstance(paths, str) else paths)
        found = diagnose(*inputs, job=context, budget_s=budget_s, rules=self._rules, rank=rank, lang="en")
        report = redact(found, privacy=True)[0]
        self._files |= {shown.file: real.file for real, shown in zip(found.inputs, report.inputs, strict=True)}
        self._count += 1
        name = f"report-{self._count}"
        self._reports[name] = report
        if len(self._reports) > MAX_REPORTS:
            self._reports.popitem(last=False)
        return verdict(report, name)

    @tool
    def read_evidence(self, path: str, line: int, before: int = 10, after: int = 10) -> Answer:
        """Show the lines around a place that a report names (file and line), without secrets; at most 100 a side."""
        return excerpt(self._roots.file(self._files.get(path, path)), path, line, before, after)

    @tool
    def why_not(self, question: Question, report: Name = None) -> Answer:
        """Say why a cause is not the verdict, or what is known of one rank."""
        asked = f"rank {question}" if question.isdigit() else question
        return {"question": question, "answer": why(self._report(report), asked, self._catalogue)}

    @tool
    def list_ranks(
        self,
        report: Name = None,
        state: Annotated[str | None, Field(description="only this: culprit, failed, waiting, silent, alive …")] = None,
    ) -> Answer:
        """List the ranks of a report: host, state, last step, last time, first error."""
        rows = [row for row in self._report(report).ranks if state in (None, row.state)]
        return {"count": len(rows), "ranks": [row_of(row) for row in rows[:MAX_RANKS]]}

    @tool
    def explain(self, text: Annotated[str, Field(description="a cause, a code (xid-79) or a log message")]) -> Answer:
        """Explain a cause, an error code or a log message: what it means, what follows from it, what to do."""
        cause, *others = causes_of(text[:MAX_TEXT].strip(), self._catalogue)
        page = cause_page(self._catalogue, self._catalogue.causes[cause])
        return {"cause": cause, "page": page, "see_also": others}

    @tool
    def compare(self, report_a: str, report_b: str) -> Answer:
        """Compare a good run (a) with a bad one (b): a report's name, or a file that `diagnose -o report.json` wrote."""
        found = differences(*(self._compared(name) for name in (report_a, report_b)))
        return {"differences": [asdict(d) for d in found]}

    def _compared(self, name: str) -> Report:
        if name in self._reports:
            return self._reports[name]
        report = written_report(self._roots.file(name))
        if report is None:
            raise UsageError(f"{name[:200]}: neither a report made here nor one written as JSON")
        return redact(report, privacy=True)[0]

    def _report(self, name: str | None) -> Report:
        if not self._reports:
            raise UsageError("no report yet: call diagnose_logs first")
        found = self._reports.get(name or next(reversed(self._reports)))
        if found is None:
            raise UsageError(f"no report {str(name)[:40]}; there are {', '.join(self._reports)}")
        return found


def serve(roots: Roots, rules: tuple[str, ...], port: int | None) -> None:
    """Answer on stdio until it closes, or on a port of loopback until interrupted."""
    os.chdir(roots.base)  # reports then name files as the assistant does
    server = server_of(Desk(roots, rules), roots)
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host=HOST, port=port)  # the SDK checks Host and Origin for loopback


def server_of(desk: Desk, roots: Roots) -> MCPServer:
    """Yield the server with its six tools."""
    from .. import __version__

    about = fill("agent.txt.j2", base=roots.base, roots=", ".join(roots.folders)).strip()
    server: MCPServer = MCPServer("diagnose", instructions=about, version=__version__, log_level="WARNING")
    for tool in (desk.diagnose_logs, desk.read_evidence, desk.why_not, desk.explain, desk.list_ranks, desk.compare):
        server.add_tool(tool, annotations=READS)
    return server


# --- a report in, what an assistant needs of it out: plain values, bounded in size ------------------------------------

MOST_BYTES = 24_000  # of one answer, about 6,000 tokens
FIRST_CUT = (40, 2_000)  # items of a list and characters of a text, then half of both until the answer fits
EVIDENCE, CONSEQUENCES, OTHERS = 4, 6, 6  # shown of each
BLANKS: tuple[Any, ...] = (None, "", [], {}, ())


def verdict(report: Report, name: str) -> dict[str, Any]:
    """Yield the answer on a report: what failed, who, how sure, the proof, what to do; `name` is for later questions."""
    found = report.diagnosis
    states: dict[str, list[int]] = {}
    for row in report.ranks:
        states.setdefault(row.state, []).append(row.rank)
    about: dict[str, Any] = {"report": name, "outcome": report.outcome, "summary": report.summary}
    if found is not None:
        about |= row_of(found, "cause", "title", "certainty", "owner", "restart")
        about["reasons"] = [reason.text for reason in found.reasons]
        about["culprits"] = [row_of(culprit) for culprit in found.culprits]
        about["evidence"] = [_proof(evidence) for evidence in found.evidence[:EVIDENCE]]
        about["remedy"] = [row_of(step) for step in found.remedy]
    about |= {
        "consequences": [_consequence(s) for s in report.symptoms[:CONSEQUENCES]],
        "alternatives": [row_of(a, "cause", "title", "why_not") for a in report.alternatives[:OTHERS]],
        "last_lines": [row_of(line) for line in report.last_lines[:OTHERS]],
        "collect": [row_of(step) for step in report.collect],
        "ranks": {state or "unknown": rank_ranges(ranks) for state, ranks in states.items()},
        "notices": [notice.text for notice in report.notices[:OTHERS]],
        "gaps": [gap.text for gap in report.gaps[:OTHERS]],
        "inputs": {"files": len(report.inputs), "bytes": report.stats.bytes},
        "not_read": [f"{row.file}: {row.skipped}" for row in report.inputs if row.skipped][:OTHERS],
    }
    return {key: value for key, value in about.items() if value not in BLANKS}


def bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """Yield the answer within `MOST_BYTES`; long lists and texts are cut, and `cut` says that they are."""
    items, characters = FIRST_CUT
    fitted = answer
    while items and len(json.dumps(fitted, ensure_ascii=False).encode("utf-8", "replace")) > MOST_BYTES:
        fitted = {**_cut(answer, items, characters), "cut": "lists and texts are shortened; ask for less"}
        items, characters = items // 2, characters // 2
    return fitted


def _cut(value: Any, items: int, characters: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else value[:characters] + "…"
    if isinstance(value, dict):
        return {key: _cut(part, items, characters) for key, part in value.items()}
    if isinstance(value, list):
        return [_cut(part, items, characters) for part in value[:items]]
    return value


def row_of(value: Any, *names: str) -> dict[str, Any]:
    """Yield these fields of a record (none named: all) that say anything."""
    row = {name: getattr(value, name) for name in names} if names else asdict(value)
    return {name: part for name, part in row.items() if part not in BLANKS}


def _proof(evidence: Evidence) -> dict[str, Any]:
    row = row_of(evidence, "file", "line", "rank", "host", "time", "text", "rule")
    codes = [f"{code.file}:{code.line} in {code.function}" for code in evidence.own_code[:1]]
    return {**row, "your_code": codes[0]} if codes else row


def _consequence(found: Symptom) -> dict[str, Any]:
    ranks = {"ranks": rank_ranges(found.ranks)} if found.ranks else {}
    place = {"place": f"{found.first.file}:{found.first.line}"} if found.first else {}
    return {**row_of(found, "title", "cause"), **ranks, **row_of(found, "count", "explained_by"), **place}
