"""What a form refused once it is not asked again about texts of that kind, and nothing else is taken for one."""

from __future__ import annotations

import re
from random import Random

from diagnose.catalogue.load import load_rules
from diagnose.catalogue.matcher import Matcher, read_fields
from diagnose.catalogue.rule import Form, Rule

LOST = Form(("closed by peer",), r"^RuntimeError: Connection closed by peer \[10\.[\d.]+\]$")


def rule(form: Form) -> Rule:
    return Rule("", "symptom", "traceback", "", (form,), "", id="a.b/c")


def asked(text: str, form: Form = LOST, *, before: tuple[str, ...]) -> bool:
    matcher = Matcher([rule(form)])
    for each in before:
        matcher.captures(rule(form), form, each)
    return matcher.captures(rule(form), form, text) is not None


def test_a_text_of_a_refused_kind_is_not_searched_again() -> None:
    matcher = Matcher([rule(LOST)])
    texts = [f"ValueError: Connection closed by peer [10.0.0.{n}]" for n in range(10, 90)]
    searched: list[str] = []
    verify = matcher.verify
    matcher.verify = lambda form, text: searched.append(text) or verify(form, text)  # type: ignore[method-assign,func-returns-value]
    assert {matcher.captures(rule(LOST), LOST, text) is None for text in texts} == {True}
    assert len(searched) == 2  # the first is worth no memory


def test_digits_that_a_pattern_asks_for_tell_texts_apart() -> None:
    others = tuple(f"RuntimeError: Connection closed by peer [{n}.0.0.1]" for n in (11, 12, 99))
    assert asked("RuntimeError: Connection closed by peer [10.7.7.1]", before=others)


def test_forms_of_one_pattern_and_other_prefixes_are_told_apart() -> None:
    text = "RuntimeError: Connection closed by peer [10.0.0.1]"
    matcher, behind = Matcher([rule(LOST)]), Form(LOST.literals, LOST.pattern, prefix="^NCCL")
    assert [matcher.captures(rule(behind), behind, text) for _ in range(3)] == [None] * 3
    assert matcher.captures(rule(LOST), LOST, text) == {}


def test_what_is_remembered_changes_no_answer() -> None:
    catalogue, draw = load_rules(fresh=True), Random(7)  # with examples
    matcher = Matcher(catalogue.rules.values())
    wide = [r for r in catalogue.rules.values() if r.match != "line"]
    examples = [(r, e.text) for r in wide for f in r.forms for e in f.examples]
    for own, example in examples:
        for _ in range(3):
            text = re.sub(r"\d", lambda _: draw.choice("0123456789"), example)
            for form in own.forms:
                match = matcher.verify(form, text)
                expected = None if match is None else read_fields(own, match.groupdict())
                assert matcher.captures(own, form, text) == expected, (own.id, form.pattern)


def first_of(matcher: Matcher, rule: Rule, *texts: str) -> int | None:
    found = matcher.first_of(rule, rule.forms, texts)
    return None if found is None else found[1]


def test_a_rule_that_refused_texts_of_a_kind_is_asked_none_of_its_forms() -> None:
    forms = (LOST, Form(("closed by",), r"^OSError: closed by (?P<who>\w+)$"))
    all_forms = Rule("", "symptom", "traceback", "", forms, "", id="a.b/c", fields={"who": "str"})
    matcher = Matcher([all_forms])
    for n in range(10, 90):
        assert first_of(matcher, all_forms, f"ValueError: Connection closed by peer [10.0.0.{n}]") is None
    asked: list[str] = []
    matcher.captures = lambda rule, form, text: asked.append(text)  # type: ignore[method-assign,assignment,func-returns-value]
    assert first_of(matcher, all_forms, "ValueError: Connection closed by peer [10.0.0.9x]") is None  # of another kind
    assert len(asked) == 2
    assert first_of(matcher, all_forms, "ValueError: Connection closed by peer [10.0.0.95]") is None
    assert len(asked) == 2


def test_of_several_texts_the_one_that_matches_is_named() -> None:
    matcher = Matcher([rule(LOST)])
    good, bad = "RuntimeError: Connection closed by peer [10.7.7.1]", "ValueError: Connection closed by peer [11.0.0.1]"
    assert [first_of(matcher, rule(LOST), bad, good) for _ in range(4)] == [1] * 4
    assert [first_of(matcher, rule(LOST), bad) for _ in range(4)] == [None] * 4
    assert first_of(matcher, rule(LOST), bad, good) == 1
    assert first_of(matcher, rule(LOST), "RuntimeError: Connection closed by peer [11.7.7.1]") is None
