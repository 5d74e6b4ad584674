"""Shapes: a pattern made blind for digits matches whatever the pattern matched, with any digits."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from diagnose.catalogue import load_rules
from diagnose.shapes import DIGITS, blind_pattern


@pytest.mark.parametrize(
    ("pattern", "blind"),
    [
        (r"^rank (?P<rank2>\d{1,6}) -> [1-6]$", r"^rank (?P<rank2>\d{1,6}) -> [\d]$"),
        (r"Errno 28\]", r"Errno \d\d\]"),
        (r"0x[0-9a-f]+", r"\dx[\da-f]+"),
        (r"\x41", None),
        (r"(a)\1", None),
    ],
)
def test_particular_digits_become_any(pattern: str, blind: str | None) -> None:
    assert blind_pattern(pattern) == blind


def test_the_catalogue_s_examples_still_match_with_all_digits_zero() -> None:
    for rule in load_rules(fresh=True).rules.values():
        for form in rule.forms:
            blind = blind_pattern(form.pattern)
            flags = regex.IGNORECASE if form.ignore_case else 0
            for text in (e.text for e in form.examples if blind is not None):
                if regex.search(form.pattern, text, flags):
                    assert regex.search(str(blind), text.encode().translate(DIGITS).decode(), flags), form.pattern


@given(st.text("ab12[]-^0.", max_size=8), st.text("ab120", max_size=12))
def test_a_blind_pattern_matches_at_least_as_much(pattern: str, text: str) -> None:
    blind = blind_pattern(pattern)
    try:
        own = regex.compile(pattern)
    except regex.error:
        return
    if blind is not None and own.search(text):
        assert regex.search(blind, text.translate({ord(c): "0" for c in "123456789"}))
