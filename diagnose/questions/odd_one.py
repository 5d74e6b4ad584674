"""Who lost something else than the others did?

When a rank leaves, all others lose *it*: c10d, Gloo and NCCL say so in their own words on every one of them. A rank whose
connection error comes from the program itself (a data server, a tracker) does not complain of a peer: it is the one that
left.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from ..lines.lazy_pattern import lazy
from ..lines.rank_ranges import rank_ranges
from .finding import Finding, exhibits

CAUSE = "network.connection-reset"
OWN = (CAUSE, "network.connection-refused", "network.connect-timeout", "network.dns")  # as a program's own fail
FEWEST_OTHERS = 2  # or all there are
STORES = lazy(r"torch[/\\]distributed[/\\](?!elastic[/\\]multiprocessing)")  # there `record` stands around any main


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where one rank alone names no peer, and all the others that fail do."""
    failed = [e for e in job.failures() if e.cause in OWN and e.rank is not None]
    peers = {e.rank for e in failed if e.cause == CAUSE and e.rule.tells == "peer-lost"}
    own = [e for e in failed if e.rule.tells != "peer-lost" and e.rank not in peers and _is_of_the_program(e)]
    ranks = {e.rank for e in own if e.rank is not None}
    fewest = min(FEWEST_OTHERS, (job.world_size or FEWEST_OTHERS + 1) - 1)
    if len(ranks) != 1 or len(peers) < max(fewest, 1):
        return
    rank = next(iter(ranks))
    others = f"Rank{'s' if len(peers) > 1 else ''} {rank_ranges(r for r in peers if r is not None)}"
    missed = "lost" if own[0].cause == CAUSE else "could not make"
    why = f"{others} lost a peer; rank {rank} {missed} a connection of the program's own, and left."
    onset = min((e.onset for e in own if e.onset is not None), default=None)
    yield Finding(own[0].cause or CAUSE, why, exhibits(own), (rank,), onset=onset, question="odd_one")


def _is_of_the_program(event: Event) -> bool:
    """Whether it was raised outside of what makes process groups: that of a store is the job's own."""
    tb = event.traceback
    return tb is not None and not any(STORES.search(frame.file) for frame in tb.frames)
