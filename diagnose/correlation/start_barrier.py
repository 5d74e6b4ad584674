"""Who do the others still wait for at the barrier at which a process group begins?

Each rank that has come says every ten seconds how many have. Where the log ends in that, no step and no error was seen,
and those that say it are as many as are counted, the others did not come. One such line is an ordinary wait: a rank has to
say it twice. Source: PyTorch, distributed_c10d.py, _store_based_barrier.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..events import Event
from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Exhibit, Finding

BARRIER = "context.collectives/store-barrier"
MANY = 4096  # ranks that nobody would list
FEW = 2  # lines: how a log was cut off, `^C`


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding with the ranks that have not come, where the logs end while the others wait."""
    if job.was_alive or job.failures() or any(s.last_sign_line is not None for s in job.sources):
        return
    told = [e for e in job.telling("identity") if e.rule.id == BARRIER]
    waits = _last_waits(job, told)
    if not waits:
        return
    last = waits[-1]
    joined, world = last.fields["joined"], last.fields["world_size"]
    absent = set(range(min(world, MANY))) - {e.rank for e in waits if e.rank is not None}
    why = f"{joined} of {world} ranks came to the first barrier"
    if not 0 < len(absent) == world - joined or 2 * len(absent) > world > 2:
        absent = set()
    ranks = tuple(sorted(absent))
    why += f"; rank{'s' * (len(ranks) > 1)} {rank_ranges(ranks)} did not." if ranks else "."
    shown = (Exhibit.of_event(last),)
    yield Finding("rendezvous.timeout", why, shown, ranks, certainty="possible", question="start_barrier")


def _last_waits(job: Job, told: list[Event]) -> list[Event]:
    """What was said while waiting, where some rank said it twice and no rank says below that it got through."""
    waits = [e for e in told if isinstance(e.fields.get("joined"), int) and isinstance(e.fields.get("world_size"), int)]
    through = [e for e in told if "joined" not in e.fields and e.fields.get("world_size")]
    counts = Counter(e.rank for e in waits)
    last = {e.source: e.line or 0 for e in waits}
    is_through = any((e.line or 0) > last.get(e.source, 0) for e in through)
    is_through = is_through or any(_goes_on(job, *item) for item in last.items())
    return [] if is_through or max(counts.values(), default=0) < 2 else waits


def _goes_on(job: Job, source: str, last: int) -> bool:
    """Whether a file has more than a few lines below the last wait: steps in words that nobody knows show that all came."""
    lines = (x for s in job.sources if s.name == source for x in s.tail() if x.number > last and x.message.strip())
    return sum(1 for _ in lines) > FEW
