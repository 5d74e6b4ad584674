"""A catalogue as the scanner uses it: all literals in one automaton, and what each of them may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property

from ..catalogue.automaton import Found, Literal, automaton_apart
from ..catalogue.load import Catalogue
from ..catalogue.matcher import Matcher
from ..catalogue.rule import Form, Rule
from ..lines.shapes import digit_marks
from ..sources.escapes import TAG_LITERALS, is_tagged_within
from ..sources.normalise import DRESS_LITERALS, RECORD_MARKS, Marks, marks_at_start
from .progress import ProgressLines
from .readings import Readings, RuleForms

TRACEBACK, STACK, REPORT = "~traceback", "~stack", "~report"  # not rules: marks that open a window
MARKS = {  # text that opens a traceback or a dump of stacks, or stands at both ends of a report of ours
    TRACEBACK: ("Traceback (most recent call last", "Original Traceback", "terminate called after throwing"),
    STACK: (
        "(most recent call first)",
        "(active)",
        "(idle)",
        "(active+gil)",
        "(LWP ",
        "Exception raised from ",
        "Traceback for thread ",
        "TID ",
        "#0  0x",
    ),
    REPORT: (" FAILED  ", " HUNG  ", " RECOVERED  ", " UNFINISHED  ", "Inputs read: "),
}
NUL = b"\x00"  # the native library takes no literal with it
_DRESS = tuple(x for x in DRESS_LITERALS if x != NUL)
_TAGS = frozenset(TAG_LITERALS)


class ScanRules:
    """A catalogue's rules, to be looked for in one pass, with marks of tracebacks and stacks; signs of life beside it."""

    def __init__(self, catalogue: Catalogue | Sequence[Rule], key: str = "") -> None:
        rules = list(catalogue.rules.values() if isinstance(catalogue, Catalogue) else catalogue)
        marks = [_mark(name, literals) for name, literals in MARKS.items()]
        self.main = Matcher([*(r for r in rules if r.tells != "progress" and not _is_catch_all(r)), *marks])
        self.progress = ProgressLines(Matcher([r for r in rules if r.tells == "progress"]))
        self.readings = Readings(self._rules_of)
        self.key = catalogue.key if isinstance(catalogue, Catalogue) else key
        self._all_rules = rules
        self._numbers = {rule: n for n, rule in enumerate(sorted({c.rule.id for c in self.main.candidates}))}
        self._marks: dict[int, tuple[bytes, ...] | None] = {}  # by candidate
        self._scanned: tuple[bytes, Found] = (b"", [])

    @cached_property
    def _find(self) -> Callable[[bytes], tuple[Found, Found]]:
        dress = [Literal(x, False, x not in RECORD_MARKS) for x in _DRESS]
        return automaton_apart(self.main.literals, dress, is_lasting=True)

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
        marks = marks_at_start(data)
        for end, n in dress:
            marks.setdefault(_DRESS[n], []).append(end)
        if marks and marks.keys() <= _TAGS and not is_tagged_within(data):
            marks.clear()  # mpirun puts one on each line; only a second one is more than a prefix
        if NUL in data:
            marks[NUL] = [0]
        return marks

    def literals_in(self, data: bytes) -> list[tuple[int, int]]:
        """Yield where the rules' literals begin and end in a short text."""
        return [(end - len(self.main.literals[n].text), end) for end, n in self._find(data)[0]]

    @property
    def rules(self) -> list[Rule]:
        """The rules with what a scan needs of them, for worker processes."""
        return [_slim(r) for r in self._all_rules]

    def _rules_of(self, literals: tuple[int, ...]) -> tuple[RuleForms, ...]:
        """Yield the rules that literals of one passage may mean, by their ids."""
        forms: dict[str, list[int]] = {}
        for number in sorted({n for x in literals for n in self.main.owners[x]}):
            forms.setdefault(self.main.candidates[number].rule.id, []).append(number)
        return tuple(self._rule_forms(tuple(numbers)) for _, numbers in sorted(forms.items()))

    def _rule_forms(self, forms: tuple[int, ...]) -> RuleForms:
        rule = self.main.candidates[forms[0]].rule
        is_line = rule.match not in ("block", "traceback", "stack")
        marks = [self._marks_of(n) for n in forms] if is_line else []
        all_marks = None if None in marks else tuple(sorted({m for own in marks for m in own or ()}))
        return RuleForms(self._numbers[rule.id], rule, forms, _want(rule), is_line, rule.census, all_marks)

    def _marks_of(self, number: int) -> tuple[bytes, ...] | None:
        if number not in self._marks:
            form = self.main.candidates[number].form
            marks = [digit_marks(pattern) for pattern in (form.prefix, form.pattern) if pattern is not None]
            self._marks[number] = None if None in marks else tuple(sorted({m for own in marks for m in own or ()}))
        return self._marks[number]


def _want(rule: Rule) -> str:
    if rule.id in (TRACEBACK, STACK):
        return rule.id[1:]
    if rule.id == REPORT:
        return "line"
    if rule.match == "block":
        return f"block:{rule.lines}"
    if rule.match == "traceback":
        return "rest"
    if rule.match == "stack":
        return "stack"
    return "line" if rule.role in ("context", "harmless") else "near"


def _is_catch_all(rule: Rule) -> bool:
    """Whether it is asked of whole tracebacks only: its literals (`Error`) stand on far too many lines."""
    return rule.generic and rule.match == "traceback"


def _slim(rule: Rule) -> Rule:
    forms = tuple(replace(f, examples=()) for f in rule.forms)
    return replace(rule, forms=forms, counter_examples=(), references=(), table=None, says="", why="")


@cache
def _mark(name: str, literals: tuple[str, ...]) -> Rule:
    # Of threads each is a speaker: a file may hold the stacks of a thousand ranks.
    return Rule(name, "context", "stack", "", (Form(literals, ""),), "", id=name, census=name == STACK)
