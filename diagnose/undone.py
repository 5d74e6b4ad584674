"""Which errors a later line says to be over: a pod that found no node was placed, an image that failed was pulled."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .events import Event
    from .job import Job

LISTING = 40  # lines: `kubectl describe` names the pod once, above all of its events


def undone(job: Job) -> set[int]:
    """Return the ids of events whose rule a later event undoes, of the same object."""
    ends: dict[tuple[str, str], list[Event]] = {}  # what is undone and where -> who does, in order
    for event in job.events:
        for rule in event.rule.undoes:
            ends.setdefault((rule, event.source), []).append(event)
    if not ends:
        return set()
    latest = {key: _latest(found) for key, found in ends.items()}
    return {id(e) for e in job.events if _is_over(e, latest.get((e.rule.id, e.source), {}))}


def _latest(ends: list[Event]) -> dict[str | None, int]:
    """The last line on which each object is said to be well; None for a line that names none, and for any."""
    found: dict[str | None, int] = {}
    for end in ends:
        for pod in {end.fields.get("pod"), None}:
            found[pod] = max(found.get(pod, 0), end.line or 0)
    return found


def _is_over(event: Event, latest: dict[str | None, int]) -> bool:
    line, pod = event.end_line or 0, event.fields.get("pod")
    if pod is not None and pod in latest:
        return latest[pod] > line
    return line < latest.get(None, 0) <= line + LISTING and pod is None
