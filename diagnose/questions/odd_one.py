"""Who lost something else than the others did?

When a rank leaves, all others lose *it*: c10d, Gloo and NCCL say so in their own words on every one of them. A rank whose
connection error comes from the program itself (a data server, a tracker) does not complain of a peer: it is the one that
left.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from .finding import Finding, Sentence, earliest_onset, exhibits

CAUSE = "network.connection-reset"
OWN = (CAUSE, "network.connection-refused", "network.connect-timeout", "network.dns")  # as a program's own fail
FEWEST_OTHERS = 2  # or all there are


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where one rank alone names no peer, and all the others that fail do."""
    failed = [e for e in job.failures() if e.cause in OWN and e.rank is not None]
    peers = {e.rank for e in failed if e.cause == CAUSE and e.rule.tells == "peer-lost"}
    own = [e for e in failed if e.rule.tells is None and e.rank not in peers and e.traceback is not None]
    ranks = {e.rank for e in own}
    fewest = min(FEWEST_OTHERS, (job.world_size or FEWEST_OTHERS + 1) - 1)
    if len(ranks) == 1 and len(peers) >= max(fewest, 1):
        rank = next(r for r in ranks if r is not None)
        key = "odd_one.lost" if own[0].cause == CAUSE else "odd_one.unmade"
        says = Sentence(key, {"rank": rank, "others": sorted(r for r in peers if r is not None)})
        yield Finding("odd_one", own[0].cause or CAUSE, says, exhibits(own), (rank,), onset=earliest_onset(own))
