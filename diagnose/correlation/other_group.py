"""Who waits in another process group than all the others of its own?

Ranks that belong to several groups have to use them in one order. Where a group waits for a few of its members, and each of
these waits in a group in which nobody else does, they took another turn: nobody can move. Who belongs to a group is told
by the numbers in it: of ranks 0 to 7, whose number in the group is their own, 2 is the one that is left out.
Source: PyTorch, ProcessGroupNCCL.cpp, `[PG ID 3 PG GUID 5 Rank 2]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..collectives import GroupTable, Stuck, collective_tables, describe
from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Exhibit, Finding

FEWEST = 3  # that wait together: of a pair nobody can tell who is out of turn
MAX_SHARE = 0.34  # of a group may be elsewhere


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the first group of which a few members wait elsewhere."""
    tables = collective_tables(job)
    for table in tables:
        alone = {r: s for t in tables if t is not table for r, s in t.stuck.items() if len(t.stuck) == 1}
        left_out = _left_out(table)
        odd = {r: alone[r] for r in left_out if r in alone}
        if odd and len(odd) == len(left_out):
            yield _finding(table, odd)
            return


def _left_out(table: GroupTable) -> list[int]:
    """The ranks whose numbers in the group are missing among those that wait, where a few are."""
    numbers = {r: s.event.fields.get("group_rank") for r, s in table.stuck.items()}
    known = {n: r for r, n in numbers.items() if isinstance(n, int)}
    if len(known) < FEWEST or len(known) != len(table.stuck):
        return []
    (first, one), (last, other) = min(known.items()), max(known.items())
    stride, rest = divmod(other - one, last - first)
    if rest or stride < 1 or any(r != one + (n - first) * stride for n, r in known.items()):
        return []
    if last + 1 - len(known) > MAX_SHARE * (last + 1):
        return []
    return [one + (n - first) * stride for n in range(last) if n not in known]


def _finding(table: GroupTable, odd: dict[int, Stuck]) -> Finding:
    ranks, crowd = tuple(sorted(odd)), sorted(table.stuck)
    own, usual = odd[ranks[0]], table.stuck[crowd[0]]
    who = f"rank{'s' * (len(ranks) > 1)} {rank_ranges(ranks)}"
    where = describe(GroupTable(own.group, {ranks[0]: own}))
    why = f"Ranks {rank_ranges(crowd)} wait in {describe(table)} for {who}, in another group at {where}."
    shown = (Exhibit.of_event(own.event), Exhibit.of_event(usual.event))
    fields = {"seq": own.seq, "op": own.op, "other_op": usual.op}
    return Finding("collective.desync", why, shown, ranks, onset=own.event.onset, fields=fields, question="other_group")
