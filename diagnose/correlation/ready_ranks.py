"""Who is not among those that a message lists as ready?

Horovod before 0.16 lists, per tensor, the ranks that submitted it. Whoever is not in the list did not come: each number
below the largest that is named, and each below the size of the job where that is told. Different tensors may lack different
ranks; those that most lists lack are the ones to look at. Source: Horovod 0.15, operations.cc, CheckForStalledTensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..events import Event
from ..job import Job
from ..placement.places import GUESSED
from ..words.ranges import rank_ranges
from .finding import MOST_RANKS, Finding, exhibits


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding with the ranks that most lists lack."""
    outlived = {id(e) for e in job.survived}
    events = [e for e in job.telling("ready-ranks") if e.fields.get("ready_ranks") and id(e) not in outlived]
    world = _world(job, events)
    all_ranks = frozenset(range(world)) if world <= MOST_RANKS else frozenset()
    counts = Counter(rank for e in events for rank in all_ranks.difference(e.fields["ready_ranks"]))
    if not counts:
        return
    most = max(counts.values())
    ranks = tuple(sorted(rank for rank, n in counts.items() if n == most))
    lists = "lists of ready ranks lack" if len(events) > 1 else "list of ready ranks lacks"
    onset = min((e.onset for e in events if e.onset is not None), default=None)
    why = f"{len(events)} {lists} rank{'s' * (len(ranks) > 1)} {rank_ranges(ranks)}."
    culprits = ranks if 2 * len(ranks) <= world else ()  # where most stay away, something else is at fault
    yield Finding("collective.straggler", why, exhibits(events), culprits, onset=onset, question="ready_ranks")


def _world(job: Job, events: list[Event]) -> int:
    """How many ranks there are at least."""
    told = job.world_size or 0 if job.places.world_from not in ("", GUESSED) else 0
    return max(told, *(max(e.fields["ready_ranks"]) + 1 for e in events)) if events else told
