"""Measure the terminal page of every labelled case at 100 columns, as an engineer on call reads it.

    python -m benchmarks.pages fixtures cases

Prints how long pages are, where what to do begins, and what a page should not show: a word that we do not use, a
placeholder whose value is known, a command of a scheduler that is not there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from diagnose import Report, render
from diagnose.catalogue.load import load_rules
from diagnose.engine import tell

from .replay.case import find_cases, read_scans

WIDTH = 100
FIRST_SCREEN = 20  # rows
BEGINS = ("Do now", "What to do next")
AVOIDED = re.compile(
    r"\b(?:stands?|stood|told|tells?|mend(?:ed|s)?|in vain|for ever|anew|thereof|nobody|somebody|come to|the others|had gone"
    r"|a word of|makes known|at one|look why|one after another|of one's own|time-outs?)\b",
    re.IGNORECASE,
)
LOG_TEXT = re.compile(r"^.*│.*\n|^    \S+:\d+  .*\n|^ +your code: .*\n", re.MULTILINE)
SCHEDULERS = {
    "slurm": r"\b(?:scontrol|sacct|squeue|sbatch|scancel)\b",
    "kubernetes": r"\b(?:kubectl|oc) ",
    "lsf": r"\b(?:bhist|bjobs)\b",
    "pbs": r"\bqstat\b",
}
PLACEHOLDERS = {"HOST": "host", "NODE": "host", "RANK": "rank"}  # a PID is that of the next run, whose ranks are to be watched


@dataclass(frozen=True)
class Page:
    """What is measured of one page: rows in all, the row where what to do begins (0: nowhere), and faults."""

    name: str
    rows: int
    begins: int
    faults: tuple[str, ...]


def measure(name: str, report: Report) -> Page:
    """Yield the measures of a report's page."""
    text = render(report, "terminal", width=WIDTH)
    rows = text.rstrip("\n").split("\n")
    begins = next((i for i, row in enumerate(rows, 1) if row.startswith(BEGINS)), 0)
    return Page(name, len(rows), begins, tuple(_faults(report, text)))


def _faults(report: Report, text: str) -> Iterator[str]:
    found = report.diagnosis
    yield from (f"says {word!r}" for word in sorted({m[0].lower() for m in AVOIDED.finditer(LOG_TEXT.sub("", text))}))
    scheduler = report.facts["scheduler"].value if "scheduler" in report.facts else None
    culprits = found.culprits if found else ()
    for command in (step.command or "" for step in (*(found.remedy if found else ()), *report.collect)):
        for name, pattern in SCHEDULERS.items():
            if name != scheduler and re.search(pattern, command):
                yield f"{command!r} is of {name}, the scheduler is {scheduler}"
        for placeholder, field in PLACEHOLDERS.items():
            values = {getattr(c, field) for c in culprits} - {None}
            if len(culprits) == 1 and values and re.search(rf"(?<![\w$]){placeholder}\b", command):
                yield f"{command!r}: {placeholder} is {values.pop()}"
    if found and culprits and found.evidence:
        first = "\n".join(text.split("\n")[:FIRST_SCREEN])
        yield from (f"{word} is not on the first screen" for word in ("Culprit", "Cause", "Proof") if word not in first)


def summary(pages: Sequence[Page]) -> str:
    """Yield the figures of many pages."""
    rows, begins = sorted(p.rows for p in pages), [p.begins for p in pages if p.begins]
    early = 100 * sum(b <= 16 for b in begins) / max(1, len(begins))
    return f"{len(pages)} pages: median {median(rows)} rows, p90 {rows[len(rows) * 9 // 10]}; what to do by row 16: {early:.0f} %"


def main() -> None:
    """Measure the cases in the folders that are named."""
    catalogue, pages = load_rules(), []
    for case, scan in read_scans(find_cases([Path(name) for name in sys.argv[1:] or ["fixtures"]]), 2):
        pages.append(measure(case.name, tell(scan, catalogue)))
        print(*(f"{case.name}: {fault}" for fault in pages[-1].faults), sep="\n", end="\n" if pages[-1].faults else "")
    print(summary(pages))


if __name__ == "__main__":
    main()
