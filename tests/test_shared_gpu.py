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


def test_a_lone_message_does_not_tell_that_the_pair_alone_is_misplaced(tmp_path: Path) -> None:
    """With a wrong `set_device` every rank prints the like; one of them was copied."""
    report = told(tmp_path, {"console.log": SHARED})
    assert ("nccl.invalid-usage", []) == (cause(report), culprits(report))


def test_a_pair_is_at_fault_where_another_rank_failed_in_another_way(tmp_path: Path) -> None:
    other = "[rank2]: RuntimeError: [2] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d\n"
    report = told(tmp_path, {"console.log": SHARED + other})
    assert ("nccl.invalid-usage", [0, 1]) == (cause(report), culprits(report))


def test_a_pair_is_at_fault_where_steps_were_made_before(tmp_path: Path) -> None:
    """What all ranks had set up for the steps was placed well: this later group alone puts two on one GPU."""
    steps = "{'loss': 2.0491, 'learning_rate': 0.00019, 'epoch': 0.28}\n{'loss': 2.0391, 'learning_rate': 0.00018, 'epoch': 0.29}\n"
    report = told(tmp_path, {"console.log": steps + SHARED})
    assert ("nccl.invalid-usage", [0, 1]) == (cause(report), culprits(report))


def test_one_message_of_a_pair_is_an_excerpt_however_many_ranks_there_are(tmp_path: Path) -> None:
    """Each of a pair reports the other: where one message was copied, those of further ranks may be left out too."""
    sizes = "Distributed environment: MULTI_GPU  Backend: nccl\nNum processes: 4\nProcess index: 1\nLocal process index: 1\n"
    report = told(tmp_path, {"console.log": sizes + SHARED})
    assert ("nccl.invalid-usage", []) == (cause(report), culprits(report))


def test_a_pair_is_at_fault_where_both_reported_and_there_are_more(tmp_path: Path) -> None:
    sizes = "Distributed environment: MULTI_GPU  Backend: nccl\nNum processes: 4\nProcess index: 1\nLocal process index: 1\n"
    report = told(tmp_path, {"console.log": sizes + SHARED + SHARED.replace("rank 1 and rank 0", "rank 0 and rank 1")})
    assert ("nccl.invalid-usage", [0, 1]) == (cause(report), culprits(report))


def test_numbers_within_a_smaller_communicator_are_no_ranks_of_the_job(tmp_path: Path) -> None:
    """Rank 2 reports as rank 0 of the two experts' group that it is in."""
    lines = SHARED.replace("rank 1 and rank 0", "rank 0 and rank 1").splitlines()
    report = told(tmp_path, {"console.log": "".join(f"[rank2]: {line}\n" for line in lines)})
    assert ("nccl.invalid-usage", []) == (cause(report), culprits(report))
