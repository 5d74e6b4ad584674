"""Which forms match no text of a kind: thousands of ranks raise the same with other addresses and numbers.

Texts of one kind differ only in digits that the form's pattern does not ask for, so it matches all of them or none.
"""

from __future__ import annotations

from .rule import Form, Rule
from .scanning.shapes import DIGITS, MAX_SHAPE_BYTES, digit_marks, places_of

MAX_REMEMBERED = 4_000  # then all is forgotten

MOST_MARKS = 6  # of a rule: to look for more takes longer than to ask its forms one by one

# The pattern of a form, or a rule; the shape, and where digits stand that are asked for.
Kind = tuple[str, str | None, bool, bytes, tuple[tuple[bytes, int], ...]]


class Refusals:
    """By form and kind of text: that it does not match."""

    def __init__(self) -> None:
        self._known: set[Kind] = set()
        self._marks: dict[str, tuple[bytes, ...] | None] = {}  # by pattern, for the second text that it is asked about
        self._asked: set[str] = set()
        self._rule_marks: dict[str, tuple[bytes, ...] | None] = {}  # of all forms of a rule together
        self._last = "", b"", b""  # the text that was asked about, as bytes, and its shape: the next rule asks of it too

    def __contains__(self, kind: Kind | None) -> bool:
        return kind in self._known

    def tell_of(self, form: Form) -> bool:
        """Tell whether the form has refused anything; of one that always matches no kinds need be known."""
        return form.pattern in self._marks

    def tell_of_rule(self, rule: Rule) -> bool:
        """Tell whether all forms of the rule have refused anything."""
        return rule.id in self._rule_marks

    def kind(self, form: Form, text: str) -> Kind | None:
        """Yield the kind of a text for a form; None where it cannot be told, or is not worth it."""
        pattern = form.pattern
        if len(text) > MAX_SHAPE_BYTES:
            return None
        if pattern not in self._marks:
            if pattern not in self._asked:
                self._asked.add(pattern)
                return None
            self._marks[pattern] = digit_marks(pattern)
        marks = self._marks[pattern]
        if marks is None:
            return None
        raw, shape = self._shape(text)
        return pattern, form.prefix, form.ignore_case, shape, places_of(marks, raw) if marks else ()

    def kind_of_rule(self, rule: Rule, text: str) -> Kind | None:
        """Yield the kind of a text for all forms of a rule together; None where it cannot be told, or is not worth it."""
        if len(text) > MAX_SHAPE_BYTES:
            return None
        if rule.id not in self._rule_marks:
            if rule.id not in self._asked:
                self._asked.add(rule.id)
                return None
            self._rule_marks[rule.id] = _all_marks(rule)
        marks = self._rule_marks[rule.id]
        if marks is None:
            return None
        raw, shape = self._shape(text)
        return rule.id, None, False, shape, places_of(marks, raw) if marks else ()

    def _shape(self, text: str) -> tuple[bytes, bytes]:
        """The text as bytes, and its shape."""
        if text is not self._last[0]:
            raw = text.encode("utf-8", "backslashreplace")
            self._last = text, raw, raw.translate(DIGITS)
        return self._last[1:]

    def remember(self, kind: Kind | None) -> None:
        """Remember that a form does not match texts of a kind."""
        if kind is not None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known.add(kind)


def _all_marks(rule: Rule) -> tuple[bytes, ...] | None:
    """The digits that any form of a rule asks for; None where that cannot be told, or where they are many."""
    marks = [digit_marks(form.pattern) for form in rule.forms]
    found = {mark for each in marks for mark in each or ()}
    return None if None in marks or len(found) > MOST_MARKS else tuple(sorted(found))
