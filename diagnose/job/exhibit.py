"""One place in the logs that is shown as proof."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ..lines.prefix import Line
from ..lines.record import record
from .event import Event

MOST = 6


@record
class Exhibit:
    """One place in the logs, with what is known of who speaks there."""

    source: str
    line: int | None
    text: str
    rank: int | None = None
    host: str | None = None
    time: float | None = None
    event: Event | None = None
    end_line: int | None = None

    @classmethod
    def of_event(cls, event: Event) -> Exhibit:
        """Yield the place of an event."""
        return cls(event.source, event.line, event.raw, event.rank, event.host, event.time, event, event.end_line)

    @classmethod
    def of_line(cls, source: str, line: Line, rank: int | None, host: str | None) -> Exhibit:
        """Yield the place of a line that no rule knows."""
        return cls(source, line.number, line.raw, rank, host)


def exhibits(events: Iterable[Event], most: int = MOST) -> tuple[Exhibit, ...]:
    """Yield the places of the first `most` events."""
    return tuple(Exhibit.of_event(e) for e in islice(events, most))


def earliest_onset(events: Iterable[Event]) -> float | None:
    """Yield when the first of what these report began, in seconds; None where nobody tells."""
    return min((e.onset for e in events if e.onset is not None), default=None)
