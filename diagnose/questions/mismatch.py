"""Who issued something else at the same number?

Ranks match collectives by their order in a process group. A minority that is stuck at the same number in another
operation left the common order (a desync); the same operation with another size is a shape mismatch. Both are read from
the watchdog's own lines. More enqueued with equal completed is run-ahead of the CPU and no desync.
Source: PyTorch, ProcessGroupNCCL's work sequence numbers; the operation types of c10d's Work.hpp.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from ..job.job import Job
from ..lines.rank_ranges import rank_ranges
from .collectives import GroupTable, Stuck, collective_tables
from .finding import Exhibit, Finding

MAX_TOLD = 4  # groups of ranks that a sentence names
# Operations in which every rank passes the same number of elements; in the others sizes differ by right.
EQUAL_SIZES = {"ALLREDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "BROADCAST", "ALLGATHER", "REDUCE_SCATTER"}


def find(job: Job) -> Iterator[Finding]:
    """Yield at most one finding per process group."""
    tables = collective_tables(job)
    for table in tables:
        if len(table.stuck) < 2 or (not table.group and len(tables) > 1):
            continue  # ranks whose lines name no group, beside others', may be of several
        finding = _operation(table) or _size(table) or _behind(table)
        if finding is not None:
            yield finding


def _operation(table: GroupTable) -> Finding | None:
    seq = table.majority("seq")
    here = [s for s in table.stuck.values() if s.seq == seq and s.op is not None]
    return _minority(here, "op", "collective.desync") if seq is not None else None


def _size(table: GroupTable) -> Finding | None:
    seq, op = table.majority("seq"), table.majority("op")
    if op not in EQUAL_SIZES or seq is None:
        return None
    here = [s for s in table.stuck.values() if s.seq == seq and s.op == op and s.numel_in is not None]
    return _minority(here, "numel_in", "collective.shape-mismatch")


def _minority(here: list[Stuck], field: str, cause: str) -> Finding | None:
    """The ranks whose `field` differs from what most have; of two equal halves neither is at fault."""
    by_value: dict[object, list[Stuck]] = defaultdict(list)
    for stuck in here:
        by_value[getattr(stuck, field)].append(stuck)
    if len(by_value) < 2:
        return None
    groups = sorted(by_value.items(), key=lambda kv: (-len(kv[1]), str(kv[0])))
    common, crowd = groups[0]
    others = [s for _, members in groups[1:] for s in members]
    even = len(groups[1][1]) == len(crowd)
    first, usual = others[0], crowd[0]
    told = [members for _, members in (*groups[1:MAX_TOLD], groups[0])]
    said = [f"{_ranks(members)} {_call(members[0])}" for members in told[1:]]
    more = f", and {len(groups) - len(told)} more" if len(groups) > len(told) else ""
    why = f"At number {first.seq} {_ranks(told[0])} issued {_call(told[0][0])}, {', '.join(said)}{more}."
    shown = tuple(Exhibit.of_event(members[0].event) for members in told)
    ranks = () if even else tuple(sorted(s.rank for s in others))
    fields = {"seq": first.seq, "op": first.op, "other_op": usual.op, "common": common}
    return Finding(
        cause,
        why,
        shown,
        ranks,
        onset=first.event.onset,
        fields=fields,
        certainty="certain" if not even else "likely",
        question="mismatch",
    )


def _behind(table: GroupTable) -> Finding | None:
    """A minority is stuck at another number: it skipped or added a collective, if its operation shows that it went on."""
    numbers = Counter(s.seq for s in table.stuck.values() if s.seq is not None)
    if len(numbers) != 2:
        return None
    (common, many), (_, few) = numbers.most_common(2)
    others = [s for s in table.stuck.values() if s.seq not in (None, common)]
    crowd = [s for s in table.stuck.values() if s.seq == common]
    completed = {s.completed for s in table.stuck.values() if s.completed is not None}
    if few >= many or len(completed) == 1:
        return None
    first, usual = others[0], crowd[0]
    odd = f"{_ranks(others).capitalize()} stood at number {first.seq} in {_call(first)}"
    why = f"{odd}, {_ranks(crowd)} at {common} in {_call(usual)}."
    shown = (Exhibit.of_event(first.event), Exhibit.of_event(usual.event))
    return Finding(
        "collective.desync", why, shown, tuple(sorted(s.rank for s in others)), onset=first.event.onset,
        fields={"seq": first.seq, "op": first.op, "other_op": usual.op}, question="mismatch",
    )  # fmt: skip


def _call(s: Stuck) -> str:
    size = f" of {s.numel_in} elements" if s.numel_in is not None else ""
    return f"{s.op or 'a collective'}{size}"


def _ranks(stuck: list[Stuck]) -> str:
    numbers = [s.rank for s in stuck]
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {rank_ranges(numbers)}"
