"""The events of a job by what they tell, sorted out once: dozens of questions ask for each kind, some of them per rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .event import FAILING, Event

J = TypeVar("J")
T = TypeVar("T")


@dataclass(slots=True)
class Index:
    """Events by what they tell, errors that count, and what follows from them; made anew where events have changed."""

    _told: dict[str, list[tuple[int, Event]]] = field(default_factory=dict)  # by what is told: with places in order
    _failing: list[Event] | None = None
    _answers: dict[Callable[..., Any], Any] = field(default_factory=dict)
    _of: tuple[int, ...] = ()  # how many events, and of each kind set aside, there were then

    def forget(self) -> None:
        """Look anew when asked next: events have got other roles."""
        self._of = ()

    def failing(self, events: Sequence[Event], earlier: Sequence[Event], survived: Sequence[Event]) -> list[Event]:
        """Yield the errors less those set aside, in order, in a list of the caller's own."""
        self._sort(events, earlier, survived)
        if self._failing is None:
            dropped = {*earlier, *survived}
            self._failing = [e for e in events if e.role in FAILING and e not in dropped]
        return self._failing[:]

    def telling(self, events: Sequence[Event], *aside: Sequence[Event], tells: Sequence[str]) -> list[Event]:
        """Yield the events that tell one of these things, less earlier ones, in order, in a list of the caller's own."""
        self._sort(events, *aside)
        told = [self._told[name] for name in dict.fromkeys(tells) if name in self._told]
        found = told[0] if len(told) == 1 else sorted((x for pairs in told for x in pairs), key=lambda pair: pair[0])
        return [event for _, event in found]

    def once(self, events: Sequence[Event], *aside: Sequence[Event], question: Callable[[J], T], job: J) -> T:
        """Yield what a question answers of the job; it is asked once as long as the events stay the same."""
        self._sort(events, *aside)
        if question not in self._answers:
            self._answers[question] = question(job)
        answer: T = self._answers[question]
        return answer

    def _sort(self, events: Sequence[Event], earlier: Sequence[Event], survived: Sequence[Event]) -> None:
        of = (len(events), len(earlier), len(survived))
        if self._of == of:
            return
        dropped = set(earlier)
        self._told, self._failing, self._answers, self._of = {}, None, {}, of
        for place, event in enumerate(events):
            if event.rule.tells is not None and event not in dropped:
                self._told.setdefault(event.rule.tells, []).append((place, event))
