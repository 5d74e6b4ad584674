"""What each rank says of how many there are, and for whose address it waited in the store: read by several questions.

Gloo takes the addresses of ranks 0, 1, 2 … from the store, one after the other; the key that never came names the first
that is missing. Source: Gloo, transport/tcp/context.cc, createAndConnectAllPairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..job.event import Event
from ..job.job import Job

STATED = "context.identity/"
KEYS = "rendezvous.timeout/store-key-not-written"
IN_THE_MESH = "network.connect-timeout/gloo-connect-timed-out"  # who came so far had found the addresses of all


def stated_worlds(job: Job) -> dict[int, Event]:
    """The line in which each rank states how many there are; none where a rank states two sizes, as of two groups."""
    told: dict[int, Event] = {}
    for event in job.telling("identity"):
        size = event.fields.get("world_size")
        if event.rank is None or not isinstance(size, int) or not event.rule.id.startswith(STATED):
            continue
        if told.setdefault(event.rank, event).fields["world_size"] != size:
            return {}
    return told


def usual_world(told: dict[int, Event]) -> int | None:
    """The size that more than half of them state."""
    sizes = Counter(e.fields["world_size"] for e in told.values())
    size, count = max(sizes.items(), key=lambda item: item[1], default=(None, 0))
    return size if 2 * count > len(told) else None


def is_key(event: Event) -> bool:
    """Whether it tells of a key of the store that nobody wrote."""
    return event.rule.id.startswith(KEYS)


def who_found_all(job: Job, waits: Sequence[Event]) -> set[int]:
    """Ranks that had found the addresses of all, and failed to reach them or later, while others wait for one more."""
    failed = (e for e in job.failures() if e.rule.id.startswith(IN_THE_MESH) or e.cause == "collective.timeout")
    return {e.rank for e in failed if e.rank is not None} - {e.rank for e in waits}


def are_beyond(job: Job, waits: Sequence[Event]) -> bool:
    """Whether these wait for the address of a rank that is none of the others' world, so that it is not missing."""
    awaited = {rank for e in waits for rank in e.fields["absent_ranks"]}
    if not awaited or any(job.is_heard(rank) for rank in awaited):
        return False
    usual = usual_world(stated_worlds(job))
    return (usual is not None and min(awaited) >= usual) or bool(who_found_all(job, waits))
