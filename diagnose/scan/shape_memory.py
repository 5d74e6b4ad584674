"""What became of lines, remembered by their kind: lines repeat with other numbers.

Lines of one kind have the same shape, and the digits that the rules in question ask for stand at the same places in
them. By literals and kind: that no rule matches such lines, or by speaker the slots in which they wait.
"""

from __future__ import annotations

from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, Kind, Spots
from .scan_rules import RuleGroup, ScanRules
from .slots import Slot
from .voices import speaker_spans

MAX_REMEMBERED = 15_000

Place = tuple[Slot, tuple[int, ...], bool]  # where a line waits: slot, forms, whether it is sure to match


class Waits:
    """Where lines of one kind by one speaker wait, and where such lines begin in the block that is being read."""

    __slots__ = ("places", "starts")

    def __init__(self, places: list[Place]) -> None:
        self.places = places
        self.starts: list[int] = []


NOWHERE = Waits([])


class Fate:
    """What becomes of lines of one kind with the same literals."""

    __slots__ = ("_spans", "waits")

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._spans = spans  # where such a line says who speaks
        self.waits: dict[bytes, Waits] = {}  # by speaker; none: no rule matches

    def speaker(self, line: bytes) -> bytes:
        """Yield a name for the line's speaker, by which lines of this kind differ if their speakers do."""
        spans = self._spans
        if len(spans) == 1:
            start, end = spans[0]
            return line[start:end]
        return b"".join([line[start:end] for start, end in spans]) if spans else b""


class Meaning:
    """What some literals in one line may mean, and what became of such lines."""

    __slots__ = ("_spots", "fates", "marks", "rules")

    def __init__(self, group: RuleGroup) -> None:
        self.rules = group.rules
        self.marks = group.marks
        self.fates: dict[Kind, Fate] = {}
        self._spots: dict[bytes, Spots] = {}  # by shape

    def kind(self, shape: bytes, line: bytes) -> Kind:
        """Yield the kind of a line where there are marks."""
        spots = self._spots.get(shape)
        if spots is None:
            if len(self._spots) >= MAX_REMEMBERED:
                self._spots.clear()
            spots = self._spots[shape] = Spots(self.marks, shape)
        found = spots.marks_in(line)
        return (shape, found) if found else shape


class ShapeMemory:
    """Bounded: once it holds too much it forgets all."""

    def __init__(self, rules: ScanRules) -> None:
        self._rules = rules
        self._meanings: dict[tuple[int, ...], Meaning] = {}
        self._count = 0

    def meaning(self, literals: tuple[int, ...]) -> Meaning:
        """Yield what literals of one line may mean."""
        found = self._meanings.get(literals)
        if found is None:
            self._make_room()
            found = self._meanings[literals] = Meaning(self._rules.rules_of(literals))
        return found

    def waits_of(self, literals: tuple[int, ...], line: bytes) -> Waits | None:
        """Yield where a line with these literals waits: `NOWHERE` if nothing matches such a line, None if it must be
        looked at. Called for each line with a literal."""
        meaning = self._meanings.get(literals)
        if meaning is None or len(line) > MAX_SHAPE_BYTES:
            return None
        shape = line.translate(DIGITS)
        fate = meaning.fates.get(meaning.kind(shape, line) if meaning.marks else shape)
        if fate is None:
            return None
        return fate.waits.get(fate.speaker(line)) if fate.waits else NOWHERE

    def kind_of(self, meaning: Meaning, line: bytes) -> Kind | None:
        """Yield the kind of a line; None where it is too long."""
        if len(line) > MAX_SHAPE_BYTES:
            return None
        shape = line.translate(DIGITS)
        return meaning.kind(shape, line) if meaning.marks else shape

    def know(self, meaning: Meaning, kind: Kind, line: bytes, places: list[Place], ranks: list[tuple[int, int]]) -> None:
        """Remember what becomes of lines of this kind; `ranks`: where the line names those that tell speakers apart."""
        self._make_room()
        fate = meaning.fates.get(kind)
        if fate is None:
            fate = meaning.fates[kind] = Fate([*speaker_spans(line[:256]), *ranks] if places else [])
        if places:
            fate.waits[fate.speaker(line)] = Waits(places)

    def _make_room(self) -> None:
        self._count += 1
        if self._count > MAX_REMEMBERED:
            self._meanings.clear()
            self._count = 0
