"""The simulator of jobs: what it writes is the same every time, complete, and its truth points at real lines."""

from __future__ import annotations

import filecmp
import sys
from pathlib import Path
from random import Random

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))  # the benchmarks are no part of the installed package

from benchmarks.jobs.catalogue import FAULTS
from benchmarks.jobs.generate import generate, play
from benchmarks.jobs.write import lay_out


@pytest.fixture(scope="module")
def sixty(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Sixty jobs of 8 to 32 ranks."""
    return generate(tmp_path_factory.mktemp("jobs"), 5, 60, (8, 32))


def truth_of(case: Path) -> dict:
    return yaml.safe_load((case / "truth.yaml").read_text())


def places_of(truth: dict) -> list[str]:
    found = truth["first_evidence"] or []
    return [found] if isinstance(found, str) else found


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    first, second = (generate(tmp_path / name, 11, 14, (8, 32)) for name in "ab")
    for one, other in zip(first, second, strict=True):
        names = sorted(str(path.relative_to(one)) for path in one.rglob("*") if path.is_file())
        assert names == sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
        assert filecmp.cmpfiles(one, other, names, shallow=False)[0] == names


def test_each_place_of_evidence_is_a_line_that_exists(sixty: list[Path]) -> None:
    for case in sixty:
        for place in places_of(truth_of(case)):
            name, _, line = place.rpartition(":")
            assert len((case / "logs" / name).read_bytes().split(b"\n")) > int(line)


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_evidence_of_a_fault_is_in_the_line_it_names(name: str) -> None:
    fault = FAULTS[name]
    for layout in fault.layouts:
        job, truth = play(Random(f"{name} {layout}"), fault, (8, 24), layout)
        files, places = lay_out(job)
        lines = {place: "".join(files[place.rpartition(":")[0]]).split("\n")[int(place.rpartition(":")[2]) - 1] for place in places}
        told = {event.evidence for event in job.events if event.evidence}
        assert bool(places) is (truth.cause != "healthy")
        assert all(any(text in line for text in told) for line in lines.values())


@pytest.mark.parametrize("name", ["silent-straggler", "slow-save", "tokenise"])
def test_a_straggler_reports_no_timeout(name: str) -> None:
    fault = FAULTS[name]
    for layout in fault.layouts:
        job, truth = play(Random(f"{name} {layout}"), fault, (8, 24), layout)
        assert truth.ranks
        assert not any(e.who == ("rank", truth.ranks[0]) and "Watchdog caught" in e.text for e in job.events)
