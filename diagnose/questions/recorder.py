"""What do the flight recorders say?

They hold each rank's collectives in order, so the first divergence is named with certainty: who issued another operation,
another size, or nothing. A rank without a dump is unknown, never missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..job.job import Job
from .finding import Certainty, Exhibit, Finding, Sentence

if TYPE_CHECKING:
    from ..recorder.comparison import Divergence, GroupReport
    from ..recorder.tracks import Side

DESYNC, STRAGGLER = "collective.desync", "collective.straggler"
CAUSES = {
    "size": "collective.shape-mismatch",
    "dtype": "collective.shape-mismatch",
    "missing": STRAGGLER,
    "state": STRAGGLER,
}
WENT_ON_S = 120.0  # a sign of life so long after the call: the dump was taken of a job that runs


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the divergence that nothing else explains, else for a collective that none finished."""
    for report in job.recorded():
        first = report.first
        if report.verdict == "divergent" and first is not None and not first.is_survived and not first.is_consequence:
            yield _divergence(report, first)
            return
    waits = next((report for report in job.recorded() if report.verdict in ("unknown", "stuck")), None)
    if waits is not None and not job.telling("finished"):
        yield from _unfinished(job, waits)


def _unfinished(job: Job, report: GroupReport) -> Iterator[Finding]:
    """Ranks wait for those without a dump, or all in the same call: a dump taken on demand looks like that too."""
    waiting = [(p.rank, p.waiting) for p in report.progress if p.waiting is not None]
    latest_s = max((entry.created_ns for _, entry in waiting), default=0) / 1e9
    signs = (info.last_sign.time for info in job.ranks.values() if info.last_sign and info.last_sign.time is not None)
    if len(waiting) < 2 or max(signs, default=0.0) > latest_s + WENT_ON_S:
        return
    numbers = sorted({entry.seq for _, entry in waiting})
    told = {"group": report.desc or report.group, "numbers": numbers, "ranks": [rank for rank, _ in waiting]}
    says = Sentence("recorder.unfinished", {**told, "op": waiting[0][1].call.op, "without": report.without_dump})
    recorders = {dump.rank: dump for dump in job.dumps}
    shown = tuple(Exhibit(recorders[r].name, entry.line, entry.text, r) for r, entry in waiting[:2] if r in recorders)
    fields = {"seq": numbers[0], "kind": report.verdict, "pg": report.group}
    yield Finding("recorder", "collective.timeout", says, shown, certainty="possible", fields=fields)


def _divergence(report: GroupReport, d: Divergence) -> Finding:
    odd = d.found[0] if d.found and d.kind != "missing" else None
    is_one_place = odd is not None and d.expected is not None and odd.frame == d.expected.frame
    says = {
        "group": report.desc or report.group, "number": d.seq, "ranks": d.ranks,
        "usual": d.expected.said() if d.expected else None,
        "odd": odd.said(is_placed=not is_one_place) if odd is not None else None,
    }  # fmt: skip
    certainty: Certainty = "likely" if d.is_ambiguous or d.kind == "state" else "certain"
    return Finding(
        "recorder", CAUSES.get(d.kind, DESYNC), Sentence("recorder.divergence", says),
        tuple(_exhibit(side) for side in (*d.found, *((d.expected,) if d.expected else ()))),
        () if d.is_ambiguous else d.ranks, certainty=certainty, fields={"seq": d.seq, "kind": d.kind, "pg": report.group},
    )  # fmt: skip


def _exhibit(side: Side) -> Exhibit:
    return Exhibit(side.file, side.line, side.entry.text, side.ranks[0] if side.ranks else None)
