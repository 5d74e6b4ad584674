"""Texts of less common programs, read cause by cause: what was told wrongly, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import diagnose
from diagnose.sources.source import Text
from diagnose.sources.unwrap import as_typed

from .told import cause, culprits, told

OPEN_BLAS = "OpenBLAS blas_thread_init: pthread_create failed for thread {} of 48: {}\n"


def cause_of(text: str) -> str | None:
    found = diagnose(Text(text, name="console.log")).diagnosis
    return found.cause if found else None


def test_a_thread_that_a_container_forbids_met_no_limit() -> None:
    assert "software.version-incompatible" == cause_of(OPEN_BLAS.format(35, "Operation not permitted"))
    assert "process.resource-limit" == cause_of(OPEN_BLAS.format(35, "Resource temporarily unavailable"))


def test_a_message_of_gloo_that_was_wrapped_by_hand_is_read_whole() -> None:
    text = (
        "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152]\n"
        "  timed out connecting: SO_ERROR: Connection refused, remote=[127.0.0.1]:41211\n"
        "  (rank=8, size=16, local=[127.0.0.1])\n"
    )
    assert "network.interface" == cause_of(text)


def test_a_nodes_drain_explains_the_actor_that_died() -> None:
    text = (
        "(PreemptionWatcher pid=79362) PreemptionWatcher: drain detected \u2014 preempted_node_ids=['b157c93de960'], "
        "preempted_ranks=[1], deadline=1780379350\n"
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: RayTrainWorker\n"
    )
    assert "process.preempted" == cause_of(text)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("forward compatibility was attempted on non supported HW", "gpu.driver-mismatch"),
        ("PTX JIT compiler library not found", "gpu.driver-mismatch"),
        ("invalid program counter", "gpu.illegal-access"),
        ("too many blocks in cooperative launch", "process.exception"),
        ("peer mapping resources exhausted", "nccl.topology"),
    ],
)
def test_an_error_of_the_cuda_runtime_keeps_its_cause_in_any_librarys_words(error: str, expected: str) -> None:
    assert expected == cause_of(f"RuntimeError: CUDA failed with error {error}\n")
    assert expected == cause_of(f"RuntimeError: CUDA error: {error}\n")


def test_a_loss_that_fairseq_logs_as_nan_is_heard() -> None:
    text = '2020-10-01 10:25:50 | INFO | train | {"epoch": 73, "train_loss": "nan", "train_ntokens": "15558.8"}\n'

    assert "numerics.nan" == cause_of(text * 3)


@pytest.mark.parametrize("head", ["", "[rank3]: ", "> "])
def test_quotes_that_a_forum_made_curly_are_read_as_they_were_printed(head: str) -> None:
    assert "software.version-incompatible" == cause_of(f"{head}ImportError: cannot import name \u2018ncclX\u2019 from \u2018torch._C\u2019\n")


def test_a_record_in_json_keeps_its_curly_quotes() -> None:
    """A straight one would end the string that it stands in."""
    text = '{"severity": "ERROR", "message": "the file \u201ca.pt\u201d: CUDA out of memory. Tried to allocate 2.00 GiB"}\n'

    assert b"\xe2\x80\x9c" in as_typed(b"x\n  " + text.encode())


def test_a_straggler_is_named_behind_the_name_of_a_docker_service(tmp_path: Path) -> None:
    warned = (
        "1469.worker.1  | [2019-06-04T16:49:20Z] [2019-06-04 16:49:19.737850: W horovod/common/operations.cc:588] One or more "
        "tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks "
        "for more than 60 seconds.\n"
        "1469.worker.1  | [2019-06-04T16:49:20Z] Stalled ops:all_reduce/HorovodAllreduce_mul_1_0 [missing ranks: 0]\n"
    )
    report = told(tmp_path, {"console.log": warned})

    assert ("collective.straggler", [0]) == (cause(report), culprits(report))
