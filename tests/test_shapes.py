"""Shapes: where the digits that a pattern asks for stand alike, lines of one shape match alike."""

from __future__ import annotations

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diagnose.lines.shapes import DIGITS, Spots, digit_marks, places_of

PIECES = [
    *("a", "b1", "12", ".", "|", "^", "$"),
    *(r"\d", r"\d{2}", "[12]", "[^1]", "[0-9]", "[02-9]", "2?", "1+"),
    *("(?:1|a)", "(?P<n>3b?)+", "(?:1[2a])?"),
    *("(?=1)", "(?!12|b)", "(?<=2)", "(?<!a1)"),
]


@settings(max_examples=400, deadline=None)
@example("b1[^1]", "b12", 0)
@example("b1[1a]", "b1a", 0)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.text("ab123", max_size=8),
    st.integers(0, 9**8),
)
def test_lines_of_one_shape_with_marks_at_the_same_places_match_alike(pattern: str, text: str, other: int) -> None:
    marks = digit_marks(pattern)
    if marks is None:
        return
    digits = iter(f"{other:09d}".replace("4", "1").replace("5", "2"))
    changed = "".join(next(digits) if c.isdigit() else c for c in text)
    one, two = text.encode(), changed.encode()
    assert one.translate(DIGITS) == two.translate(DIGITS)
    if places_of(marks, one) == places_of(marks, two):
        assert (regex.search(pattern, text) is None) == (regex.search(pattern, changed) is None)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.text("ab12", min_size=1, max_size=3).filter(lambda t: any(c.isdigit() for c in t)), min_size=1, max_size=4),
    st.text("aAbB12 7", max_size=30),
    st.integers(0, 9**8),
)
def test_marks_compared_at_the_places_of_a_shape_are_those_that_a_search_finds(
    texts: list[str], text: str, other: int
) -> None:
    marks = tuple(sorted({t.encode() for t in texts}))
    digits = iter(f"{other:030d}")
    line = "".join(next(digits) if c.isdigit() else c for c in text).encode()
    assert Spots(marks, line.translate(DIGITS)).marks_in(line) == places_of(marks, line)
