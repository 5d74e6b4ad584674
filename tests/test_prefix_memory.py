"""A line is read as another of its shape was: with the same result as if nothing was remembered."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.catalogue.pattern_facts import sre_parse
from diagnose.lines import prefix as prefixes
from diagnose.lines import timestamp as timestamps
from diagnose.lines.prefix import Prefix
from diagnose.lines.prefix_memory import MAX_STAMP, WORTH_KEEPING, Found, PrefixMemory
from diagnose.lines.prefix_rows import rows_of

SAMPLES = [row.sample for row in rows_of("leading") + rows_of("after_a_stamp")]
TIMEOUT = (
    "[rank3]:[E1120 16:13:20.143581923 ProcessGroupNCCL.cpp:629] [Rank 3] Watchdog caught collective operation timeout"
)


def _read(text: str) -> Prefix:
    return prefixes._split(text, Found())


def _memory_of(text: str) -> PrefixMemory[Prefix]:
    """A memory that has read the line often enough to know its shape, if it can be known."""
    memory = PrefixMemory(Prefix._make, Prefix._fields)
    for _ in range(WORTH_KEEPING):
        shape, known = memory.recall(text)
        assert known is None
        if shape is not None:
            prefix = prefixes._split(text, found := Found())
            memory.keep(shape, text, prefix, found)
    return memory


def _redrawn(text: str, rng: Random, share: float) -> str:
    return re.sub("[0-9]", lambda m: str(rng.randrange(10)) if rng.random() < share else m[0], text)


@pytest.mark.parametrize("sample", SAMPLES)
def test_what_is_remembered_of_each_form_is_what_reading_gives(sample: str) -> None:
    memory, rng = _memory_of(sample), Random(sample)
    for share in (0.0, *[0.1] * 20, *[0.5] * 10, *[1.0] * 10):
        text = _redrawn(sample, rng, share)
        assert memory.recall(text)[1] in (None, _read(text))


@given(st.lists(st.sampled_from(SAMPLES), min_size=2, max_size=3), st.randoms(use_true_random=False))
def test_nested_forms_are_read_alike_too(heads: list[str], rng: Random) -> None:
    text = "".join(head[: rng.randrange(8, 48)] for head in heads)
    memory = _memory_of(text)
    for share in (0.0, 0.1, 0.3, 1.0):
        other = _redrawn(text, rng, share)
        assert memory.recall(other)[1] in (None, _read(other))


def test_a_day_that_does_not_exist_is_no_stamp_of_a_known_line() -> None:
    text = "2026-02-28 10:15:00,123 - trainer - ERROR - lost"
    assert _memory_of(text).recall(text.replace("-28 ", "-30 "))[1] is None


@pytest.mark.parametrize("form", timestamps._LETTER_FORMS + timestamps._DIGIT_FORMS + timestamps._BRACKET_FORMS)
def test_no_stamp_is_longer_than_what_is_looked_at(form: timestamps._Form) -> None:
    longest = sre_parse.parse(form.pattern.pattern).getwidth()[1]
    assert longest + len("[]") <= MAX_STAMP
