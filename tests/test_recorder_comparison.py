"""`diagnose` and PyTorch's torchfrtrace on the same dumps: what the README's table says holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.recorder_comparison import HEADING, SEEDS, ask_diagnose, find_torchfrtrace, line, right, rows

README = (Path(__file__).parent.parent / "docs/recorders.md").read_text(encoding="utf-8")
ROWS = [pytest.param(row, id=row.title) for row in rows()]


@pytest.mark.parametrize("row", ROWS)
def test_diagnose_names_the_guilty_rank(row):
    assert [] == [guilty for guilty, made in row.cases() if ask_diagnose(made) != {guilty}]


def test_readme_shows_every_row_and_claims_no_more_of_ours_than_is_tested():
    assert HEADING in README
    assert [] == [row.title for row in rows() if f"| {row.title} | {len(SEEDS)} of {len(SEEDS)} | " not in README]


@pytest.mark.skipif(find_torchfrtrace() is None, reason="torchfrtrace is not installed: pip install -e .[test-torch]")
@pytest.mark.parametrize("row", ROWS)
def test_readme_says_what_torchfrtrace_says(row):
    assert line(row.title, *right(row, find_torchfrtrace())) in README
