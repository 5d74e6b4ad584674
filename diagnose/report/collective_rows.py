"""The report's table of collectives: where each rank of each process group is stuck, and how it compares to the rest.

From flight recorders where there are dumps, else from what watchdogs print.

What is usual in a group is read once, not for each of its ranks: a job may have 16,384 of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from ..job.collectives import GroupTable, Stuck, collective_tables
from ..job.job import Job
from .report import CollectiveRow

if TYPE_CHECKING:
    from ..recorder.comparison import GroupReport, RankProgress

SHOWN_GROUPS = 8  # of a thousand, those to look at first


def collective_rows(job: Job) -> tuple[CollectiveRow, ...]:
    """Yield one row per process group and rank that is stuck; a rank without a dump has a row that says so."""
    unfinished = [report for report in job.recorded() if report.verdict != "consistent"]
    return tuple(row for report in unfinished[:SHOWN_GROUPS] for row in _recorded(report)) or _reported(job)


def _reported(job: Job) -> tuple[CollectiveRow, ...]:
    rows = []
    for table in collective_tables(job):
        usual = table.majority("seq")
        by_number: dict[int | None, dict[int, Stuck]] = defaultdict(dict)
        for rank, s in table.stuck.items():
            by_number[s.seq][rank] = s
        beside = {seq: _Usual.of(GroupTable(table.group, stuck)) for seq, stuck in by_number.items()}
        for rank, s in table.stuck.items():
            sizes = tuple(n for n in (s.numel_in, s.numel_out) if n is not None)
            is_other = bool(table.group) and s.seq is not None and s.seq != usual
            verdict = ("behind" if s.seq < usual else "ahead") if is_other else beside[s.seq].verdict(s)
            rows.append(CollectiveRow(table.group, rank, s.seq, s.enqueued, s.completed, s.op, sizes, verdict))
    return tuple(rows)


class _Usual(NamedTuple):
    """What those of a group that are stuck at one number do.

    Numbers are those of a group: where the lines name none, each rank may wait in one of its own. Sends and receives of
    Gloo have no number, and in its rings some ranks send while others receive.
    """

    op: str | None
    elements: int | None
    ranks: int
    alike: int  # so many of them say both

    @classmethod
    def of(cls, beside: GroupTable) -> _Usual:
        op, elements = beside.majority("op"), beside.majority("numel_in")
        alike = sum((x.op, x.numel_in) == (op, elements) for x in beside.stuck.values())
        return cls(op, elements, len(beside.stuck), alike)

    def verdict(self, s: Stuck) -> str:
        """Tell whether what a rank does `differs` from what the others do; '' where there is nothing to tell."""
        said = (s.op or self.op, self.elements if s.op is None else s.numel_in)  # what is cut off differs not
        is_usual = said == (self.op, self.elements) and (self.alike > 1 or self.ranks < 3)  # of many, none is usual
        return "" if s.seq is None or is_usual else "differs"


def _recorded(report: GroupReport) -> Iterator[CollectiveRow]:
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
