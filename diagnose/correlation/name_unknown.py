"""Is it all that is heard of a job that it looks up one host's name, time and again?

Newer versions of PyTorch log the IPv6 look-up only, which fails on many hosts that IPv4 then reaches. Where one file shows
it for the same name over and over, and nothing else for as long, the name does not resolve: the job had been ended, or
its log was copied, before the client gave up. Source: PyTorch, socket.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from .finding import Finding, exhibits

LOOK_UP = "context.collectives/ipv6-name-not-found"
FEWEST = 3
LASTING_S = 15.0  # the ranks of a node look a name up within moments; who gets no answer asks again ever later
LIFE = ("finished", "exit", "activity", "activity-end", "progress", "peer-lost")
QUESTION = "name_unknown"


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding, of no rank, for the name that is asked for in vain."""
    asked = [e for e in job.events if e.rule.id == LOOK_UP]
    if len(asked) < FEWEST or job.was_alive or job.failures() or job.telling(*LIFE) or job.dumps:
        return
    names = {e.fields.get("peer_host") for e in asked}
    if len(names) == 1 and any(_lasts(job, source, asked) for source in {e.source for e in asked}):
        why = f"The name {names.pop()} is looked up again and again, and nothing comes of it."
        yield Finding("network.dns", why, exhibits(asked), certainty="possible", question=QUESTION)


def _lasts(job: Job, name: str, asked: list[Event]) -> bool:
    """Whether the file shows it for long, and ends with it."""
    own = [e for e in asked if e.source == name and e.time is not None]
    source = next(s for s in job.sources if s.name == name)
    last = max((line.number for line in source.tail() if line.message.strip()), default=0)
    times = [e.time for e in own if e.time is not None]
    return len(own) >= FEWEST and max(times) - min(times) >= LASTING_S and max(e.line or 0 for e in own) == last
