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


@pytest.mark.xfail(strict=True, reason="a kernel that traps after its wait is told as an illegal access")
@pytest.mark.parametrize("end", FAILED)
def test_a_kernel_that_waited_in_vain_traps_and_did_not_touch_foreign_memory(end: str) -> None:
    found = diagnose(Text(WAITED + FAILED[end], name="train.log")).diagnosis

    assert ("collective.timeout", 1) == (found.cause, found.evidence[0].line)
