"""Failures of collectives, NCCL and networks as public threads show them, each with what else it might be taken for."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told

PORT_ERROR = "node48:34050:34121 [0] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error\n"
NO_ANSWER = (
    "node51:73076:73185 [4] transport/net_ib.cc:1238 NCCL WARN NET/IB : Got completion from peer node48<37948> "
    "with error 12, opcode 2, len 1, vendor err 129\n"
)
OVER_LOOPBACK = (
    "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out "
    "connecting: SO_ERROR: Connection refused, remote=[127.0.0.1]:21573 (rank=8, size=16, local=[127.0.0.1])\n"
)
NO_ROUTE = (
    "[rank1]: RuntimeError: [enforce fail at /opt/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/socket.cc:142] "
    "rv != -1. -1 vs -1. connect: Network is unreachable\n"
)


def test_host_that_only_lost_the_one_with_a_dead_port_is_a_witness(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": PORT_ERROR + NO_ANSWER})
    assert report.diagnosis is not None
    assert ["node48"] == [c.host for c in report.diagnosis.culprits]


def test_one_rank_pasted_alone_is_not_at_fault_for_the_interface_of_the_job(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": OVER_LOOPBACK})
    assert ("network.interface", []) == (cause(report), culprits(report))


def test_gloo_without_a_route_to_its_peer_took_the_wrong_interface(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": NO_ROUTE})
    assert ("network.interface", []) == (cause(report), culprits(report))


def test_communicator_that_an_error_took_down_is_no_wrong_argument(tmp_path: Path) -> None:
    log = (
        "[1,0]<stderr>:tensorflow.python.framework.errors_impl.UnknownError: ncclCommInitRank failed: unhandled cuda error\n"
        "[1,0]<stdout>:biomind:6502:6588 [0] misc/argcheck.cc:39 NCCL WARN AllReduce : invalid root 0 (root should be in "
        "the 0..-1 range)\n"
        "[1,0]<stdout>:biomind:6502:6588 [0] init.cc:1137 NCCL WARN comm 0x7fd72034c4d0 has already been destroyed\n"
    )
    assert "nccl.system-error" == cause(told(tmp_path, {"console.log": log}))


def test_what_an_editors_debugger_shows_is_an_exception(tmp_path: Path) -> None:
    log = (
        "Exception has occurred: RuntimeError       (note: full exception trace is shown but execution is paused at: "
        "_run_module_as_main)\nshape '[1]' is invalid for input of size 2\n"
        '  File "/opt/NeMo/nemo/collections/nlp/modules/common/megatron/utils.py", line 183, in <listcomp>\n'
    )
    assert "process.exception" == cause(told(tmp_path, {"paste.txt": log}))


def test_mismatch_that_a_program_logs_with_words_of_its_own_is_read(tmp_path: Path) -> None:
    log = (
        "[RANK 1] 2026-05-19 10:10:29,701 [ERROR] GPU circuit breaker OPEN: cuda_error - Detected mismatch between collectives "
        "on ranks. Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=101, OpType=ALLGATHER, TensorShape=[1], "
        "TensorDtypes=Long), but Rank 7 is running collective: CollectiveFingerPrint(SequenceNumber=0OpType=REDUCE).Collectives "
        "differ in the following aspects: \t Sequence number: 101vs 0  Op type: ALLGATHERvs REDUCE (GPU 1)\n"
    )
    assert "collective.desync" == cause(told(tmp_path, {"console.log": log}))
