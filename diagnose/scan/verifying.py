"""Whether a rule's pattern holds on a passage that one of its literals stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..catalogue.matcher import PatternTimeout, read_fields
from ..catalogue.rule import Form
from .kept import Hit
from .passages import Passage
from .readings import Reading, RuleForms
from .scan_rules import ScanRules
from .windows import decode, is_frame

if TYPE_CHECKING:
    import regex

QUOTED_STARTS = ("+ ", "++ ", "│", "❱", "┃")  # echoes of `set -x`, frames of rich boxes: quoted code …
ASKS_FOR_ECHO = (r"^\+", r"^(?:\+")  # … that is evidence for a pattern only which asks for a command by its `+`


class Verifier:
    """Asks patterns; remembers which rules' patterns ran out of time."""

    def __init__(self, rules: ScanRules) -> None:
        self._matcher = rules.main
        self.timeouts: set[str] = set()

    def verify(self, passage: Passage, rule: RuleForms) -> tuple[Hit | None, Reading | None, bool]:
        """Yield the hit, if there is one; how a line that is like the passage is read; and whether that holds for all."""
        if not rule.is_line:
            hit = self._found(passage, rule)
            return hit, Reading(rule, hit.form, ()), True
        match, index, form, has_time = self._search(passage, rule)
        if match is None:
            return None, None, has_time
        if _is_quoted(passage):
            return None, None, False
        first, pieces = passage.pieces()
        hit = Hit(rule.rule.id, form, passage.number(), first + index, read_fields(rule.rule, match.groupdict()))
        return hit, _reading(rule, form, match, len(pieces[index][0])), has_time

    def _found(self, passage: Passage, rule: RuleForms) -> Hit:
        """The hit of a rule that more than a line verifies later."""
        candidates = [self._matcher.candidates[n] for n in rule.forms]
        first, pieces = passage.pieces()
        found = ((i, c) for c in candidates for i, (_, message) in enumerate(pieces) if _holds(c.form, message))
        index, candidate = next(found, (0, candidates[0]))
        return Hit(rule.rule.id, candidate.index, passage.number(), first + index, None)

    def _search(self, passage: Passage, rule: RuleForms) -> tuple[regex.Match[str] | None, int, int, bool]:
        """The first match, in which piece, of which form of the rule, and whether no pattern ran out of time."""
        has_time = True
        for index, (prefix, message) in enumerate(passage.pieces()[1]):
            is_quoted = message.startswith(QUOTED_STARTS)
            for candidate in (self._matcher.candidates[n] for n in rule.forms):
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


def _reading(rule: RuleForms, form: int, match: regex.Match[str], shift: int) -> Reading:
    """How a line is read in which the message begins behind so many characters."""
    names = [name for name, text in match.groupdict().items() if text is not None]
    return Reading(rule, form, tuple((name, match.start(name) + shift, match.end(name) + shift) for name in names))


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
