"""Rows of the table of collectives from flight recorders: per group where ranks wait or differ, how far each came."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING

from ..job.job import Job
from .report import CollectiveRow

if TYPE_CHECKING:
    from ..recorder.comparison import GroupReport, RankProgress

SHOWN_GROUPS = 8  # of a thousand, those to look at first


def recorder_rows(job: Job) -> tuple[CollectiveRow, ...]:
    """Yield one row per rank of each group that did not finish; a rank without a dump has a row that says so."""
    unfinished = [report for report in job.recorded() if report.verdict != "consistent"]
    return tuple(row for report in unfinished[:SHOWN_GROUPS] for row in _rows(report))


def _rows(report: GroupReport) -> Iterator[CollectiveRow]:
    first = report.first
    odd = dict.fromkeys(first.ranks, "behind" if first.kind in ("missing", "state", "p2p") else "differs") if first else {}
    name = report.desc or report.group
    for progress in report.progress:
        yield _row(name, progress, odd.get(progress.rank, ""))
    for rank in report.without_dump:
        yield CollectiveRow(group=name, rank=rank, verdict="no-dump")


def _row(group: str, progress: RankProgress, verdict: str) -> CollectiveRow:
    waiting = progress.waiting
    sides = (waiting.call.input_sizes, waiting.call.output_sizes) if waiting else ()
    return CollectiveRow(
        group=group,
        rank=progress.rank,
        stuck=waiting.seq if waiting else None,
        enqueued=None if progress.enqueued < 0 else progress.enqueued,
        completed=None if progress.completed < 0 else progress.completed,
        op=waiting.call.op if waiting else None,
        sizes=tuple(sum(prod(dims) for dims in side) for side in sides),
        verdict=verdict,
    )
