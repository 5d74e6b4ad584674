"""What happens to logs on their way changes no verdict where nothing was lost, and else makes none wrong and certain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from benchmarks.damage import ALIKE, LOSSES
from benchmarks.damage.verdict import Judged, judge_case
from benchmarks.jobs.generate import generate

FIXTURES = sorted(p.parent for p in (Path(__file__).parent.parent / "fixtures").glob("*/truth.yaml"))
LARGE_BYTES = 200_000
SAMPLE = 2  # cases that an alteration is meaningful for; `python -m benchmarks.damage` takes all
SIMULATED = 4


def _bytes(folder: Path) -> int:
    return sum(p.stat().st_size for p in (folder / "logs").rglob("*"))


def judged(name: str) -> Iterator[Judged]:
    """The altered copies of some fixtures, others for each alteration."""
    left = SAMPLE
    for folder in Random(name).sample(FIXTURES, len(FIXTURES)):
        if left and _bytes(folder) < LARGE_BYTES and (found := judge_case(folder, [name])):
            left -= 1
            yield from found


@pytest.mark.parametrize("name", ALIKE)
def test_what_loses_nothing_changes_no_verdict(name: str) -> None:
    found = list(judged(name))
    assert len({j.case for j in found}) == SAMPLE
    assert [str(j) for j in found if j.outcome != "right" and not j.loses] == []


@pytest.mark.parametrize("name", LOSSES)
def test_no_loss_makes_a_verdict_wrong_and_certain(name: str) -> None:
    found = list(judged(name))
    assert len({j.case for j in found}) == SAMPLE
    assert [str(j) for j in found if j.is_too_sure] == []


def test_simulated_jobs_without_their_proof_are_not_judged_wrongly_and_certainly(tmp_path: Path) -> None:
    found = [j for folder in generate(tmp_path, 1, SIMULATED, (8, 16)) for j in judge_case(folder, ["dropped_proof"])]
    assert found
    assert [str(j) for j in found if j.is_too_sure] == []
