"""How rules read lines, remembered by the kind of line for all sources: thousands of ranks print the same messages.

Lines of one kind differ only in digits that no pattern asks for, so a form that matches one of them matches all, and its
captures stand at the same places.
"""

from __future__ import annotations

from typing import NamedTuple

from ..lines.shapes import Kind

MAX_REMEMBERED = 10_000  # then all is forgotten

Key = tuple[tuple[int, ...], Kind, int]  # forms, kind, first byte: seconds since 1970 begin with 1 or 2, not any number


class Reading(NamedTuple):
    """Which form matches a line, and where in its text what is captured stands."""

    form: int  # index among the rule's
    spans: tuple[tuple[str, int, int], ...]  # by name; what captures nothing is left out

    def captures(self, text: str) -> dict[str, str | None]:
        """Yield what the form captures of a line of the kind."""
        return {name: text[start:stop] for name, start, stop in self.spans}


NO_MATCH = Reading(-1, ())


class Readings:
    """By forms and kind of line: how such lines are read."""

    def __init__(self) -> None:
        self._known: dict[Key, Reading] = {}
        self.get = self._known.get

    def keep(self, key: Key, reading: Reading) -> None:
        """Remember how lines of a kind are read."""
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        self._known[key] = reading
