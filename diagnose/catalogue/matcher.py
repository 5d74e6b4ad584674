"""Finds which rules' literals stand in a block of bytes, and verifies a rule's pattern on one message.

Literals find, patterns decide: a literal never changes a result, because each one is proven necessary for its pattern
(`diagnose rules test`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .automaton import Find, Literal, automaton
from .rule import Form, Rule

MAX_MESSAGE_CHARS = 8 * 1024  # a pattern reads this much of a message, whatever the line's length
TIMEOUT_S = 5.0  # the last guard: rules keep to patterns of linear time; wall time, so a busy machine must not fire it
MAX_ANSWERS = 4096  # of rules about texts, kept for the next rank that says the same
NCCL_GOES_ON = "NCCL INFO "
MOST_LISTED = 1 << 16  # ranks that one line names: `0-999999999` is short
TASK = lazy(r"/replica:\d{1,6}/task:(\d{1,7})")


@record
class Candidate:
    """A form of a rule, as the matcher knows it."""

    rule: Rule
    form: Form
    index: int  # which form of the rule


class PatternTimeout(Exception):
    """A pattern ran past its limit; the rule is named in `gaps`."""


class Index(NamedTuple):
    """All forms of some rules, their literals, sorted, and which forms each of these may mean."""

    candidates: tuple[Candidate, ...]
    literals: tuple[Literal, ...]
    owners: tuple[tuple[int, ...], ...]


class Matcher:
    """The literals of many rules in one native automaton, built when first asked."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._compiled: dict[tuple[str, bool, bool], Any] = {}
        self._answers: dict[tuple[str, str], dict[str, Any] | None] = {}
        self._off: set[str] = set()  # patterns that ran out of time

    @cached_property
    def index(self) -> Index:
        """The forms of the rules, by literal."""
        candidates = tuple([Candidate(r, f, i) for r in self._rules for i, f in enumerate(r.forms)])
        by_literal: dict[Literal, list[int]] = {}
        for number, candidate in enumerate(candidates):
            for literal in candidate.form.literals:
                folded = candidate.form.ignore_case
                key = Literal((literal.lower() if folded else literal).encode(), folded)
                by_literal.setdefault(key, []).append(number)
        literals = tuple(sorted(by_literal))
        return Index(candidates, literals, tuple([tuple(by_literal[key]) for key in literals]))

    @cached_property
    def find(self) -> Find:
        """The function from bytes to all (offset just behind a literal, number of the literal), in order of offset."""
        return automaton(self.index.literals)

    def candidates_in(self, text: str) -> list[Candidate]:
        """Yield the forms with a literal in `text`, each once, in catalogue order."""
        found = {n for _, literal in self.find(text.encode("utf-8", "replace")) for n in self.index.owners[literal]}
        return [self.index.candidates[n] for n in sorted(found)]

    def verify(self, form: Form, message: str, prefix: str = "") -> re.Match[str] | None:
        """Yield the match of `form` in the first 8 Ki characters of `message`. Raises `PatternTimeout`.

        A pattern that ran out of time once is not asked again: each line of a stranger's could cost as much.
        """
        if form.pattern in self._off:
            raise PatternTimeout
        try:
            if form.prefix is not None and not self.search(form.prefix, prefix, form):
                return None
            return self.search(form.pattern, message[:MAX_MESSAGE_CHARS], form, ignore_case=form.ignore_case)
        except TimeoutError as error:
            self._off.add(form.pattern)
            raise PatternTimeout from error

    def verify_line(self, candidate: Candidate, message: str, prefix: str) -> re.Match[str] | None:
        """As `verify`; what NCCL logs as INFO it went on after, so a failure is seen in it only by a form that asks for it.

        `NCCL INFO Call to ibv_modify_qp failed with 110 Connection timed out, retrying 1/3` (as a WARN it is the end).
        """
        form, rule = candidate.form, candidate.rule
        if form.prefix is None and rule.role in ("cause", "symptom") and prefix.endswith(NCCL_GOES_ON):
            return None
        return self.verify(form, message, prefix)

    def first_form(self, rule: Rule, text: str) -> dict[str, Any] | None:
        """Yield what the first form of `rule` that matches captures; remembered, for thousands of ranks say the same."""
        key = (rule.id, text)
        if key not in self._answers:
            if len(self._answers) >= MAX_ANSWERS:
                self._answers.clear()
            found = (self.captures(rule, form, text) for form in rule.forms)
            self._answers[key] = next((fields for fields in found if fields is not None), None)
        answer = self._answers[key]
        return None if answer is None else dict(answer)

    def captures(self, rule: Rule, form: Form, text: str) -> dict[str, Any] | None:
        """Yield what a form captures of `text`; None where it does not match, or not in time."""
        if not form.ignore_case and form.prefix is None and not any(map(text.__contains__, form.literals)):
            return None  # no pattern matches without one of its literals, and to look for these costs a tenth
        try:
            match = self.verify(form, text)
        except PatternTimeout:
            return None
        return read_fields(rule, match.groupdict()) if match else None

    def first_of(self, rule: Rule, forms: Sequence[Form], texts: Sequence[str]) -> tuple[dict[str, Any], int] | None:
        """Yield what the first form that matches any of the texts captures, and the number of that text.

        `forms`: those of the rule, in the order in which they are asked.
        """
        asked = ((n, self.captures(rule, form, text)) for form in forms for n, text in enumerate(texts))
        return next(((fields, n) for n, fields in asked if fields is not None), None)

    def search(self, pattern: str, text: str, form: Form, *, ignore_case: bool = False) -> re.Match[str] | None:
        """Yield the first match of a pattern of the form's rule. Raises `TimeoutError`."""
        asked = self._compiled_pattern(pattern, ignore_case, form.is_timed)
        match: re.Match[str] | None = asked.search(text, timeout=TIMEOUT_S) if form.is_timed else asked.search(text)
        return match

    def _compiled_pattern(self, pattern: str, ignore_case: bool, is_timed: bool) -> Any:
        """Yield the compiled pattern; compiled on first use, since most rules never meet a candidate.

        `re` compiles in a quarter of the time of `regex`, which can be given a limit: a quarter of a small log's run.
        """
        key = (pattern, ignore_case, is_timed)
        if key not in self._compiled:
            compile_pattern: Any = re.compile
            if is_timed:
                from regex import compile as compile_pattern
            self._compiled[key] = compile_pattern(pattern, re.IGNORECASE if ignore_case else 0)
        return self._compiled[key]


def read_fields(rule: Rule, groups: dict[str, str | None]) -> dict[str, Any]:
    """Yield the captures in the types that the rule states; a capture that is absent or does not fit is left out."""
    fields: dict[str, Any] = {}
    for name, kind in rule.fields.items():
        text = groups.get(name)
        if text is None:
            continue
        try:
            fields[name] = text if kind == "str" else _typed(kind, text)
        except ValueError:
            continue
    return fields


def _typed(kind: str, text: str) -> Any:
    if kind == "int":
        return int(text.replace(",", ""), 16 if text.startswith("0x") else 10)
    if kind == "float":
        return float(text.replace(",", ""))
    return read_ranks(text) if kind == "ranks" else text


def read_ranks(text: str) -> list[int]:
    """Yield the ranks that a list such as `0, 3-5`, `4 5 6` or JAX's `/job:w/replica:0/task:3` names, sorted."""
    ranks = {int(task) for task in TASK.findall(text)}
    for part in text.replace(",", " ").replace(";", " ").split():
        first, _, last = part.strip("[](){}.").partition("-")
        if first.isdecimal() and (last.isdecimal() or not last) and len(ranks) < MOST_LISTED:
            ranks.update(range(int(first), min(int(last or first), int(first) + MOST_LISTED) + 1))
    return sorted(ranks)
