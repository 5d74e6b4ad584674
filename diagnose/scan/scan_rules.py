"""A catalogue as the scanner uses it: all literals in one automaton, and what each of them may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..catalogue.automaton import Found, Literal, automaton_apart
from ..catalogue.load import Catalogue
from ..catalogue.matcher import Matcher, read_fields
from ..catalogue.rule import Form, Rule
from ..lines.cache import tables
from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, Kind, Spots, digit_marks, marks_at, spots_of
from ..sources.escapes import TAG_LITERALS, is_tagged_within
from ..sources.normalise import DRESS_LITERALS, Marks, marks_at_start
from .kept import Hit
from .progress import ProgressLines

TRACEBACK, STACK, REPORT = "~traceback", "~stack", "~report"  # not rules: marks that open a window
MARKS = Path(__file__).with_name("marks.yaml")
NUL = b"\x00"  # the native library takes no literal with it
_DRESS = tuple(x for x in DRESS_LITERALS if x != NUL)
_TAGS = frozenset(TAG_LITERALS)


class ScanRules:
    """A catalogue's rules, to be looked for in one pass, with marks of tracebacks and stacks; signs of life beside it."""

    def __init__(self, catalogue: Catalogue | Sequence[Rule], key: str = "") -> None:
        rules = list(catalogue.rules.values() if isinstance(catalogue, Catalogue) else catalogue)
        # Who is asked of whole tracebacks only is left out: its literals (`Error`) stand on far too many lines.
        asked = (r for r in rules if r.tells != "progress" and not (r.generic and r.match == "traceback"))
        self.main = Matcher([*asked, *mark_rules()])
        self.progress = ProgressLines(Matcher([r for r in rules if r.tells == "progress"]))
        self._meanings: dict[tuple[int, ...], Meaning] = {}  # by literals
        self._remembered = 0  # meanings, and kinds of lines
        self.key = catalogue.key if isinstance(catalogue, Catalogue) else key
        self._all_rules = rules
        self._numbers = {rule: n for n, rule in enumerate(sorted({c.rule.id for c in self.main.index.candidates}))}
        self._marks: dict[int, tuple[bytes, ...] | None] = {}  # by candidate
        self._scanned: tuple[bytes, Found] = (b"", [])

    @cached_property
    def _find(self) -> Callable[[bytes], tuple[Found, Found]]:
        return automaton_apart(self.literals, len(self.main.index.literals), is_lasting=True)

    @property
    def literals(self) -> list[Literal]:
        """All that is looked for in one pass: the rules' literals, then the marks of a collector's dress."""
        return [*self.main.index.literals, *(Literal(x, False, True) for x in _DRESS)]

    def find(self, data: bytes) -> Found:
        """Yield (end, literal) of the rules' literals."""
        if self._scanned[0] is not data:
            self.marks_of(data)
        found = self._scanned[1]
        self._scanned = (b"", [])
        return found

    def marks_of(self, data: bytes) -> Marks:
        """Yield the marks of a collector's dress in a block; what else was found is kept for `find`."""
        found, dress = self._find(data)
        self._scanned = (data, found)
        marks = marks_at_start(data) | {_DRESS[n] for _, n in dress}
        if marks and marks <= _TAGS and not is_tagged_within(data):
            marks.clear()  # mpirun puts one on each line; only a second one is more than a prefix
        if NUL in data:
            marks.add(NUL)
        return marks

    def literals_in(self, data: bytes) -> list[tuple[int, int]]:
        """Yield where the rules' literals begin and end in a short text."""
        return [(end - len(self.main.index.literals[n].text), end) for end, n in self._find(data)[0]]

    @property
    def rules(self) -> list[Rule]:
        """The rules with what a scan needs of them, for worker processes."""
        dropped: dict[str, Any] = {"counter_examples": (), "references": (), "table": None, "says": "", "why": ""}
        return [replace(r, forms=tuple(replace(f, examples=()) for f in r.forms), **dropped) for r in self._all_rules]

    def meaning(self, literals: tuple[int, ...]) -> Meaning:
        """Yield what literals of one line may mean."""
        found = self._meanings.get(literals)
        if found is None:
            self._remember()
            found = self._meanings[literals] = Meaning(self._rules_of(literals))
        return found

    def keep(self, meaning: Meaning, kind: Kind, readings: list[Reading]) -> None:
        """Remember how lines of a kind are read."""
        self._remember()
        meaning.known[kind] = tuple(readings)

    def _remember(self) -> None:
        self._remembered += 1
        if self._remembered > MAX_REMEMBERED:
            self._meanings.clear()
            self._remembered = 0

    def _rules_of(self, literals: tuple[int, ...]) -> tuple[RuleForms, ...]:
        """Yield the rules that literals of one passage may mean, by their ids."""
        forms: dict[str, list[int]] = {}
        for number in sorted({n for x in literals for n in self.main.index.owners[x]}):
            forms.setdefault(self.main.index.candidates[number].rule.id, []).append(number)
        return tuple(self._rule_forms(tuple(numbers)) for _, numbers in sorted(forms.items()))

    def _rule_forms(self, forms: tuple[int, ...]) -> RuleForms:
        rule = self.main.index.candidates[forms[0]].rule
        is_line = rule.match not in ("block", "traceback", "stack")
        marks = [self._marks_of(n) for n in forms] if is_line else []
        all_marks = None if None in marks else tuple(sorted({m for own in marks for m in own or ()}))
        near = "line" if rule.role in ("context", "harmless") else "near"
        of_marks = {TRACEBACK: "traceback", STACK: "stack", REPORT: "line"}
        of_rules = {"block": f"block:{rule.lines}", "traceback": "rest", "stack": "stack"}
        want = of_marks.get(rule.id) or of_rules.get(rule.match, near)
        return RuleForms(self._numbers[rule.id], rule, forms, want, is_line, rule.census, all_marks)

    def _marks_of(self, number: int) -> tuple[bytes, ...] | None:
        if number not in self._marks:
            form = self.main.index.candidates[number].form
            marks = [digit_marks(pattern) for pattern in (form.prefix, form.pattern) if pattern is not None]
            self._marks[number] = None if None in marks else tuple(sorted({m for own in marks for m in own or ()}))
        return self._marks[number]


@cache
def mark_rules() -> list[Rule]:
    """Yield what opens a window as rules that match wherever one of their texts stands."""
    return [  # of threads each is a speaker: a file may hold the stacks of a thousand ranks
        Rule(name, "context", "stack", "", (Form(tuple(literals), ""),), "", id=name, census=name == STACK)
        for name, literals in tables(MARKS).items()
    ]


# --- lines that are alike ------------------------------------------------------------------------------------------
# Lines of one kind have the same literals and shape, and the digits that the rules in question ask for stand at the same
# places in them: the same rules match them, and capture the same places. Without it reading real logs takes 13 % longer.

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
        """Yield the kind of a line; None where it is too long, or kinds decide nothing."""
        if not self.is_told or len(line) > MAX_SHAPE_BYTES:
            return None
        shape = line[:1] + line.translate(DIGITS)  # seconds since 1970 begin with 1 or 2, not with any number
        if not self._marks:
            return shape
        spots = self._spots.get(shape)
        if spots is None:
            if len(self._spots) >= MAX_REMEMBERED:
                self._spots.clear()
            spots = self._spots[shape] = spots_of(self._marks, shape[1:])
        found = marks_at(spots, line)
        return (shape, found) if found else shape
