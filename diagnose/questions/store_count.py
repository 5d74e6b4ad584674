"""Whom does the host of the store miss, which counts who came and does not say who?

`2/3 clients joined` leaves one. Where as many ranks as it counts are known to have reached the store, since they waited
there for a key or failed there, whoever else belongs to the world is the one. A rank whose log just ends may have been
counted or not: then nobody can tell. Source: PyTorch, TCPStore.cpp, waitForWorkers, which counts rank 0 too.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from ..lines.rank_ranges import rank_ranges
from .finding import Finding, exhibits
from .worlds import is_key

COUNTS = "rendezvous.timeout/store-waited-for-clients"
MANY = 4096  # ranks that nobody would list


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding with the ranks that did not come, where all that came are known."""
    failures = job.failures()
    counted = [e for e in failures if e.rule.id.startswith(COUNTS)]
    if not counted:
        return
    joined, world = counted[0].fields["joined"], counted[0].fields["world_size"]
    came = {0, *(e.rank for e in failures if e.rank is not None and is_key(e))}
    absent = tuple(r for r in range(min(world, MANY)) if r not in came)
    if len(came) != joined or not 0 < len(absent) == world - joined or 2 * len(absent) > world:
        return
    why = f"{joined} of {world} ranks came to the store, and rank{'s' * (len(absent) > 1)} {rank_ranges(absent)} did not."
    yield Finding("rendezvous.timeout", why, exhibits(counted), absent, onset=counted[0].onset, question="store_count")
