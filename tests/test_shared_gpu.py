"""Two ranks on one GPU: whose fault it is, where NCCL's lone message names a pair."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told

SHARED = (
    "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:275, invalid usage (run "
    "with NCCL_DEBUG=WARN for details), NCCL version 2.20.5\n"
    "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
    "Last error:\n"
    "Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10\n"
)


def test_both_ranks_that_one_message_names_are_named(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": SHARED})
    assert ("nccl.invalid-usage", [0, 1]) == (cause(report), culprits(report))


