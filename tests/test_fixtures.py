"""Every folder under `fixtures/` is a case: its logs have to give the verdict that its `truth.yaml` states."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from diagnose.engine import diagnose
from diagnose.report.report import Report

FIXTURES = Path(__file__).parent.parent / "fixtures"
CASES = sorted(path.parent for path in FIXTURES.glob("*/truth.yaml"))


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.name)
def told(request: pytest.FixtureRequest) -> tuple[dict, Report]:
    """The truth of one case, and the report on its logs."""
    truth = yaml.safe_load((request.param / "truth.yaml").read_text(encoding="utf-8"))
    return truth, diagnose(request.param / "logs")


def test_cause_is_the_true_one(told: tuple[dict, Report]) -> None:
    truth, report = told
    said = report.diagnosis.cause if report.diagnosis else "healthy"
    assert said in {truth["root_cause"], *(truth.get("accept") or [])}


def test_culprits_are_the_true_ranks_and_no_rank_is_blamed_falsely(told: tuple[dict, Report]) -> None:
    truth, report = told
    if truth["root_cause"] == "healthy":
        assert report.diagnosis is None
        return
    named = {c.rank for c in report.diagnosis.culprits if c.rank is not None}

    assert set(truth["culprit_ranks"] or []) == named


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: case.name)
def test_report_is_the_same_twice(case: Path) -> None:
    one, other = (diagnose(case / "logs") for _ in range(2))
    assert replace(one, stats=replace(one.stats, seconds=None)) == replace(other, stats=replace(other.stats, seconds=None))
