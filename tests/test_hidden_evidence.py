"""With the decisive file taken away a verdict may be less, and other, but never wrong and certain."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the benchmarks are no part of the installed package

from benchmarks.hidden_evidence import hide_labelled, hide_simulated, is_wrong_and_certain
from benchmarks.replay.score import Row, judge_folder

FIXTURES = Path(__file__).parent.parent / "fixtures"
SIMULATED = 20


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    """Verdicts on simulated jobs that lost the file with the proof."""
    return [judge_folder(case) for case in hide_simulated(tmp_path_factory.mktemp("jobs"), 1, SIMULATED)]


def test_twenty_cases_of_as_many_faults_are_hidden(simulated: list[Row]) -> None:
    assert len(simulated) == SIMULATED
    assert len({row.truth for row in simulated}) >= SIMULATED / 2


def test_no_simulated_case_is_wrong_and_certain(simulated: list[Row]) -> None:
    assert [f"{r.case}: {r.truth}, said {r.said}" for r in simulated if is_wrong_and_certain(r)] == []


def test_no_fixture_is_wrong_and_certain(tmp_path: Path) -> None:
    rows = [judge_folder(case) for case in hide_labelled(FIXTURES, tmp_path)]

    assert len(rows) >= 15
    assert [f"{r.case}: {r.truth}, said {r.said}" for r in rows if is_wrong_and_certain(r)] == []
