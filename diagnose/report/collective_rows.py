"""The report's table of collectives: where each rank of each process group is stuck, and how it stands to the others.

What is usual in a group is read once, not for each of its ranks: a job may have 16,384 of them.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ..job.collectives import GroupTable, Stuck, collective_tables
from ..job.job import Job
from .report import CollectiveRow


def collective_rows(job: Job) -> tuple[CollectiveRow, ...]:
    """Yield one row per process group and rank that reported a stuck collective."""
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
