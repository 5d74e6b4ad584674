"""The terminal page at 100 columns answers what happened, who and what to do on its first screen.

A sample of the fixtures; `python -m benchmarks.pages` measures all.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the benchmarks are no part of the installed package

from benchmarks.pages import AVOIDED, Page, measure
from diagnose.catalogue.load import load_rules, load_yaml
from diagnose.engine import diagnose
from diagnose.report.phrases import WORDS

FIXTURES = Path(__file__).parents[1] / "fixtures"
SAMPLE = sorted(FIXTURES.glob("*/truth.yaml"))[::6]


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


def test_no_sentence_of_the_report_has_a_word_that_we_do_not_use() -> None:
    frame = {key: english for key, (english, _) in load_yaml(WORDS, WORDS.read_bytes()).items()}
    said = frame | {key: row["en"] for key, row in load_rules().sentences.items()}
    assert [f"{key}: {text}" for key, text in said.items() if AVOIDED.search(text)] == []
