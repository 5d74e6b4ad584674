"""Whom does a message name as not having come, and whom does the roll leave out?

`monitoredBarrier` and the desync report name the ranks that never joined. Several such lines may each name a part; the
ranks that most of them name are the ones to look at. Whoever prints the message is not at fault. Where most of a job
never came, its start or the place to meet is at fault, and none of those who are named. Where processes announce their
ranks (`GLOBAL_RANK: 1, MEMBER: 2/8`), a rank announced twice while others never are was given to two processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

from ..job.activity import last_line, last_phase, wait_for
from ..job.event import Event
from ..job.identity_table import MAX_RANK
from ..job.job import Job
from .finding import Finding, Sentence, earliest_onset, exhibits

START, TAKEN = "rendezvous.timeout", "rendezvous.duplicate-rank"


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding with the ranks that are named."""
    survived = {id(e) for e in job.survived}
    events = [e for e in job.telling("absent-ranks") if e.fields.get("absent_ranks") and id(e) not in survived]
    counts = Counter(rank for e in events for rank in e.fields["absent_ranks"] if rank != e.rank)
    if not counts:
        yield from _taken_twice(job)
        return
    ranks = tuple(sorted(r for r, n in counts.items() if n == max(counts.values())))
    is_start = all(e.cause == START for e in events)
    are_most = len(ranks) > 1 and 2 * len(ranks) > (job.world_size or max(ranks) + 1)
    info = job.ranks.get(ranks[0])
    phase = last_phase(job, info, events[0]) if info is not None and ranks[0] else None
    cause, does, seen = wait_for(phase)
    says = Sentence("named_absent.named", {"count": len(events), "ranks": ranks, "phase": does})
    shown = (*seen, *exhibits(events), *(last_line(job, info) if info is not None else ()))
    culprits, onset = () if is_start and are_most else ranks, earliest_onset(events)
    yield Finding("named_absent", START if is_start and phase is None else cause, says, shown, culprits, onset=onset)


def _taken_twice(job: Job) -> Iterator[Finding]:
    """Nothing failed or began: all who are heard share ranks, and the rest of the world is not heard."""
    if job.failures() or job.was_alive:
        return
    roll: dict[int, list[Event]] = {}
    told = [e for e in job.telling("identity") if e.fields.get("world_size")]
    for event in told:
        roll.setdefault(event.fields.get("rank", -1), []).append(event)
    world = max((e.fields["world_size"] for e in told), default=0)
    count = min(map(len, roll.values()), default=0)
    is_all = count > 1 and count * len(roll) == world and all(len(events) == count for events in roll.values())
    # Two log handlers print each line twice, one below the other; who has no rank says that all have joined.
    pairs = [events[:2] for events in roll.values()] if is_all and -1 not in roll else []
    if any(a.source != b.source or (b.line or 0) > (a.line or 0) + 1 for a, b in pairs):
        missing = tuple(r for r in range(min(world, MAX_RANK)) if r not in roll)
        says = Sentence("named_absent.taken", {"ranks": tuple(sorted(roll)), "count": count, "missing": missing})
        events = sorted(chain.from_iterable(roll.values()), key=lambda e: (e.source, e.line or 0))
        fields = dict(events[0].fields)
        yield Finding("named_absent", TAKEN, says, exhibits(events), certainty="possible", fields=fields)
