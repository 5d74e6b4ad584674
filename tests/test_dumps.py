"""Every fault that the generator injects is named with the right ranks, in every version and form."""

from __future__ import annotations

import pytest

from benchmarks.dumps import VERSIONS, Job, compared, dumps

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
@pytest.mark.parametrize("seed", range(3))
def test_fault_is_named_with_its_rank(fault, seed):
    job = Job(fault=fault, seed=seed)
    first = found(job)
    assert (first.kind, first.ranks) == (KINDS[fault], (job.guilty,))


@pytest.mark.parametrize("fault", sorted(KINDS))
@pytest.mark.parametrize("form", ["pickle", "json"])
@pytest.mark.parametrize("version", VERSIONS)
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
