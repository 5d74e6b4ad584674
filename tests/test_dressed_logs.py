"""Whatever a collector, a viewer or a paste made of a fixture's logs: no verdict is wrong and certain."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .dressings import CUTS, DRESSINGS, Change, cut, dressed
from .mutations import Case
from .test_robustness import FIXTURES, Said

CASES = [Case.read(p.parent) for p in sorted(FIXTURES.glob("*/truth.yaml")) if p.parent.name != "healthy-128-ranks"]
SAME = 0.95  # of the fixtures, whose verdict a dressing does not change


def said(folder: Path, files: dict[str, bytes]) -> Said:
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    found = Said.on([folder])
    shutil.rmtree(folder)
    return found


def is_wrong(case: Case, verdict: Said) -> bool:
    """Whether it names another cause than the case has, or a rank that is not at fault; to name none is no error."""
    causes = {case.truth["root_cause"], *(case.truth.get("accept") or []), "unknown", "healthy"}
    return verdict.cause not in causes or not verdict.culprits <= case.culprits


@pytest.mark.parametrize("change", DRESSINGS)
def test_a_dress_changes_no_verdict(tmp_path: Path, change: Change) -> None:
    verdicts = [(case, said(tmp_path / case.name, dressed(case, change))) for case in CASES]

    assert [] == [(c.name, v) for c, v in verdicts if v.certainty == "certain" and is_wrong(c, v)]
    changed = [(c.name, v) for c, v in verdicts if v.cause not in {c.truth["root_cause"], *(c.truth.get("accept") or [])}]
    assert len(changed) <= (1 - SAME) * len(CASES), changed


@pytest.mark.parametrize("change", CUTS)
def test_no_part_of_a_console_makes_a_verdict_wrong_and_certain(tmp_path: Path, change: Change) -> None:
    parts = ((case, cut(case, change)) for case in CASES)
    verdicts = [(case, said(tmp_path / case.name, part)) for case, part in parts if part]

    assert [] == [(c.name, v) for c, v in verdicts if v.certainty == "certain" and is_wrong(c, v)]
