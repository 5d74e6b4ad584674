"""Who left with an error code and no word?

The launcher prints exit codes. A rank that failed and printed nothing, where all the others that failed say that they lost
a peer or waited in vain, is the one that left first: `sys.exit(13)` in the program, a wrapper script, a library's `_exit`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from .finding import Exhibit, Finding

CAUSE = "process.exit-code"
CERTIFICATES = ("exit", "signal-sent")
LOST = ("peer-lost", "collective-timeout", "collective-status", "heartbeat")


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where exactly one rank ended with an error code and says nothing."""
    ends = [e for e in job.telling("exit") if e.rank is not None and _is_error(e)]
    wordless = {e.rank for e in ends if job.is_heard(e.rank) and not _words(job, e.rank)}
    others = {e.rank for e in job.telling(*LOST) if e.rank is not None} - wordless
    if len(wordless) != 1 or not others:
        return
    rank = next(r for r in wordless if r is not None)
    end = min((e for e in ends if e.rank == rank), key=lambda e: (e.time or 0.0, e.source, e.line or 0))
    code = end.fields.get("exit_code")
    why = f"Rank {rank} ended with code {code} and printed no reason; the others that failed only lost it."
    yield Finding(
        CAUSE, why, (Exhibit.of_event(end),), (rank,), onset=end.onset, fields=end.fields, question="silent_exit"
    )


def _is_error(event: Event) -> bool:
    code = event.fields.get("exit_code")
    return isinstance(code, int) and 0 < code < 128


def _words(job: Job, rank: int | None) -> list[Event]:
    """What the rank itself says of its failure."""
    info = job.ranks.get(rank) if rank is not None else None
    return [e for e in info.failures() if e.rule.tells not in CERTIFICATES] if info else []
