"""Who lost something else than the others did?

When a rank leaves, all others lose *it*: c10d, Gloo and NCCL say so in their own words on every one of them. A rank whose
connection error comes from the program itself (a data server, a tracker) does not complain of a peer: it is the one that
left.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

CAUSE = "network.connection-reset"
FEWEST_OTHERS = 2


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where one rank alone names no peer, and all the others that fail do."""
    reset = [e for e in job.failures() if e.cause == CAUSE and e.rank is not None]
    peers = {e.rank for e in reset if e.rule.tells == "peer-lost"}
    own = [e for e in reset if e.rule.tells != "peer-lost" and e.rank not in peers and e.traceback is not None]
    ranks = {e.rank for e in own if e.rank is not None}
    if len(ranks) != 1 or len(peers) < FEWEST_OTHERS:
        return
    rank = next(iter(ranks))
    others = rank_ranges(r for r in peers if r is not None)
    why = f"Ranks {others} lost a peer; rank {rank} lost a connection of the program's own, and left."
    onset = min((e.onset for e in own if e.onset is not None), default=None)
    yield Finding(CAUSE, why, exhibits(own), (rank,), onset=onset, question="odd_one")
