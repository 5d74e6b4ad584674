"""The errors of a job that count, sorted out once for the dozens of questions that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .event import FAILING, Event


@dataclass(slots=True)
class Failing:
    """The errors among a job's events, less those set aside."""

    _found: list[Event] = field(default_factory=list)
    _of: tuple[int, ...] = ()  # how many events, and of each kind set aside, there were then

    def among(self, events: Sequence[Event], *aside: Sequence[Event]) -> list[Event]:
        """Yield the errors in order, in a list of the caller's own."""
        of = (len(events), *map(len, aside))
        if self._of != of:
            dropped = {id(e) for some in aside for e in some}
            self._found, self._of = [e for e in events if e.role in FAILING and id(e) not in dropped], of
        return self._found[:]

    def forget(self) -> None:
        """Look anew when asked next: events have got other roles."""
        self._of = ()
