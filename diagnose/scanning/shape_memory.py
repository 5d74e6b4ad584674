"""What became of lines, remembered by their kind: lines repeat with other numbers.

Lines of one kind have the same shape, and the digits that the rules in question ask for stand at the same places in
them. By literals and kind: that no rule matches such lines, or by speaker the slots in which they wait. By forms and
kind: whether they match.
"""

from __future__ import annotations

from ..prefixes import speaker_spans
from .scan_rules import RuleForms, RuleGroup
from .shapes import DIGITS, MAX_SHAPE_BYTES, places_of
from .slots import Slot

MAX_REMEMBERED = 15_000

Kind = tuple[bytes, tuple[int, ...]]  # shape, and where the digits stand that patterns ask for
Places = list[tuple[Slot, tuple[int, ...], bool]]  # where a line waits: slot, forms, whether it is sure to match


class Fate:
    """What becomes of lines of one kind with the same literals."""

    __slots__ = ("_spans", "places")

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._spans = spans  # where such a line says who speaks
        self.places: dict[bytes, Places] = {}  # by speaker; none: no rule matches

    def speaker(self, line: bytes) -> bytes:
        """Yield a name for the line's speaker, by which lines of this kind differ if their speakers do."""
        if len(self._spans) == 1:
            start, end = self._spans[0]
            return line[start:end]
        return b"".join([line[start:end] for start, end in self._spans])


class ShapeMemory:
    """Bounded: once it holds too much it forgets all."""

    def __init__(self) -> None:
        self.fates: dict[tuple[tuple[int, ...], Kind], Fate] = {}
        self.matches: dict[tuple[tuple[int, ...], Kind], bool] = {}

    def learn(self, rule: RuleForms, kind: Kind | None, *, is_match: bool) -> bool:
        """Remember whether lines of a kind match; tell whether that could be done."""
        if kind is None or rule.marks is None:
            return False
        if len(self.fates) + len(self.matches) > MAX_REMEMBERED:
            self.fates.clear()
            self.matches.clear()
        self.matches[(rule.forms, kind)] = is_match
        return True

    def know(
        self, literals: tuple[int, ...], kind: Kind, line: bytes, places: Places, ranks: list[tuple[int, int]]
    ) -> None:
        """Remember what becomes of lines of this kind; `ranks`: where the line names those that tell speakers apart."""
        fate = self.fates.get((literals, kind))
        if fate is None:
            spans = [*speaker_spans(line[:256]), *ranks] if places else []
            fate = self.fates[(literals, kind)] = Fate(spans)
        if places:
            fate.places[fate.speaker(line)] = places


def kind_of(line: bytes, group: RuleGroup) -> Kind | None:
    """Yield the kind of a line for what its literals may mean; None for one that is too long."""
    if len(line) > MAX_SHAPE_BYTES:
        return None
    return line.translate(DIGITS), places_of(group.marks, line) if group.marks else ()
