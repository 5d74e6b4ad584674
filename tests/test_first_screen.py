"""The terminal page at 100 columns answers what happened, who and what to do on its first screen.

A sample of the fixtures; `python -m benchmarks.pages` measures all.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the benchmarks are no part of the installed package

from benchmarks.pages import Page, measure
from diagnose.engine import diagnose

FIXTURES = Path(__file__).parents[1] / "fixtures"
SAMPLE = sorted(FIXTURES.glob("*/truth.yaml"))[::3]


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return [measure(truth.parent.name, diagnose(truth.parent / "logs", workers=1)) for truth in SAMPLE]


def test_what_to_do_begins_on_the_first_screen(pages: list[Page]) -> None:
    late = [page.name for page in pages if page.begins > 16]
    assert len(late) <= 0.05 * len(pages), late


def test_a_page_is_short(pages: list[Page]) -> None:
    rows = sorted(page.rows for page in pages)
    assert rows[len(rows) // 2] <= 45
    assert rows[len(rows) * 9 // 10] <= 70


def test_a_page_shows_no_word_placeholder_or_command_that_it_should_not(pages: list[Page]) -> None:
    assert [f"{page.name}: {fault}" for page in pages for fault in page.faults] == []
