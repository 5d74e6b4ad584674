"""What the events of a job tell, sorted out once: dozens of questions ask for each kind, some of them for each rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .event import Event

J = TypeVar("J")
T = TypeVar("T")


@dataclass(slots=True)
class Told:
    """Events by what they tell, less those of earlier attempts; and what follows from them."""

    _places: dict[str, list[int]] = field(default_factory=dict)  # by what is told: places among all events, in order
    _events: dict[str, list[Event]] = field(default_factory=dict)  # the same events
    _answers: dict[Callable[..., Any], Any] = field(default_factory=dict)
    _of: tuple[int, int] = (0, 0)  # how many events, and earlier ones, there were then

    def among(self, events: Sequence[Event], earlier: Sequence[Event], tells: Sequence[str]) -> list[Event]:
        """Yield the events that tell one of these things in order, in a list of the caller's own."""
        self._sort(events, earlier)
        names = [name for name in dict.fromkeys(tells) if name in self._events]
        if len(names) == 1:
            return self._events[names[0]][:]
        found = (pair for name in names for pair in zip(self._places[name], self._events[name], strict=True))
        return [event for _, event in sorted(found)]

    def once(self, events: Sequence[Event], earlier: Sequence[Event], question: Callable[[J], T], job: J) -> T:
        """Yield what a question answers of the job; it is asked once as long as the events stay the same."""
        self._sort(events, earlier)
        if question not in self._answers:
            self._answers[question] = question(job)
        answer: T = self._answers[question]
        return answer

    def _sort(self, events: Sequence[Event], earlier: Sequence[Event]) -> None:
        of = (len(events), len(earlier))
        if self._of == of:
            return
        dropped = {id(e) for e in earlier}
        self._places, self._events, self._answers, self._of = {}, {}, {}, of
        for place, event in enumerate(events):
            tells = event.rule.tells
            if tells is not None and id(event) not in dropped:
                self._places.setdefault(tells, []).append(place)
                self._events.setdefault(tells, []).append(event)
