"""How lines are read, remembered by their kind: lines repeat with other numbers, thousands of ranks print the same.

Lines of one kind have the same literals and shape, and the digits that the rules in question ask for stand at the same
places in them: the same rules match them, and capture the same places. Without it reading real logs takes 13 % longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..catalogue.matcher import read_fields
from ..catalogue.rule import Rule
from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, Kind, Spots
from .kept import Hit

MAX_REMEMBERED = 15_000  # kinds of lines, and shapes; then all is forgotten


@dataclass(frozen=True, slots=True, eq=False)
class RuleForms:
    """A rule, and which of its forms a passage's literals allow (as numbers of candidates)."""

    number: int
    rule: Rule
    forms: tuple[int, ...]
    want: str  # of the lines around a hit, in the words of `windows`
    is_line: bool  # one line is enough to verify it
    census: bool
    marks: tuple[bytes, ...] | None  # texts with digits that decide whether a line matches; None: cannot be told


class Reading(NamedTuple):
    """How a rule reads lines of one kind: by which form, and where in the text what it captures stands, by name."""

    rule: RuleForms
    form: int
    spans: tuple[tuple[str, int, int], ...]  # what captures nothing is left out

    def hit(self, line: bytes, number: int) -> Hit:
        """Yield the hit on a line of the kind; where more than a line verifies it, without fields."""
        fields = None
        if self.rule.is_line:
            text = line.decode("utf-8", "replace") if self.spans else ""
            fields = read_fields(self.rule.rule, {name: text[start:stop] for name, start, stop in self.spans})
        return Hit(self.rule.rule.id, self.form, number, 0, fields)


class Meaning:
    """What some literals in one line may mean, and how lines of a kind that has them are read."""

    __slots__ = ("_marks", "_spots", "is_told", "known", "rules")

    def __init__(self, rules: tuple[RuleForms, ...]) -> None:
        self.rules = rules
        self.is_told = all(rule.marks is not None for rule in rules)  # whether kinds decide what matches
        self._marks = tuple(sorted({mark for rule in rules for mark in rule.marks or ()}))
        self._spots: dict[bytes, Spots] = {}  # by shape
        self.known: dict[Kind, tuple[Reading, ...]] = {}

    def kind(self, line: bytes) -> Kind | None:
        """Yield the kind of a line; None where it is too long, or kinds decide nothing.

        The first byte counts: seconds since 1970 begin with 1 or 2, not with any number.
        """
        if not self.is_told or len(line) > MAX_SHAPE_BYTES:
            return None
        shape = line[:1] + line.translate(DIGITS)
        if not self._marks:
            return shape
        spots = self._spots.get(shape)
        if spots is None:
            if len(self._spots) >= MAX_REMEMBERED:
                self._spots.clear()
            spots = self._spots[shape] = Spots(self._marks, shape[1:])
        found = spots.marks_in(line)
        return (shape, found) if found else shape


class Readings:
    """Bounded: once it holds too much it forgets all."""

    def __init__(self, rules_of: Callable[[tuple[int, ...]], tuple[RuleForms, ...]]) -> None:
        self._rules_of = rules_of
        self._meanings: dict[tuple[int, ...], Meaning] = {}
        self._count = 0

    def meaning(self, literals: tuple[int, ...]) -> Meaning:
        """Yield what literals of one line may mean."""
        found = self._meanings.get(literals)
        if found is None:
            self._make_room()
            found = self._meanings[literals] = Meaning(self._rules_of(literals))
        return found

    def keep(self, meaning: Meaning, kind: Kind, readings: list[Reading]) -> None:
        """Remember how lines of a kind are read."""
        self._make_room()
        meaning.known[kind] = tuple(readings)

    def _make_room(self) -> None:
        self._count += 1
        if self._count > MAX_REMEMBERED:
            self._meanings.clear()
            self._count = 0
