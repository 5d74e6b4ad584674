"""Where do the ranks of a group stand in their common order of collectives?

Ranks match collectives by their order in a process group. A minority that is stuck at the same number in another
operation left the common order (a desync); the same operation with another size is a shape mismatch, but one element
against many is a barrier or a loss against gradients: that rank had left the loop. All in one and the same: no rank holds
up the others, and the fault lies below them. More enqueued with equal completed is run-ahead of the CPU and no desync.
Source: PyTorch, ProcessGroupNCCL's work sequence numbers; the operation types of c10d's Work.hpp.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..job.activity import last_phase
from ..job.collectives import GroupTable, Stuck, collective_tables, describe
from ..job.job import Job
from .finding import Exhibit, Finding, Sentence

MAX_TOLD = 4  # groups of ranks that a sentence names
MANY_ELEMENTS = 1000  # gradients, and no loss or count of tokens
DESYNC = "collective.desync"
# Operations in which every rank passes the same number of elements; in the others sizes differ by right.
EQUAL_SIZES = {"ALLREDUCE", "_ALLGATHER_BASE", "_REDUCE_SCATTER_BASE", "BROADCAST", "ALLGATHER", "REDUCE_SCATTER"}


def find(job: Job) -> Iterator[Finding]:
    """Yield at most one finding per process group on who stands elsewhere, and one where nobody does."""
    tables = collective_tables(job)
    for table in tables:
        if len(table.stuck) > 1 and (table.group or len(tables) == 1) and table.is_one_group():
            yield from _operation(job, table) or _size(job, table) or _number(job, table)
    yield from (_together(table) for table in tables if _is_whole_job(job, table))


def _operation(job: Job, table: GroupTable) -> list[Finding]:
    seq = table.majority("seq")
    here = [s for s in table.stuck.values() if s.seq == seq and s.op is not None]
    return _minority(job, here, "op", DESYNC) if seq is not None else []


def _size(job: Job, table: GroupTable) -> list[Finding]:
    seq, op = table.majority("seq"), table.majority("op")
    if op not in EQUAL_SIZES or seq is None:
        return []
    here = [s for s in table.stuck.values() if s.seq == seq and s.op == op and s.numel_in is not None]
    return _minority(job, here, "numel_in", "collective.shape-mismatch")


def _minority(job: Job, here: list[Stuck], field: str, cause: str) -> list[Finding]:
    """The ranks whose `field` differs from what most have; of two equal halves neither is at fault, but who left is."""
    by_value: dict[object, list[Stuck]] = defaultdict(list)
    for stuck in here:
        by_value[getattr(stuck, field)].append(stuck)
    if len(by_value) < 2:
        return []
    groups = sorted(by_value.values(), key=lambda members: (-len(members), str(getattr(members[0], field))))
    left = _left_loop(groups) if field == "numel_in" else None
    crowd, *others = groups if left != groups[0] else groups[::-1]
    is_even = left is None and len(others[0]) == len(crowd)
    odd = [s for members in others for s in members]
    return [_elsewhere(job, [*others[: MAX_TOLD - 1], crowd], odd, DESYNC if left else cause, is_sure=not is_even)]


def _left_loop(groups: list[list[Stuck]]) -> list[Stuck] | None:
    """Those that reduce one number where the others reduce gradients: a barrier or a loss, behind the loop."""
    small, large = sorted(groups, key=lambda members: members[0].numel_in or 0) if len(groups) == 2 else ([], [])
    is_left = bool(small) and small[0].numel_in == 1 and (large[0].numel_in or 0) >= MANY_ELEMENTS
    return small if is_left else None


def _number(job: Job, table: GroupTable) -> list[Finding]:
    """A minority is stuck at another number: it skipped or added a collective, if its operation shows that it went on.

    Where all ranks of the job are here, half in one operation and half in another, each half waits for the other.
    """
    by_seq: dict[int, list[Stuck]] = defaultdict(list)
    for stuck in table.stuck.values():
        if stuck.seq is not None:
            by_seq[stuck.seq].append(stuck)
    completed = {s.completed for s in table.stuck.values() if s.completed is not None}
    groups = sorted(by_seq.values(), key=lambda members: (-len(members), members[0].seq or 0))
    if len(groups) != 2 or len(completed) == 1:
        return []
    if len(groups[0]) == len(groups[1]) and (groups[0][0].op == groups[1][0].op or len(table.stuck) != job.world_size):
        return []
    return [_elsewhere(job, [groups[1], groups[0]], groups[1], DESYNC, is_sure=False)]


def _elsewhere(job: Job, told: list[list[Stuck]], odd: list[Stuck], cause: str, *, is_sure: bool) -> Finding:
    """The last of those told is the crowd; a rank that says that it left its loop, or what it did, comes first."""
    first, usual, ranks = odd[0], told[-1][0], tuple(sorted(s.rank for s in odd))
    info = job.ranks.get(first.rank)
    phase = last_phase(job, info, first.event) if info is not None and len(ranks) == 1 and first.rank else None
    left = phase if phase is not None and phase.name == "done" else None
    numbers = sorted({s.seq for members in told for s in members if s.seq is not None})
    groups = [Sentence("mismatch.group", _call(members, is_numbered=len(numbers) > 1)) for members in told]
    says = {"groups": groups, "number": numbers[0] if len(numbers) == 1 else None, "phase": left.says if left else None}
    shown = [*([left.exhibit] if left else []), *(Exhibit.of_event(members[0].event) for members in told)]
    is_named = is_sure or len(told[0]) < len(told[-1])
    return Finding(
        "mismatch", left.cause if left else cause, Sentence("mismatch.elsewhere", says), tuple(shown),
        ranks if is_named else (), certainty="certain" if is_sure else "likely", onset=first.event.onset,
        fields={"seq": first.seq, "op": first.op, "other_op": usual.op, "common": usual.numel_in},
    )  # fmt: skip


def _call(members: list[Stuck], *, is_numbered: bool) -> dict[str, object]:
    s, number = members[0], members[0].seq if is_numbered else None
    return {"ranks": [m.rank for m in members], "op": s.op, "elements": s.numel_in, "number": number}


def _is_whole_job(job: Job, table: GroupTable) -> bool:
    """Whether every rank of the job reports the same collective as stuck, and no other host tells of processes."""
    ranks, calls = table.stuck.keys(), {(s.seq, s.op) for s in table.stuck.values()}
    is_one = len(calls) == 1 and None not in next(iter(calls))
    hosts = {None, *(s.event.host for s in table.stuck.values())}
    is_one &= all(e.host in hosts for e in job.telling("exit"))
    return is_one and len(ranks) > 1 and len(ranks) == job.world_size == max(ranks) + 1


def _together(table: GroupTable) -> Finding:
    """A group whose very first collective never completes was never connected; one that worked lost a link or a GPU."""
    first, seq = table.first().event, table.majority("seq")
    says = Sentence("mismatch.nowhere", {"count": len(table.stuck), "where": describe(table), "is_first": seq <= 1})
    return Finding(
        "mismatch", "collective.timeout", says, (Exhibit.of_event(first),), certainty="possible", onset=first.onset,
        fields=dict(first.fields),
    )  # fmt: skip
