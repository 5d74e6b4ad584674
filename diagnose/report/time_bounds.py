"""Which times are only bounds: a line that prints none has that of a line near it, and a wait of half an hour lies between.

A watchdog says how long it had waited. Without a clock of its own its report, and what follows from it, was told long after
the line above; what stands above the first clock of a file was told before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ..job.event import Event
from ..job.job import Job

EARLIEST, LATEST = "earliest", "latest"


def bounded_times(job: Job) -> Mapping[int, str]:
    """Yield, by the identity of an event, whether its time is the earliest or the latest that it can be."""
    by_source: dict[str, list[Event]] = defaultdict(list)
    for event in job.events:
        by_source[event.source].append(event)
    found: dict[int, str] = {}
    for events in by_source.values():
        found |= _of_source(sorted(events, key=lambda e: e.line or 0))
    return found


def _of_source(events: list[Event]) -> dict[int, str]:
    found: dict[int, str] = {}
    behind = None  # the clock behind which somebody waited
    for event in events:
        if event.has_own_time:
            behind = None
        if not _takes_its_time(event):
            continue
        if event.near_is_below:
            found[id(event)] = LATEST
        elif event.rule.onset not in (None, "unknown") or (behind is not None and behind == event.near):
            found[id(event)], behind = EARLIEST, event.near
    return found


def _takes_its_time(event: Event) -> bool:
    """Whether its time is that of another line."""
    is_told = event.has_own_time or event.timed_by_copy
    return event.time is not None and event.near is not None and not is_told
