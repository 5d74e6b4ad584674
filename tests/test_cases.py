"""Every folder under `cases/` is judged once; what is still wrong stands in `cases/misses.yaml`, and nowhere else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # the benchmarks are no part of the installed package

from benchmarks.replay.case import Case, find_cases
from benchmarks.replay.score import ASKED, Row, judge
from diagnose import render
from diagnose.catalogue.load import load_rules
from diagnose.engine import read, tell

CASES = Path(__file__).parents[1] / "cases"
MISSES: dict[str, list[str]] = yaml.safe_load((CASES / "misses.yaml").read_text(encoding="utf-8"))


def judged(case: Case) -> Row:
    catalogue = load_rules()
    report = tell(read([case.folder / "logs"], catalogue, workers=1), catalogue)
    return judge(case, report, render(report, "markdown").casefold() if case.truth.get("must_mention") else "")


@pytest.mark.parametrize("case", find_cases([CASES]), ids=lambda case: case.folder.name)
def test_what_is_wrong_of_a_case_is_what_is_known_to_be(case: Case) -> None:
    row = judged(case)
    wrong = [name for name in ASKED if getattr(row, name) is (name == "false_blame")]
    assert sorted(MISSES.get(case.folder.name, [])) == sorted(wrong), row.verdict()


def test_the_list_of_misses_names_no_case_that_is_gone() -> None:
    assert set(MISSES) <= {case.folder.name for case in find_cases([CASES])}
