"""Whom does a message name as not having come?

`monitoredBarrier` and the desync report name the ranks that never joined. Several such lines may each name a part; the
ranks that most of them name are the ones to look at. Whoever prints the message is not at fault. A barrier of those who
are about to meet (torchelastic's agents, JAX's coordinator) tells of a rank that never joined, not of a late one. Where
most of a job never came, its start or the place to meet is at fault, and none of those who are named; nor is one that
waits for a key of the store itself, for by then it has written its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from ..lines.rank_ranges import rank_ranges
from .finding import Finding, exhibits
from .worlds import are_beyond, is_key


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding with the ranks that are named."""
    outlived = {id(e) for e in job.survived}
    events = [e for e in job.telling("absent-ranks") if e.fields.get("absent_ranks") and id(e) not in outlived]
    if not events or (all(map(is_key, events)) and are_beyond(job, events)):
        return
    counts = Counter(rank for e in events for rank in e.fields["absent_ranks"] if rank != e.rank)
    if _runs_store(job):
        counts.pop(0, None)
    if not counts:
        return
    most = max(counts.values())
    ranks = tuple(sorted(r for r, n in counts.items() if n == most))
    onset = min((e.onset for e in events if e.onset is not None), default=None)
    messages, who = "messages name" if len(events) > 1 else "message names", "ranks" if len(ranks) > 1 else "rank"
    why = f"{len(events)} {messages} {who} {rank_ranges(ranks)} as not having joined."
    cause = "rendezvous.timeout" if all(e.cause == "rendezvous.timeout" for e in events) else "collective.straggler"
    is_start = cause == "rendezvous.timeout"
    culprits = () if is_start and (_are_most(ranks, job) or _wait_themselves(events, ranks)) else ranks
    yield Finding(cause, why, exhibits(events), culprits, onset=onset, question="named_absent")


def _wait_themselves(events: list[Event], ranks: tuple[int, ...]) -> bool:
    """Whether one that is named waits too: for a key, so that it came; or for itself, started as another."""
    return any(e.rank in ranks and (is_key(e) or e.rank in e.fields["absent_ranks"]) for e in events)


def _runs_store(job: Job) -> bool:
    """Whether the host of the store, which is rank 0, says that it waited for others: it came, and gave up later."""
    return any(e.rule.id.startswith("rendezvous.timeout/store-waited-for-clients") for e in job.failures())


def _are_most(ranks: tuple[int, ...], job: Job) -> bool:
    """Whether the absent ranks are more than half of a job of more than two."""
    return len(ranks) > 1 and 2 * len(ranks) > (job.world_size or max(ranks) + 1)
