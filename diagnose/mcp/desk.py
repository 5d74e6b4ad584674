"""What each tool does: the reports made so far, and questions about them; nothing of the protocol is known here."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict
from typing import Any

from ..catalogue.load import load_rules
from ..catalogue.lookup import causes_of
from ..engine import diagnose
from ..errors import UsageError
from ..history.difference import differences, written_report
from ..job.job import JobContext
from ..report.catalogue_page import cause_page
from ..report.redaction import redact, redact_text
from ..report.report import Report
from ..report.why import why
from .answers import bounded, rank_row, verdict
from .excerpt import excerpt
from .roots import Roots

MAX_REPORTS = 8  # kept for later questions
MAX_RANKS = 200  # of one answer
MAX_SECONDS = 300.0  # that one call may read
MAX_TEXT = 8_000  # characters of a message to explain


class Desk:
    """Answers one assistant's questions, one after the other."""

    def __init__(self, roots: Roots, rules: tuple[str, ...] = ()) -> None:
        self._roots, self._rules = roots, rules
        load_rules(*rules)  # before the first question, which then waits for its logs alone
        self._reports: OrderedDict[str, Report] = OrderedDict()  # redacted, the latest last
        self._files: dict[str, str] = {}  # how reports call a file -> where it is
        self._count = 0

    def diagnose_logs(self, paths: list[str], seconds: float, context: JobContext, rank: int | None) -> dict[str, Any]:
        """Yield the verdict on logs below the roots."""
        inputs = self._roots.files(paths)
        budget_s = max(1.0, min(float(seconds), MAX_SECONDS))
        found = diagnose(*inputs, job=context, budget_s=budget_s, rules=self._rules, rank=rank, lang="en")
        report = redact(found, privacy=True)[0]
        for real, shown in zip(found.inputs, report.inputs, strict=True):
            self._files[shown.file] = real.file
        self._count += 1
        name = f"report-{self._count}"
        self._reports[name] = report
        while len(self._reports) > MAX_REPORTS:
            self._reports.popitem(last=False)
        return bounded(verdict(report, name))

    def read_evidence(self, path: str, line: int, before: int, after: int) -> dict[str, Any]:
        """Yield the lines around one, of a file that a report names or that lies below the roots."""
        named = self._files.get(path, path)
        return bounded(excerpt(self._roots.file(named), path, line, before, after))

    def why_not(self, question: str, report: str | None) -> dict[str, Any]:
        """Yield why a cause lost, or what is known of a rank."""
        asked = f"rank {question}" if question.isdigit() else question
        return bounded({"question": question, "answer": why(self._report(report), asked)})

    def list_ranks(self, report: str | None, state: str | None) -> dict[str, Any]:
        """Yield the table of ranks; those of one state where it is named."""
        rows = [row for row in self._report(report).ranks if state in (None, row.state)]
        return bounded({"count": len(rows), "ranks": [rank_row(row) for row in rows[:MAX_RANKS]]})

    def explain(self, text: str) -> dict[str, Any]:
        """Yield the page of the cause that an id, a code or a message means."""
        catalogue = load_rules(*self._rules)
        cause, *others = causes_of(text[:MAX_TEXT].strip(), catalogue)
        return bounded({"cause": cause, "page": cause_page(catalogue, catalogue.causes[cause]), "see_also": others})

    def compare(self, good: str, bad: str) -> dict[str, Any]:
        """Yield what differs between two reports, each one made here or written by `diagnose -o report.json`."""
        found = differences(*(self._compared(name) for name in (good, bad)))
        return bounded({"differences": [asdict(d) for d in found]})

    def _compared(self, name: str) -> Report:
        if name in self._reports:
            return self._reports[name]
        report = written_report(self._roots.file(name))
        if report is None:
            raise UsageError(f"{redact_text(name, privacy=True)}: neither a report made here nor one written as JSON")
        return redact(report, privacy=True)[0]

    def _report(self, name: str | None) -> Report:
        if not self._reports:
            raise UsageError("no report yet: call diagnose_logs first")
        found = next(reversed(self._reports.values())) if name is None else self._reports.get(name)
        if found is None:
            raise UsageError(f"no report {name[:40] if name else ''!r}; there are {', '.join(self._reports)}")
        return found
