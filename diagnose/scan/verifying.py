"""Whether a rule's pattern holds on a passage that one of its literals stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalogue.matcher import PatternTimeout, read_fields
from ..catalogue.rule import Form
from ..lines.shapes import Kind
from .kept import Hit
from .passages import Passage
from .scan_rules import NO_MATCH, Reading, RuleForms, ScanRules
from .windows import decode, is_frame

if TYPE_CHECKING:
    import regex

QUOTED_STARTS = ("+ ", "++ ", "│", "❱", "┃")  # echoes of `set -x`, frames of rich boxes: quoted code …
ASKS_FOR_ECHO = (r"^\+", r"^(?:\+")  # … that is evidence for a pattern only which asks for a command by its `+`


class Verifier:
    """Asks patterns; remembers which rules' patterns ran out of time."""

    def __init__(self, rules: ScanRules) -> None:
        self._matcher = rules.main
        self._readings = rules.readings
        self.timeouts: set[str] = set()

    def verify(
        self, passage: Passage, rule: RuleForms, forms: tuple[int, ...], kind: Kind | None = None
    ) -> tuple[Hit | None, bool]:
        """Yield the hit, if there is one; and whether this says the same of every line of the passage's kind.

        `kind`: of the line that the passage is, by which it is remembered how such lines are read.
        """
        if not rule.is_line:
            return self._found(passage, rule, forms), True
        key = (forms, kind, passage.block.data[passage.at]) if kind is not None and rule.marks is not None else None
        known = self._readings.get(key) if key is not None else None
        if known is not None:
            return self._as_before(passage, rule, known)
        match, index, form, has_time = self._search(passage, rule, forms)
        first, pieces = passage.pieces()
        if match is None:
            if key is not None and has_time:
                self._readings.keep(key, NO_MATCH)
            return None, has_time
        if _is_quoted(passage):
            return None, False
        if key is not None and has_time and len(pieces) == 1:
            self._readings.keep(key, _reading(form, match, len(pieces[0][0])))
        return Hit(rule.rule.id, form, passage.number(), first + index, read_fields(rule.rule, match.groupdict())), has_time

    def _found(self, passage: Passage, rule: RuleForms, forms: tuple[int, ...]) -> Hit:
        """The hit of a rule that more than a line verifies later."""
        candidates = [self._matcher.candidates[n] for n in forms]
        first, pieces = passage.pieces()
        found = ((i, c) for c in candidates for i, (_, message) in enumerate(pieces) if _holds(c.form, message))
        index, candidate = next(found, (0, candidates[0]))
        return Hit(rule.rule.id, candidate.index, passage.number(), first + index, None)

    def _as_before(self, passage: Passage, rule: RuleForms, known: Reading) -> tuple[Hit | None, bool]:
        """What a line of a known kind says."""
        if known is NO_MATCH:
            return None, True
        if _is_quoted(passage):
            return None, False
        fields = read_fields(rule.rule, known.captures(passage.raw().decode("utf-8", "replace")))
        return Hit(rule.rule.id, known.form, passage.number(), 0, fields), True

    def _search(
        self, passage: Passage, rule: RuleForms, forms: tuple[int, ...]
    ) -> tuple[regex.Match[str] | None, int, int, bool]:
        """The first match, in which piece, of which form of the rule, and whether no pattern ran out of time."""
        has_time = True
        for index, (prefix, message) in enumerate(passage.pieces()[1]):
            is_quoted = message.startswith(QUOTED_STARTS)
            for candidate in (self._matcher.candidates[n] for n in forms):
                if is_quoted and not candidate.form.pattern.startswith(ASKS_FOR_ECHO):
                    continue
                try:
                    match = self._matcher.verify_line(candidate, message, prefix)
                except PatternTimeout:
                    self.timeouts.add(rule.rule.id)
                    has_time = False
                    continue
                if match is not None:
                    return match, index, candidate.index, has_time
        return None, 0, 0, has_time


def _reading(form: int, match: regex.Match[str], shift: int) -> Reading:
    """How a line is read in which the message begins behind so many characters."""
    names = [name for name, text in match.groupdict().items() if text is not None]
    return Reading(form, tuple((name, match.start(name) + shift, match.end(name) + shift) for name in names))


def _is_quoted(passage: Passage) -> bool:
    """Whether the line before is a traceback's frame, so that this one is source code."""
    block = passage.block
    if not block.may_follow_frame(passage.at):
        return False
    if passage.at != passage.line()[0] or (passage.at == 0 and block.continues):
        return False
    before = block.line_before(passage.at)
    return b'File "' in before and is_frame(decode(before))


def _holds(form: Form, message: str) -> bool:
    text = message.lower() if form.ignore_case else message
    return any((x.lower() if form.ignore_case else x) in text for x in form.literals)
