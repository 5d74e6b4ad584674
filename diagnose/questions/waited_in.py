"""In which call did each rank wait when it gave up?

Gloo's time-outs are exceptions, so each rank's traceback shows the collective that it waited in. All must be in the same
one; a rank that waited in another left the common order: it called a barrier too many, or its loop ended earlier. One that
waited, or lost the others, while it handled an exception of its own began it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from ..job.activity import first_complaint
from ..job.collectives import Waits, find_handled, find_waits
from ..job.event import Event
from ..job.job import Job
from ..traces.traceback import Link
from .finding import Exhibit, Finding, Sentence, earliest_onset

RAISED = "process.exception"
PAIRED = ("send", "recv")  # the other end is in another call by right
ONE_SIDED = ("broadcast", "scatter", "gather", "reduce")  # who sends is through: whoever still waits need not be wrong


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where some ranks waited in another call than all others, or handled an exception while they did."""
    if handled := find_handled(job):
        yield _handled(*handled[0])
        return
    waits = find_waits(job, "collective-timeout")
    left = {rank: wait for rank, wait in find_waits(job, "peer-lost").items() if rank not in waits}
    if not waits or (job.world_size or 0) > len(waits) + len(left) or any(e.role == "cause" for e in job.failures()):
        return
    if any(part in call.operation for _, call in (*waits.values(), *left.values()) for part in PAIRED):
        return
    places = {call.place for _, call in waits.values()}
    if places.issuperset(call.place for _, call in left.values()):  # they waited with others, until one of these gave up
        waits, left = {**waits, **left}, {}
    by_operation: dict[str, list[int]] = defaultdict(list)
    for rank, (_, call) in sorted(waits.items()):
        by_operation[call.operation].append(rank)
    if not left and len(by_operation) == 2:
        few, crowd = sorted(by_operation.values(), key=lambda ranks: (len(ranks), ranks))
        is_told = len(crowd) > 1 and not any(name.startswith(ONE_SIDED) for name in by_operation)
        if len(few) == 1:
            yield _finding(waits, few, crowd, tuple(few) if is_told else ())
    elif left and places.isdisjoint(call.place for _, call in left.values()):
        # Whom the others lost came to its call by the one they still wait in: one of the two kinds issued it otherwise.
        yield _odd_one(job, {**waits, **left}, sorted(waits), sorted(left))


def _handled(end: Event, link: Link) -> Finding:
    """The exception of the program that was being handled by whoever was the first to wait in vain: it began it."""
    shown = Exhibit(end.source, link.exception_line, link.said, end.rank, end.host, end.time)
    ranks = (end.rank,) if end.rank is not None else ()
    says = Sentence("waited_in.handled", {"ranks": ranks, "said": link.said})
    fields = {"type": link.exception, "text": link.message}
    return Finding("waited_in", RAISED, says, (shown, Exhibit.of_event(end)), ranks, onset=end.onset, fields=fields)


def _odd_one(job: Job, together: Waits, waited: list[int], left: list[int]) -> Finding:
    """One rank against all others, who are in one and the same call: it left the common order; of two nobody can tell.

    What it alone had complained of (`skipping line 417: …`) is shown first.
    """
    finding = _finding(together, waited, left, ())
    few, crowd = sorted((waited, left), key=len)
    calls, operations = {together[rank][1] for rank in crowd}, {call.operation for _, call in together.values()}
    # Gloo pairs buffers by their order: of two calls of one kind, who is in the later one may have passed another size.
    is_told = len(calls) == 1 and len(operations) == 2 and not any(name.startswith(ONE_SIDED) for name in operations)
    is_one = is_told and len(few) == 1 < len(crowd)
    told = first_complaint(job, job.ranks[few[0]]) if is_one else ()
    # One that is alone in vain may have come there by passing another size, in a call that the others are through with.
    if not told and not (is_one and few == left):
        return replace(finding, certainty="possible")
    return replace(finding, ranks=tuple(few), exhibits=(*told, *finding.exhibits))


def _finding(waits: Waits, few: list[int], crowd: list[int], ranks: tuple[int, ...]) -> Finding:
    (event, call), (other, usual) = waits[few[0]], waits[crowd[0]]
    fields = {"few": few, "call": call.operation, "place": call.place, "crowd": crowd}
    says = Sentence("waited_in.two", {**fields, "usual": usual.operation, "usual_place": usual.place})
    onset = earliest_onset(e for e, _ in waits.values())
    shown = (Exhibit.of_event(event), Exhibit.of_event(other))
    return Finding("waited_in", "collective.desync", says, shown, ranks, onset=onset)
