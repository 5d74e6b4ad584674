"""Did the one rank for which all the others waited in the store find nobody there?

Each process prints only its own half: the others that the key of a rank never came, that rank that nothing listens at the
address. Either it came when they had given up, or it never reached the place where they met; it is the one that differs,
and the refusal alone would not tell so.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits
from .worlds import is_key

MISSED = ("network.connection-refused", "network.connect-timeout")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where the rank that they all name could not reach the store."""
    failures = job.failures()
    waits = [e for e in failures if is_key(e) and e.rank is not None and e.fields.get("absent_ranks")]
    named = {rank for e in waits for rank in e.fields["absent_ranks"]}
    crowd = sorted({e.rank for e in waits if e.rank is not None} - named)
    if len(named) != 1 or not crowd:
        return
    rank = named.pop()
    own = [e for e in failures if e.rank == rank]
    stated = [e for e in own if e.cause in MISSED]
    if not stated or any(e.role == "cause" and e.cause not in MISSED for e in own):
        return
    who = f"Rank{'s' * (len(crowd) > 1)} {rank_ranges(crowd)}"
    why = f"{who} waited for rank {rank} in the store until their limit passed; rank {rank} found nobody at the address."
    onset = min((e.onset for e in waits if e.onset is not None), default=None)
    cause = str(stated[0].cause)
    yield Finding(cause, why, exhibits([stated[0], waits[0]]), (rank,), onset=onset, question="found_nobody")
