"""What a correlator concludes from many ranks together, with the lines that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, Literal

from ..job.event import Event
from ..lines.prefix import Line
from ..lines.record import record

Certainty = Literal["certain", "likely", "possible"]
MOST_RANKS = 1 << 17  # no job has more; a larger number in a message is not counted up to


@record
class Exhibit:
    """One place in the logs that is shown as proof."""

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


@record
class Finding:
    """A cause that no single line states. `why` is one sentence with the numbers."""

    cause: str
    why: str
    exhibits: tuple[Exhibit, ...]
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    certainty: Certainty = "likely"
    onset: float | None = None
    fields: dict[str, Any] = field(default_factory=dict, hash=False)
    question: str = ""  # the correlator that asked
    reads: tuple[str, ...] = ()  # what the lines tell that it is drawn from: they say the same, less exactly


def exhibits(events: Sequence[Event], most: int = 6) -> tuple[Exhibit, ...]:
    """Yield the places of the first `most` events."""
    return tuple(Exhibit.of_event(e) for e in events[:most])
