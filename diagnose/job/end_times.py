"""When an error without a time was raised at the latest: its launcher told of the end that came of it.

A traceback prints no time. That of the line above it is the earliest that it can be, and lies far back where the job had
stood still; a launcher tells of a process that has died within seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .event import FAILING, Event
from .job import Job

ENDS = frozenset(("exit", "signal-sent", "signal-received"))


def bound_times(job: Job) -> None:
    """Fill in `told_at` of what failed and printed no time, where the end that it led to was told with one."""
    ends = _ends_of_ranks(job)
    last_sign = {s.name: s.last_sign_line or 0 for s in job.sources}
    by_source: dict[str, list[Event]] = defaultdict(list)
    for e in job.events:
        by_source[e.source].append(e)
    for name, events in by_source.items():
        for e, below in _with_end_below(events):
            if (e.line or 0) > last_sign[name]:  # else the job went on after it
                at = ends.get((e.rank, e.attempt), below) if e.rank is not None else below
                e.told_at = at if at is not None and e.time is not None and at > e.time else None


def _ends_of_ranks(job: Job) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for e in job.telling("exit"):
        if e.rank is not None and e.time is not None and e.has_own_time:
            key = e.rank, e.attempt
            found[key] = min(e.time, found.get(key, e.time))
    return found


def _with_end_below(events: Iterable[Event]) -> Iterable[tuple[Event, float | None]]:
    """Yield what failed without a time, with when the next line that prints one told of an end."""
    below: float | None = None
    for e in sorted(events, key=lambda e: e.line or 0, reverse=True):
        if e.has_own_time:
            below = e.time if e.rule.tells in ENDS else None
        elif e.role in FAILING:
            yield e, below
