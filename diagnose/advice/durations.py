"""How long slow work took before: each save or evaluation that the logs show whole. A time-out is solved from it.

An end that states its seconds, or an end after the last beginning of the same work by the same rank in the same file.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from .fact_names import LONGEST, Stated

MAX_S = 7 * 86400.0  # longer spans are two runs in one file


def duration_facts(job: Job) -> Iterator[Stated]:
    """Yield the longest whole duration of each kind of slow work, with the line where it ended."""
    longest: dict[str, tuple[float, Event]] = {}
    begun: dict[tuple[str, str, int | None, int], Event] = {}
    for event in job.events:
        activity = str(event.rule.activity)
        if activity not in LONGEST or event.rule.tells not in ("activity", "activity-end"):
            continue
        key = (activity, event.source, event.rank, event.attempt)
        if event.rule.tells == "activity":
            begun.setdefault(key, event)
            continue
        seconds = _seconds(event, begun.pop(key, None))
        if seconds is not None and seconds > longest.get(activity, (0.0, event))[0]:
            longest[activity] = (seconds, event)
    for name, (seconds, last) in sorted(longest.items()):
        yield Stated(LONGEST[name], round(seconds, 1), last.source, last.line, 3)


def _seconds(end: Event, start: Event | None) -> float | None:
    """As the line states it, else from its beginning; None where no clock tells."""
    stated = end.fields.get("seconds")
    if isinstance(stated, (int, float)) and not isinstance(stated, bool):
        return float(stated)
    if start is None or start.time is None or end.time is None:
        return None
    return end.time - start.time if 0 < end.time - start.time < MAX_S else None
