"""Every fault that the generator injects is named with the right ranks, in every version and form."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.dumps import VERSIONS, Job, compared, dumps
from benchmarks.recorder_comparison import HEADING, SEEDS, ask_diagnose, find_torchfrtrace, line, right, rows

KINDS = {
    "missing": "missing",
    "swap": "op",
    "size": "size",
    "dtype": "dtype",
    "missing-send": "p2p",
    "extra": "op",
    "truncated": "missing",
}


def found(job):
    return compared(dumps(job))[0].first


@pytest.mark.parametrize("fault", sorted(KINDS))
@pytest.mark.parametrize(("form", "version"), [*(("pickle", version) for version in VERSIONS), ("json", VERSIONS[-1])])
def test_fault_is_named_in_every_version_and_form(fault, form, version):
    if version in (None, "1.4") and fault in ("dtype", "truncated"):
        pytest.skip("these versions write no types, and count sends and collectives in one")
    job = Job(ranks=8, fault=fault, form=form, version=version, culprit=4, naming="fr-{rank}.bin")
    first = found(job)
    assert (first.kind, first.ranks) == (KINDS[fault], (4,))


@pytest.mark.parametrize("fault", ["missing", "swap", "size", "dtype", "extra"])
def test_fault_of_the_first_rank_is_not_taken_for_the_reference(fault):
    first = found(Job(fault=fault, culprit=0))
    assert (first.kind, first.ranks) == (KINDS[fault], (0,))


@pytest.mark.parametrize("is_batched", [True, False])
def test_job_without_a_fault_has_no_divergence(is_batched):
    reports = compared(dumps(Job(is_batched=is_batched)))
    assert {report.verdict for report in reports} == {"consistent"}


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
