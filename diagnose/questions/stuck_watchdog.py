"""On which ranks did even the watchdog stand still, while the others' watchdogs reported, or lost those ranks later?

A watchdog that hangs in a call of CUDA or NCCL, or waits for Python's lock, cannot report the collective that its rank
does not come to. Where all the other ranks report a time-out, or that a peer went away (the monitor ends its process),
those few held them up. Where it stands still on most ranks, the call hangs for a reason below them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from ..job.places import GUESSED
from ..lines.rank_ranges import rank_ranges
from .finding import Finding, exhibits

CAUSE = "collective.api-hang"
MAX_SHARE = 0.34
ALONE_SHARE = 0.1  # of all ranks: so few whose heartbeat stopped stand out by that alone


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the few ranks whose heartbeat stopped among many that timed out."""
    waited = {e.rank for e in job.telling("collective-timeout") if e.rank is not None}
    stopped = [e for e in job.telling("heartbeat") if e.cause == CAUSE and e.rank is not None and e.rank not in waited]
    ranks = tuple(sorted({e.rank for e in stopped if e.rank is not None}))
    lost = {e.rank for e in job.telling("peer-lost") if e.rank is not None} - set(ranks)
    others = waited or lost
    if not ranks or len(ranks) > max(1, MAX_SHARE * (len(others) + len(ranks))):
        return
    who = f"rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}"
    if len(others) < 2:
        if _stand_alone(job, ranks):
            why = f"Of {job.world_size} ranks only {who} reported it."
            yield Finding(CAUSE, why, exhibits(stopped), ranks, certainty="possible", question="stuck_watchdog")
        return
    how = "waited in vain" if waited else "lost a peer"
    why = f"Ranks {rank_ranges(r for r in others if r is not None)} {how}; on {who} even the watchdog stood still."
    onset = min((e.onset for e in stopped if e.onset is not None), default=None)
    yield Finding(CAUSE, why, exhibits(stopped), ranks, onset=onset, question="stuck_watchdog")


def _stand_alone(job: Job, ranks: tuple[int, ...]) -> bool:
    """Whether these are few of a job of known size, and logs of other hosts are there that tell nothing of the kind."""
    own = {job.ranks[rank].host for rank in ranks if rank in job.ranks}
    is_known = job.world_size is not None and job.places.world_from != GUESSED
    return is_known and len(ranks) <= ALONE_SHARE * (job.world_size or 0) and bool(set(job.hosts) - own) and None not in own
