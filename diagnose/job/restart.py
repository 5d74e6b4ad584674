"""Where a launcher started anew though no line says so: it had ended the processes, and yet the job went on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING

from .event import FAILING, Event
from .process import last_signs

if TYPE_CHECKING:
    from .job import Job

HISTORY_S = 120.0  # longer than ranks go on after one of them has died
LATE_LINES = 60  # more than what is printed late
Place = tuple[str, str | None]  # file and host


def restarted_until(job: Job, numbered: Set[str]) -> dict[Place, int]:
    """Yield by file and host the line above which all is of processes that were ended and started anew."""
    sent = [e for e in job.telling("signal-sent") if e.fields.get("pid") is not None]
    ended = {(e.source, e.host) for e in sent}
    exits = (e for e in job.telling("exit") if e.role in FAILING and e.fields.get("pid") is not None)
    ends = [*(e for e in exits if (e.source, e.host) in ended), *sent]
    ends = [e for e in ends if e.attempt < job.attempt or e.source not in numbered]
    until: dict[Place, int] = {}
    for end in _answered(ends, [*last_signs(job.sources)], _last_births(job.telling("identity"))) if ends else ():
        place = (end.source, end.host)
        until[place] = max(until.get(place, 0), end.line or 0)
    return until


def _last_births(told: Iterable[Event]) -> dict[Place, int]:
    """By file and host: the last line but one in which a rank says who it is, as each does once when it starts."""
    born: dict[Place, list[int]] = {}
    for birth in (e for e in told if e.rank is not None):
        born.setdefault((birth.source, birth.host), []).append(birth.line or 0)
    return {place: sorted(lines)[-2] for place, lines in born.items() if len(lines) > 1}


def _answered(ends: Sequence[Event], signs: Sequence[Event], births: dict[Place, int]) -> Iterable[Event]:
    of_host: dict[str, list[Event]] = {}
    for sign in signs:
        of_host.setdefault(sign.host or "", []).append(sign)
    for end in ends:
        own = [*of_host.get(end.host, ()), *of_host.get("", ())] if end.host else signs
        if births.get((end.source, end.host), 0) > (end.end_line or 0) or any(_goes_on(end, sign) for sign in own):
            yield end


def _goes_on(end: Event, sign: Event) -> bool:
    """Whether a step is printed so much later that it is not of the processes which were ended."""
    is_here = sign.source == end.source
    if sign.attempt < end.attempt or (is_here and (sign.line or 0) < (end.line or 0)):
        return False  # whatever the clocks say: a launcher and a trainer may print the times of two zones
    if end.time is not None and sign.time is not None and sign.stamp is not None:
        return sign.time > end.time + HISTORY_S
    return is_here and (sign.line or 0) > (end.end_line or 0) + LATE_LINES
