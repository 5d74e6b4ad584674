"""Was one rank alone interrupted?

SIGINT comes from a terminal, which sends it to all processes at once, or from `kill`; launchers end ranks with SIGTERM.
Where one rank alone raises `KeyboardInterrupt`, nobody else was told to stop, nothing else failed, and others say that they
lost a peer, somebody interrupted that one. Who is not known; the rank is named, as one that was killed is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from .finding import Finding, exhibits

LOST = ("peer-lost", "collective-timeout")
INTERRUPTED = "process.terminated/keyboard-interrupt"


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where exactly one rank was interrupted and the others lost it."""
    told = job.telling("signal-received")
    ranks = {e.rank for e in told}
    if len(ranks) != 1 or any(e.rule.id != INTERRUPTED for e in told):
        return
    rank = next(iter(ranks))
    if rank is None or rank in {e.rank for e in (*job.telling("signal-sent"), *job.telling(*LOST))}:
        return
    is_lost = any(e.rank is not None for e in job.telling(*LOST))
    if not is_lost or any(e.role == "cause" and e.rule.tells is None for e in job.failures()):
        return
    onset = min((e.onset for e in told if e.onset is not None), default=None)
    why = f"Rank {rank} alone was interrupted (SIGINT); the others lost it."
    yield Finding("process.terminated", why, exhibits(told), (rank,), onset=onset, question="told_alone")
