"""Failures of collectives, NCCL and networks as public threads show them, each with what else it might be taken for."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told, watchdog

PORT_ERROR = "node48:34050:34121 [0] transport/net_ib.cc:93 NCCL WARN NET/IB : Got async event : port error\n"
NO_ANSWER = (
    "node51:73076:73185 [4] transport/net_ib.cc:1238 NCCL WARN NET/IB : Got completion from peer node48<37948> "
    "with error 12, opcode 2, len 1, vendor err 129\n"
)
OVER_LOOPBACK = (
    "RuntimeError: Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out "
    "connecting: SO_ERROR: Connection refused, remote=[127.0.0.1]:21573 (rank=8, size=16, local=[127.0.0.1])\n"
)
def test_host_that_only_lost_the_one_with_a_dead_port_is_a_witness(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": PORT_ERROR + NO_ANSWER})
    assert report.diagnosis is not None
    assert ["node48"] == [c.host for c in report.diagnosis.culprits]


def test_gloo_whose_peers_published_loopback_took_the_wrong_interface(tmp_path: Path) -> None:
    assert "network.interface" == cause(told(tmp_path, {"console.log": OVER_LOOPBACK}))


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


XLA_QUOTES = (
    "E0211 20:37:28.264467    5785 pjrt_stream_executor_client.cc:3045] Execution of replica 0 failed: INTERNAL: NCCL operation "
    "ncclGroupEnd() failed: unhandled system error (run with NCCL_DEBUG=INFO for details). Last NCCL warning(error) log entry "
    "(may be unrelated) 'Error while creating shared memory segment /dev/shm/nccl-kXqNYh (size 9637888), error: No space left "
    "on device (28)'.\n"
)
def test_what_nccl_said_last_is_read_from_the_line_of_xla_that_quotes_it(tmp_path: Path) -> None:
    assert "nccl.shm-exhausted" == cause(told(tmp_path, {"console.log": XLA_QUOTES}))


def test_segment_that_cuda_would_not_register_is_not_certain_to_lack_room(tmp_path: Path) -> None:
    log = (
        "n1:4711:4800 [1] misc/shmutils.cc:103 NCCL WARN Cuda failure 'invalid argument'\n"
        "n1:4711:4800 [1] misc/shmutils.cc:114 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-NzwJ7O "
        "(size 9637888)\n"
    )
    report = told(tmp_path, {"console.log": log})
    assert report.diagnosis is not None
    assert "certain" != report.diagnosis.certainty


def test_heads_that_do_not_divide_by_the_world_are_no_fault_of_the_rank_that_says_so(tmp_path: Path) -> None:
    log = (
        "[rank9]: AssertionError: The number of heads must be divisible by world size\n"
        "W0527 09:20:36.761000 140735466850080 torch/distributed/elastic/multiprocessing/api.py:857] Sending process 96484 "
        "closing signal SIGTERM\n"
    )
    report = told(tmp_path, {"console.log": log})
    assert ("config.invalid-argument", []) == (cause(report), culprits(report))


def test_refused_key_explains_that_wandb_did_not_start(tmp_path: Path) -> None:
    log = (
        "wandb: ERROR Error while calling W&B API: permission denied (<Response [403]>)\n"
        'Traceback (most recent call last):\n  File "script/train.py", line 168, in <module>\n    wandb.init()\n'
        "wandb.run_manager.LaunchError: W&B process failed to launch, see: wandb/debug.log\n"
    )
    assert "config.authentication" == cause(told(tmp_path, {"console.log": log}))


def test_helper_threads_that_end_with_their_ranks_say_nothing_of_a_peer(tmp_path: Path) -> None:
    log = (
        "n1:14051:14895 [0] NCCL INFO [Service thread] Connection closed by localRank 3\n"
        "n1:14054:14825 [3] NCCL INFO comm 0x9bc5a80 rank 11 nranks 16 cudaDev 3 busId 4e000 - Abort COMPLETE\n"
        "[rank11]:[E ProcessGroupNCCL.cpp:1537] [PG 1 Rank 11] Timeout at NCCL work: 15734, last enqueued NCCL work: 15735, last "
        "completed NCCL work: 15733.\n"
    )
    assert "collective.timeout" == cause(told(tmp_path, {"console.log": log}))


def test_killed_pod_explains_that_mpirun_lost_its_daemon(tmp_path: Path) -> None:
    log = (
        "command terminated with exit code 137\n" + "-" * 74 + "\nORTE has lost communication with a remote daemon.\n\n"
        "  HNP daemon   : [[11377,0],0] on node launcher-ksczd\n  Remote daemon: [[11377,0],1] on node worker-0\n"
    )
    assert "process.sigkill" == cause(told(tmp_path, {"console.log": log}))


STORE_LOST = (
    "[rank2]:[W901 21:19:02.185931323 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=52, addr=[localhost]:40718, "
    "remote=[localhost]:29500): Connection reset by peer\n"
)


def test_store_that_goes_at_the_end_of_a_run_is_no_failure(tmp_path: Path) -> None:
    log = "[rank0]: step 100 loss 1.25\n[rank2]: step 100 loss 1.25\n" + STORE_LOST
    assert "unfinished" == cause(told(tmp_path, {"console.log": log}))


def test_rank_zero_that_left_as_programs_do_took_its_store_with_it(tmp_path: Path) -> None:
    log = (
        "[rank0]:[W724 19:26:06.079439421 ProcessGroupNCCL.cpp:1479] Warning: WARNING: destroy_process_group() was not called "
        "before program exit, which can leak resources.\n" + STORE_LOST
    )
    assert "unfinished" == cause(told(tmp_path, {"console.log": log}))


def test_heartbeat_monitor_that_lost_the_store_saw_no_collective_time_out(tmp_path: Path) -> None:
    log = (
        "[rank1]:[E614 11:14:03.086670611 ProcessGroupNCCL.cpp:1319] [PG 0 Rank 1] Failed to get exception dump flag from the "
        "global store.Connection reset by peer\n"
    )
    assert "collective.timeout" != cause(told(tmp_path, {"console.log": log}))


def test_connection_that_nccl_aborted_itself_is_not_certainly_the_first_failure(tmp_path: Path) -> None:
    log = (
        "n1:12251:12400 [5] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 10.0.0.2<17943> failed : Software "
        "caused connection abort\n"
    )
    report = told(tmp_path, {"console.log": log})
    assert report.diagnosis is not None
    assert ("nccl.bootstrap", "possible") == (cause(report), report.diagnosis.certainty)


UCX_ENDPOINT = "[n1:1224050] pml_ucx.c:424  Error: ucp_ep_create(proc=1) failed: Destination is unreachable\n"


def test_ucx_that_takes_a_container_bridge_used_the_wrong_interface(tmp_path: Path) -> None:
    log = (
        "[1695332443.361791] [n1:1224050:0]            sock.c:323  UCX  ERROR   connect(fd=42, dest_addr=172.17.0.1:54351) failed: "
        "Connection refused\n" + UCX_ENDPOINT
    )
    report = told(tmp_path, {"paste.txt": log})
    assert report.diagnosis is not None
    assert ("network.interface", "possible") == (cause(report), report.diagnosis.certainty)


def counted(rank: int, own: int, other: int, others: int) -> str:
    """A rank of which the number of parameters differs from another's."""
    return (
        f"[rank{rank}]: Traceback (most recent call last):\n"
        f'[rank{rank}]:   File "/app/train.py", line 30, in main\n'
        f"[rank{rank}]:     model = DistributedDataParallel(model)\n"
        f"[rank{rank}]: RuntimeError: DDP expects same model across all ranks, but Rank {rank} has {own} params, while rank "
        f"{other} has inconsistent {others} params.\n"
    )


def test_rank_that_alone_says_that_models_differ_is_not_at_fault(tmp_path: Path) -> None:
    report = told(tmp_path, {"paste.txt": counted(0, 160, 2, 158)})
    assert ("collective.shape-mismatch", []) == (cause(report), culprits(report))


def test_rank_of_which_the_model_differs_from_all_others_is_at_fault(tmp_path: Path) -> None:
    log = "".join(counted(r, *((158, 0, 160) if r == 2 else (160, 2, 158))) for r in range(4))
    report = told(tmp_path, {"console.log": log})
    assert ("collective.shape-mismatch", [2]) == (cause(report), culprits(report))


def test_world_is_no_smaller_than_the_numbers_of_ranks_that_wait(tmp_path: Path) -> None:
    log = "".join(watchdog(r).split("]:", 1)[1] for r in range(8) if r != 5) + (
        "E1120 10:30:05.123000 900 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: -6) local_rank: 0 "
        "(pid: 200) of binary: /usr/bin/python3\n[0]:\n  time      : 2026-11-20_10:30:05\n  host      : gpu-02\n"
        "  rank      : 4 (local_rank: 0)\n  exitcode  : -6 (pid: 200)\n  error_file: <N/A>\n"
        "  traceback : Signal 6 (SIGABRT) received by PID 200\n"
    )
    report = told(tmp_path, {"console.log": log})
    assert ("collective.straggler", [5]) == (cause(report), culprits(report))


def old_watchdog(rank: int, shape: str = "1048576") -> str:
    """As PyTorch 2.0 prints a time-out: no time, no prefix, the shape of the tensor."""
    return (
        f"[E ProcessGroupNCCL.cpp:828] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, "
        f"OpType=ALLREDUCE, TensorShape=[{shape}], Timeout(ms)=1800000) ran for 1803170 milliseconds before timing out.\n"
    )


def test_rank_that_waits_with_a_tensor_of_another_shape_is_at_fault(tmp_path: Path) -> None:
    log = "".join(old_watchdog(r, "1024, 512" if r == 3 else "1024, 1024") for r in range(4))
    report = told(tmp_path, {"console.log": log})
    assert ("collective.shape-mismatch", [3]) == (cause(report), culprits(report))


def test_rank_that_was_killed_held_up_the_others_and_not_the_one_with_a_log(tmp_path: Path) -> None:
    agent = (
        "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 2 (pid: 102) of binary: "
        "/opt/conda/bin/python\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "=====================================================\ntrain.py FAILED\n"
        "-----------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n"
        "-----------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n"
        "  time      : 2026-11-20_03:10:40\n  host      : gpu-01\n  rank      : 2 (local_rank: 2)\n"
        "  exitcode  : -9 (pid: 102)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 102\n"
    )
    files = {f"rank_{r}.log": old_watchdog(r) for r in range(4, 8)}
    files |= {"rank_0.log": "Epoch 0, iter 1: loss=2.99\nEpoch 0, iter 2: loss=2.98\n", "launcher_gpu-01.log": agent}
    report = told(tmp_path, files)
    assert ("process.sigkill", [2]) == (cause(report), culprits(report))


def test_horovod_tells_every_rank_that_tensors_differ_and_none_is_at_fault_by_that(tmp_path: Path) -> None:
    said = (
        "[1,2]<stderr>:tensorflow.python.framework.errors_impl.FailedPreconditionError: Mismatched ALLREDUCE CPU/GPU device "
        "selection: One rank specified device GPU, but another rank specified device CPU.\n"
    )
    report = told(tmp_path, {"console.log": said})
    assert ("collective.shape-mismatch", []) == (cause(report), culprits(report))
