"""Hosts that run different versions of what has to be one: a cause where set-up failed, a notice where all went well."""

from __future__ import annotations

import pytest

from diagnose import Text, diagnose

NCCL = "node-{h}:{p}:{p} [0] NCCL INFO NCCL version {v}+cuda12.4\n"
FAILED = (
    "node-a:100:200 [0] init.cc:1600 NCCL WARN Mismatched collective configuration\n"
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2251, "
    "internal error - please report this issue to the NCCL developers, NCCL version 2.20.5\n"
    "[rank0]: ncclInternalError: Internal check failed.\n"
)


def _log(a: str, b: str) -> str:
    return NCCL.format(h="a", p=100, v=a) + NCCL.format(h="b", p=101, v=b)


@pytest.mark.parametrize(("other", "expected"), [("2.21.5", True), ("2.20.5", False)])
def test_hosts_with_different_nccl_versions_are_why_set_up_failed(other: str, expected: bool) -> None:
    found = diagnose(Text(_log("2.20.5", other) + FAILED, name="x.log")).diagnosis
    assert found is not None and expected is (found.cause == "nccl.version-mismatch")
    assert expected is ("2.20.5 on node-a, 2.21.5 on node-b" in found.summary + found.remedy[0].text)


def test_versions_that_differ_are_no_failure_of_a_run_that_has_none() -> None:
    report = diagnose(Text(_log("2.20.5", "2.21.5") + "step 1 loss 2.3\nstep 2 loss 2.2\n", name="x.log"))
    assert report.diagnosis is None
    assert [n.topic for n in report.notices] == ["NCCL version differs"]
