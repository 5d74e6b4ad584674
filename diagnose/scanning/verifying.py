"""Whether a rule's pattern holds on a passage that one of its literals stands in."""

from __future__ import annotations

from ..matcher import Matcher, PatternTimeout, read_fields
from ..rule import Form
from ..scan import Hit
from .passages import Passage
from .scan_rules import RuleForms
from .windows import decode, is_frame

QUOTED_STARTS = ("+ ", "++ ", "│", "❱", "┃")  # echoes of `set -x`, frames of rich boxes: quoted code …
ASKS_FOR_ECHO = (r"^\+", r"^(?:\+")  # … that is evidence for a pattern only which asks for a command by its `+`


class Verifier:
    """Asks patterns; remembers which rules' patterns ran out of time."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.timeouts: set[str] = set()

    def verify(self, passage: Passage, rule: RuleForms, forms: tuple[int, ...]) -> tuple[Hit | None, bool]:
        """Yield the hit, if there is one; and whether this says the same of every line of the passage's kind."""
        candidates = [self._matcher.candidates[n] for n in forms]
        first, pieces = passage.pieces()
        if not rule.is_line:
            found = ((i, c) for c in candidates for i, (_, message) in enumerate(pieces) if _holds(c.form, message))
            index, candidate = next(found, (0, candidates[0]))
            return Hit(rule.rule.id, candidate.index, passage.number(), first + index, None), True
        has_time = True
        for index, (prefix, message) in enumerate(pieces):
            is_quoted = message.startswith(QUOTED_STARTS)
            for candidate in candidates:
                if is_quoted and not candidate.form.pattern.startswith(ASKS_FOR_ECHO):
                    continue
                try:
                    match = self._matcher.verify_line(candidate, message, prefix)
                except PatternTimeout:
                    self.timeouts.add(rule.rule.id)
                    has_time = False
                    continue
                if match is not None:
                    if _is_quoted(passage):
                        return None, False
                    fields = read_fields(rule.rule, match.groupdict())
                    return Hit(rule.rule.id, candidate.index, passage.number(), first + index, fields), has_time
        return None, has_time


def _is_quoted(passage: Passage) -> bool:
    """Whether the line before is a traceback's frame, so that this one is source code."""
    block = passage.block
    if passage.at != block.line_start(passage.at) or (passage.at == 0 and block.continues):
        return False
    before = block.line_before(passage.at)
    return b'File "' in before and is_frame(decode(before))


def _holds(form: Form, message: str) -> bool:
    text = message.lower() if form.ignore_case else message
    return any((x.lower() if form.ignore_case else x) in text for x in form.literals)
