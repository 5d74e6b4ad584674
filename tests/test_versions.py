"""Version numbers and ranges, as libraries print them and known bugs state them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnose.advice.fact_store import in_range, read_version


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("0.15.0.dev0", "0.15.0"),
        ("2.1.0rc1", "2.1.0"),
        ("0.6.3", "0.6.3.post1"),
        ("0.9.9", "0.10.0"),
        ("1.13", "2.0.0+cu118"),
        ("4.36.2", "4.37.0"),
    ],
)
def test_versions_sort_as_their_authors_mean(smaller: str, larger: str) -> None:
    one, other = read_version(smaller), read_version(larger)
    assert one is not None and other is not None
    assert one < other


@pytest.mark.parametrize(
    ("version", "wanted", "expected"),
    [
        ("0.15.0", "==0.15.0", True),
        ("0.15.1", "==0.15.0", False),
        ("2.6.0+cu124", ">=2.6,<2.7", True),
        ("2.29.2", ">=2.29.2,<2.29.3", True),
        ("2.29.3", ">=2.29.2,<2.29.3", False),
        ("0.6.4.post1", ">0.6.4.post1", False),
        ("0.8.1", ">0.6.4.post1", True),
        ("2.1.9", "~=2.1.3", True),
        ("2.2.0", "~=2.1.3", False),
        ("1.0", "<0.5 or ==1.0.0", True),
        ("unknown", ">=1", None),
    ],
)
def test_a_version_lies_in_a_range_or_says_nothing(version: str, wanted: str, expected: bool | None) -> None:
    assert in_range(version, wanted) is expected


@given(st.lists(st.integers(0, 999), min_size=1, max_size=4), st.lists(st.integers(0, 999), min_size=1, max_size=4))
def test_a_range_agrees_with_comparing_numbers(one: list[int], other: list[int]) -> None:
    a, b = ([*x, 0, 0, 0, 0][:4] for x in (one, other))
    text = ".".join(map(str, one))
    assert in_range(text, ">=" + ".".join(map(str, other))) is (a >= b)
