"""What do the flight recorders say?

They hold each rank's collectives in order, so the first divergence is named with certainty: who issued another operation,
another size, or nothing. A rank without a dump is unknown, never missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Certainty, Exhibit, Finding

if TYPE_CHECKING:
    from ..flight_recorder import Divergence, GroupReport, Side

CAUSES = {
    "op": "collective.desync",
    "extra": "collective.desync",
    "p2p": "collective.desync",
    "size": "collective.shape-mismatch",
    "dtype": "collective.shape-mismatch",
    "missing": "collective.straggler",
    "state": "collective.straggler",
}


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the divergence that nothing else explains."""
    if not job.dumps:
        return
    from ..flight_recorder import compare

    for report in compare(job.dumps, job.world_size):
        first = report.first
        if report.verdict == "divergent" and first is not None and not first.is_survived and not first.is_consequence:
            yield _finding(report, first)
            return


def _finding(report: GroupReport, d: Divergence) -> Finding:
    shown = tuple(_exhibit(side) for side in (*d.found, *((d.expected,) if d.expected else ())))
    ranks = () if d.is_ambiguous else d.ranks
    who = f"rank{'s' if len(d.ranks) > 1 else ''} {rank_ranges(d.ranks)}"
    expected = f"the others {_entry(d.expected)}" if d.expected else "the others went on"
    did = f"issued {_entry(d.found[0])}" if d.found and d.kind != "missing" else "issued nothing"
    why = f"In group {report.desc or report.group} at number {d.seq} {who} {did}, {expected}."
    cause = CAUSES[d.kind] if d.detail not in ("skipped", "swapped") else "collective.desync"
    certainty: Certainty = "likely" if d.is_ambiguous or d.kind == "state" else "certain"
    fields = {"seq": d.seq, "kind": d.kind, "pg": report.group}
    return Finding(cause, why, shown, ranks, certainty=certainty, fields=fields, question="recorder")


def _entry(side: Side | None) -> str:
    return f"{side.entry.text} at {side.frame}" if side and side.frame else side.entry.text if side else "nothing"


def _exhibit(side: Side) -> Exhibit:
    return Exhibit(side.file, side.line, side.entry.text, side.ranks[0] if side.ranks else None)
