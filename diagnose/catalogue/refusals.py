"""Which forms match no text of a kind: thousands of ranks raise the same with other addresses and numbers.

Texts of one kind differ only in digits that the form's pattern does not ask for, so it matches all of them or none.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, digit_marks, places_of
from .rule import Form, Rule

MAX_REMEMBERED = 4_000  # then all is forgotten
MOST_MARKS = 6  # of several forms: to look for more takes longer than to ask them one by one

Name = tuple[str, str | None, bool]  # a form's pattern and how it is meant; or a rule's id
Kind = tuple[Name, bytes, tuple[tuple[bytes, int], ...]]  # of what, the shape, and where digits stand that are asked for


class Refusals:
    """By form, or by rule for all its forms together, and kind of text: that it does not match."""

    def __init__(self) -> None:
        self._known: set[Kind] = set()
        self._marks: dict[Name, tuple[bytes, ...] | None] = {}  # from the second text on that is asked about
        self._asked: set[Name] = set()
        self._last = "", b"", b""  # the text that was asked about, as bytes, and its shape: the next rule asks of it too

    def __contains__(self, kind: Kind | None) -> bool:
        return kind in self._known

    def tell_of(self, asked: Form | Rule) -> bool:
        """Tell whether it has refused anything; of what always matches no kinds need be known."""
        return _name(asked) in self._marks

    def kind(self, asked: Form | Rule, text: str) -> Kind | None:
        """Yield the kind of a text for a form, or a rule; None where it cannot be told, or is not worth it."""
        if len(text) > MAX_SHAPE_BYTES:
            return None
        name = _name(asked)
        if name not in self._marks:
            if name not in self._asked:
                self._asked.add(name)
                return None
            self._marks[name] = _marks((asked,) if isinstance(asked, Form) else asked.forms)
        marks = self._marks[name]
        if marks is None:
            return None
        if text is not self._last[0]:
            raw = text.encode("utf-8", "backslashreplace")
            self._last = text, raw, raw.translate(DIGITS)
        _, raw, shape = self._last
        return name, shape, places_of(marks, raw) if marks else ()

    def remember(self, kind: Kind | None) -> None:
        """Remember that texts of a kind are refused."""
        if kind is not None:
            if len(self._known) >= MAX_REMEMBERED:
                self._known.clear()
            self._known.add(kind)


def _name(asked: Form | Rule) -> Name:
    return (asked.pattern, asked.prefix, asked.ignore_case) if isinstance(asked, Form) else (asked.id, None, False)


def _marks(forms: Sequence[Form]) -> tuple[bytes, ...] | None:
    """The digits that any of the forms asks for; None where that cannot be told, or where they are many."""
    marks = [digit_marks(form.pattern) for form in forms]
    found = {mark for each in marks for mark in each or ()}
    return None if None in marks or (len(forms) > 1 and len(found) > MOST_MARKS) else tuple(sorted(found))
