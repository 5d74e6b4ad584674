"""Does nobody reach the same address, and whose is it?

Where every rank but 0 fails to connect to one address, the fault is not theirs: rank 0, which listens there, never came
up or cannot be reached. One rank alone that cannot connect proves nothing about the other end.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from ..lines.rank_ranges import rank_ranges
from .finding import Finding, exhibits

CAUSES = ("network.connect-timeout", "network.connection-refused")
FEWEST = 2


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where all ranks but 0 name the same address and rank 0 has no log."""
    events = [e for e in job.failures() if e.cause in CAUSES and e.rank is not None and e.fields.get("peer_host")]
    ranks = {e.rank for e in events if e.rank is not None}
    addresses = {(e.fields["peer_host"], e.fields.get("peer_port")) for e in events}
    world = job.world_size or max(ranks, default=0) + 1
    everyone_else = len(ranks) == world - 1 >= FEWEST and min(ranks) == 1 and max(ranks) < world
    if not everyone_else or len(addresses) != 1 or (0 in job.ranks and job.ranks[0].sources):
        return
    host, port = next(iter(addresses))
    why = f"Ranks {rank_ranges(ranks)} all failed to reach {host}:{port}, where rank 0 listens; rank 0 left no log."
    cause = next(e.cause for e in events if e.cause is not None)
    onset = min((e.onset for e in events if e.onset is not None), default=None)
    yield Finding(cause, why, exhibits(events), (0,), onset=onset, question="master")
