"""The matcher: literals in any order and case, fields in their types, and patterns within their limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.catalogue.automaton import Literal, automaton, automaton_apart, pure_python
from diagnose.catalogue.load import load_rules
from diagnose.catalogue.matcher import Matcher, read_fields, read_ranks
from diagnose.catalogue.rule import Rule

LITERALS = [Literal(b"a", False), Literal(b"ab", False), Literal(b"abc", True), Literal(b"ba", False, True)]


@given(st.text("abcABC \n\x00é", max_size=60).map(str.encode))
def test_the_native_automaton_and_pure_python_agree(data: bytes) -> None:
    assert sorted(automaton(LITERALS)(data)) == pure_python(LITERALS)(data)


@given(st.text("abcABC \n\x00é", max_size=60).map(str.encode), st.integers(0, len(LITERALS)))
def test_others_are_told_apart(data: bytes, count: int) -> None:
    found, others = automaton_apart(LITERALS, count)(data)
    assert sorted([*found, *((end, n + count) for end, n in others)]) == sorted(automaton(LITERALS)(data))


def test_captures_that_do_not_fit_their_type_are_left_out() -> None:
    rule = Rule("", "symptom", "line", "", (), "", fields={"a": "int", "b": "float", "c": "ranks", "d": "int"}, id="x")
    groups = {"a": "1,024", "b": "x", "c": "0, 3-5", "d": "0x10"}
    assert read_fields(rule, groups) == {"a": 1024, "c": [0, 3, 4, 5], "d": 16}


@pytest.mark.parametrize(("text", "ranks"), [("4 5 6", [4, 5, 6]), ("[0-2]", [0, 1, 2]), ("all", []), ("7;9", [7, 9])])
def test_ranks_are_read_from_lists_and_ranges(text: str, ranks: list[int]) -> None:
    assert read_ranks(text) == ranks


def test_a_form_that_lacks_its_literals_captures_what_its_pattern_would() -> None:
    catalogue = load_rules(fresh=True)  # with examples
    asked = Matcher(catalogue.rules.values())
    for rule in [r for r in catalogue.rules.values() if r.match != "line"][::3]:
        for text in (example.text for form in rule.forms for example in form.examples):
            for form in rule.forms:
                match = asked.verify(form, text)
                expected = None if match is None else read_fields(rule, match.groupdict())
                assert expected == asked.captures(rule, form, text), (rule.id, form.pattern)
