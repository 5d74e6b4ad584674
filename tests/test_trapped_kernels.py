"""Kernels that wait for other ranks, say so when they waited in vain, and end themselves."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources.source import Text

WAITED = "DeepEP dispatch NVL receiver timeout, channel: 6, RDMA: 0, nvl: 0, src NVL: 5, head: 315, tail: 315\n" * 2
FAILED = {
    "host": "  what():  Failed: CUDA error /workspace/DeepEP/csrc/deep_ep.cpp:83 'unspecified launch failure'\n",
    "torch": "[rank3]: RuntimeError: CUDA error: unspecified launch failure\n",
}


@pytest.mark.parametrize("end", FAILED)
def test_a_kernel_that_waited_in_vain_traps_and_did_not_touch_foreign_memory(end: str) -> None:
    found = diagnose(Text(WAITED + FAILED[end], name="train.log")).diagnosis

    assert found is not None
    assert ("collective.timeout", 1) == (found.cause, found.evidence[0].line)


@pytest.mark.parametrize("end", FAILED)
def test_a_launch_failure_before_the_wait_stands_for_itself(end: str) -> None:
    found = diagnose(Text(FAILED[end] + WAITED, name="train.log")).diagnosis

    assert found is not None
    assert "gpu.illegal-access" == found.cause


@pytest.mark.parametrize(
    "line",
    [
        "DeepEP RDMA sender coordinator timeout, channel: 4, IB: 1, nvl 2, dst IB: 0, tail: 96, remaining: 12",
        "DeepEP combine forwarder (RDMA check) timeout, channel: 3, RDMA: 1, nvl: 6, dst RDMA: 0, head: 24, tail: 8, chunked: 16",
        "Warning: DeepEP timeout for combine receive, rank 11, local_expert_idx 2, src_rank 5",
        "DeepEP timeout check failed: 1 (rank = 3)",
        "DeepEP hybrid notify (scale-up reduction) timeout,scale-out: 1/2, scale-up: 3/8, thread: 4, status: 7 | 0, expected: 8",
    ],
)
def test_each_wait_of_an_expert_exchange_is_heard_and_names_no_culprit(line: str) -> None:
    found = diagnose(Text(line + "\n" + FAILED["torch"], name="train.log")).diagnosis

    assert found is not None
    assert ("collective.timeout", (), 1) == (found.cause, tuple(found.culprits), found.evidence[0].line)
