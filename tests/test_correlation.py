"""Questions that only many ranks together can answer."""

from __future__ import annotations

from pathlib import Path

from tests.told import alive, cause, culprits, told, watchdog

OOM = (
    "[rank2]: Traceback (most recent call last):\n"
    '[rank2]:   File "/job/train.py", line 40, in <module>\n'
    "[rank2]:     main()\n"
    "[rank2]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 2 has a total capacity of "
    "79.10 GiB of which 371.41 MiB is free.\n"
)


def test_rank_without_timeout_is_the_straggler(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + (watchdog(r) if r != 5 else "") for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.straggler", [5]) == (cause(report), culprits(report))


def test_rank_of_which_a_paste_has_no_line_is_no_straggler(tmp_path: Path) -> None:
    """Two ranks are only seen because the one that speaks is number 1: nobody said how many there are."""
    lines = watchdog(1) + "frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x57 (0x7ff0 in libc10.so)\n"

    report = told(tmp_path, {"paste.log": lines})

    assert ("collective.timeout", []) == (cause(report), culprits(report))


def test_numbers_within_groups_do_not_tell_how_many_ranks_there_are(tmp_path: Path) -> None:
    """Old watchdogs print a rank's number within its group: that 0 and 7 speak does not say who keeps silent."""
    line = (
        "[E ProcessGroupNCCL.cpp:458] [Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, "
        "OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 25624887 milliseconds before timing out.\n"
    )
    stuck = [(0, 96120), (0, 96117), (0, 96125), (7, 64088)]

    report = told(tmp_path, {"train.log": "".join(line.format(rank, number) for rank, number in stuck)})

    assert ("collective.timeout", []) == (cause(report), culprits(report))


def test_first_reporter_of_a_timeout_is_not_the_culprit(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r, at="10:29:50" if r == 1 else "10:30:00") for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.timeout", []) == (cause(report), culprits(report))


def test_other_operation_at_the_same_number_is_a_desync_of_the_minority(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r, op="BROADCAST" if r == 3 else "ALLREDUCE") for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.desync", [3]) == (cause(report), culprits(report))


def test_every_size_is_told_with_its_own_ranks(tmp_path: Path) -> None:
    sizes = [10, 20, 30, 30]

    report = told(tmp_path, {f"rank_{r}.log": alive(r) + watchdog(r, numel=n) for r, n in enumerate(sizes)})

    assert report.diagnosis is not None
    said = report.diagnosis.summary
    assert all(
        f"{who} issued ALLREDUCE of {n} elements" in said for who, n in (("rank 0", 10), ("rank 1", 20), ("ranks 2-3", 30))
    )


def test_other_size_at_the_same_number_is_a_shape_mismatch(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r, numel=8192 if r == 6 else 4096) for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.shape-mismatch", [6]) == (cause(report), culprits(report))


def test_two_equal_halves_blame_nobody(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r, op="BROADCAST" if r < 2 else "ALLREDUCE") for r in range(4)}

    report = told(tmp_path, logs)

    assert ("collective.desync", []) == (cause(report), culprits(report))


def test_out_of_memory_on_one_rank_explains_the_timeouts_of_all_others(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + (OOM if r == 2 else watchdog(r)) for r in range(8)}

    report = told(tmp_path, logs)

    assert ("memory.cuda-oom", [2]) == (cause(report), culprits(report))
    assert "certain" == report.diagnosis.certainty
    assert {"collective.timeout"} == {s.cause for s in report.symptoms}


def test_missing_log_is_a_gap_and_no_culprit(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r) for r in range(8) if r != 4}

    report = told(tmp_path, logs, world_size=8)

    assert [] == culprits(report)
    assert any("rank 4" in gap.text for gap in report.gaps)


def test_equal_last_completed_with_different_last_enqueued_is_no_desync(tmp_path: Path) -> None:
    status = "[rank{r}]:[E1120 10:30:00.1042 ProcessGroupNCCL.cpp:1664] [PG 0 (default_pg) Rank {r}] Exception (either an error or timeout) detected by watchdog at work: 812, last enqueued NCCL work: {e}, last completed NCCL work: 811.\n"
    logs = {f"rank_{r}.log": alive(r) + watchdog(r) + status.format(r=r, e=812 + r) for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.timeout", []) == (cause(report), culprits(report))


def test_error_after_which_the_rank_made_progress_was_survived(tmp_path: Path) -> None:
    failure = OOM.replace("[rank2]", "[rank1]")
    logs = {f"rank_{r}.log": alive(r) + (failure if r == 1 else "") + alive(r, 900, "11:00:00") for r in range(4)}

    report = told(tmp_path, logs)

    assert report.diagnosis is None
    assert ["memory.cuda-oom"] == [s.cause for s in report.survived]


def test_caller_who_knows_of_a_failure_never_gets_healthy(tmp_path: Path) -> None:
    report = told(tmp_path, {"rank_0.log": alive(0)}, exit_code=1)

    assert ("failed", "unknown") == (report.outcome, cause(report))
    assert report.diagnosis.remedy


def test_same_exception_on_every_rank_is_nobodys_own_fault(tmp_path: Path) -> None:
    text = '[rank{r}]: Traceback (most recent call last):\n[rank{r}]:   File "/job/train.py", line 4, in main\n[rank{r}]:     x = cfg["lr"]\n[rank{r}]: KeyError: \'lr\'\n'

    report = told(tmp_path, {f"rank_{r}.log": alive(r) + text.format(r=r) for r in range(4)})

    assert ("process.exception", []) == (cause(report), culprits(report))


def test_clock_of_one_host_an_hour_ahead_changes_nothing(tmp_path: Path) -> None:
    logs = {
        f"node{r // 4}/rank_{r}.log": alive(r, at="11:19:00" if r < 4 else "10:19:00")
        + (OOM if r == 2 else watchdog(r, at="11:30:00" if r < 4 else "10:30:00"))
        for r in range(8)
    }

    report = told(tmp_path, logs)

    assert ("memory.cuda-oom", [2]) == (cause(report), culprits(report))


FOUND_DEAD = (
    "E1120 10:20:04.000000 4000 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) local_rank: {rank} "
    "(pid: {pid}) of binary: /usr/bin/python\n"
)
CLOSED = "W1120 10:20:03.000000 4000 torch/distributed/elastic/multiprocessing/api.py:897] Sending process {pid} closing signal SIGTERM\n"
NAMED = "2026-11-20 10:00:00,000 | INFO | rank {r} | init done: world_size=4 local_rank={r} host=n1 pid={pid} torch=2.5.1\n"
def test_rank_that_left_with_a_code_and_no_word_is_the_one_that_left_first(tmp_path: Path) -> None:
    """Its launcher ended the others for its sake. 255 is `exit(-1)`."""
    named = "".join(NAMED.format(r=r, pid=100 + r) for r in range(4))
    closed = "".join(CLOSED.format(pid=100 + r) for r in (0, 1, 3))

    report = told(tmp_path, {"console.log": named + closed + FOUND_DEAD.format(code=255, rank=2, pid=102)})

    assert ("process.exit-code", [2]) == (cause(report), culprits(report))


def test_step_that_slurm_cancels_after_a_task_failed_was_not_ended_from_outside(tmp_path: Path) -> None:
    slurm = (
        "srun: error: n1: task 2: Exited with exit code 7\n"
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\n"
        "slurmstepd: error: *** STEP 77.0 ON n1 CANCELLED AT 2026-11-20T10:20:00 ***\n"
        "srun: error: n1: tasks 0-1,3: Terminated\n"
    )

    report = told(tmp_path, {"slurm-77.out": slurm, **{f"train-77-{r}.out": alive(r) for r in range(4)}})

    assert ("process.exit-code", [2]) == (cause(report), culprits(report))


def test_rank_whose_dump_shows_it_behind_is_the_straggler(tmp_path: Path) -> None:
    """It tells its state because another rank's signal made it, and not because it waited."""
    dump = (
        "[rank3]:[E1120 10:30:01.000214417 ProcessGroupNCCL.cpp:1743] [PG ID 0 PG GUID 0(default_pg) Rank 3] Received a dump signal "
        "due to a collective timeout from  rank 1 and we will try our best to dump the debug info. Last enqueued NCCL work: 811, "
        "last completed NCCL work: 811.\n"
    )
    logs = {f"rank_{r}.log": alive(r) + (dump if r == 3 else watchdog(r)) for r in range(4)}

    report = told(tmp_path, logs)

    assert ("collective.straggler", [3]) == (cause(report), culprits(report))


def test_rank_that_waits_in_no_group_holds_up_all_groups(tmp_path: Path) -> None:
    """The others wait in the groups of their own, in which they have other numbers than in the job."""

    def waits(rank: int) -> str:
        text = watchdog(rank, seq=40 + rank % 2).replace(f"[Rank {rank}]", f"[Rank {rank // 2}]")
        group = f"[PG ID 1 PG GUID {5 + rank % 2}(DATA_PARALLEL_GROUP) Rank {rank // 2}]"
        status = (
            f"{group}  failure detected by watchdog at work sequence id: {40 + rank % 2} PG status: last enqueued work: "
        )
        prefix = text.partition("[Rank")[0]
        return f"{text}{prefix}{status}{40 + rank % 2}, last completed work: {39 + rank % 2}\n"

    logs = {f"rank_{r}.log": alive(r) + ("" if r == 5 else waits(r)) for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.straggler", [5]) == (cause(report), culprits(report))


def test_lines_that_tell_of_a_mismatch_come_to_the_one_rank_that_differs(tmp_path: Path) -> None:
    """Each line names a pair; together they name the minority, and say whether operation or shape differ."""
    line = (
        "[rank{r}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {r} is running collective: "
        "CollectiveFingerPrint(SequenceNumber=9, OpType=ALLREDUCE, TensorShape=[{a}], TensorDtypes=Float, "
        "TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda, layout=Strided (default), requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))), but Rank {o} is running collective: "
        "CollectiveFingerPrint(SequenceNumber=9, OpType=ALLREDUCE, TensorShape=[{b}], TensorDtypes=Float, "
        "TensorDeviceTypes=TensorOptions(dtype=float (default), device=cuda, layout=Strided (default), requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))).\n"
    )
    logs = {f"rank_{r}.log": alive(r) + line.format(r=r, a=2402, o=2, b=2405) for r in (0, 1, 3)}
    logs["rank_2.log"] = alive(2) + line.format(r=2, a=2405, o=0, b=2402)

    report = told(tmp_path, logs)

    assert ("collective.shape-mismatch", [2]) == (cause(report), culprits(report))


def test_what_a_rank_says_of_itself_is_surer_than_what_others_read_of_it(tmp_path: Path) -> None:
    """A barrier has no tensor: of its fingerprint, and with it of the others', PyTorch reads bytes that are none of its own."""
    of_tensor = (
        "[rank{r}]: RuntimeError: Detected mismatch between collectives on ranks. Rank {r} is running collective: "
        "CollectiveFingerPrint(SequenceNumber=10, OpType=BROADCAST, TensorShape=[4], TensorDtypes=Float, "
        "TensorDeviceTypes=TensorOptions(dtype=float (default), device=cpu, layout=Strided (default), requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))), but Rank 1 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=0OpType=REDUCE).Collectives differ in the following aspects: "
        "\t Sequence number: 10vs 0  Op type: BROADCASTvs REDUCE  Tensor Tensor shapes: 4vs   Tensor Tensor dtypes: Floatvs \n"
    )
    of_barrier = (
        "[rank1]: RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=10OpType=BARRIER), but Rank 0 is running collective: "
        "CollectiveFingerPrint(SequenceNumber=0OpType=GATHER).Collectives differ in the following aspects: "
        "\t Sequence number: 10vs 0  Op type: BARRIERvs GATHER\n"
    )
    text = of_barrier + of_tensor.format(r=0) + of_tensor.format(r=2)

    report = told(tmp_path / "all", {"console.log": text})
    alone = told(tmp_path / "one", {"console.log": of_barrier})

    others = told(
        tmp_path / "others", {"console.log": of_tensor.format(r=0) + of_tensor.format(r=2) + of_tensor.format(r=3)}
    )

    assert ("collective.desync", [1]) == (cause(report), culprits(report))
    assert ("collective.desync", [1]) == (
        cause(others),
        culprits(others),
    )  # what it issued they cannot tell, but no broadcast
    assert ("collective.desync", []) == (cause(alone), culprits(alone))
    assert alone.diagnosis is not None and "GATHER" not in alone.diagnosis.summary


def test_rank_that_its_own_launcher_killed_is_not_whom_the_kubelet_evicted(tmp_path: Path) -> None:
    """The events name the pod; a SIGKILL elsewhere is a launcher's last word."""
    escalated = (
        CLOSED.format(pid=103)
        + "W1120 10:20:33.000000 4000 torch/distributed/elastic/multiprocessing/api.py:916] Unable to shutdown process 103 via "
        "Signals.SIGTERM, forcefully exiting via Signals.SIGKILL\n"
    )
    logs = {
        "pods/ml_job-worker-1_7423bf58-be94-4782-9e3e-45d053626127/pytorch/0.log": NAMED.format(r=3, pid=103).replace(
            "n1", "job-worker-1"
        )
        + escalated
        + FOUND_DEAD.format(code=-9, rank=3, pid=103),
        "pods/ml_job-worker-0_7423bf58-be94-4782-9e3e-45d053626128/pytorch/0.log": alive(0),
        "events.txt": "2m   Warning   Evicted   pod/job-worker-0   The node was low on resource: memory. Container trainer was using "
        "412Gi, request is 400Gi, has larger consumption of memory. \n",
    }

    report = told(tmp_path, logs)

    assert ("memory.host-oom", []) == (cause(report), culprits(report))


def test_scheduler_that_cancels_is_shown_beside_the_agents_that_it_reached(tmp_path: Path) -> None:
    told_to_stop = "W1120 10:20:0{s}.000000 400 torch/distributed/elastic/agent/server/api.py:704] Received 15 death signal, shutting down workers\n"
    files = {f"gpu-0{n}/agent.log": told_to_stop.format(s=n) for n in (1, 2)}
    files["slurm-77.out"] = "slurmstepd: error: *** JOB 77 ON gpu-01 CANCELLED AT 2026-11-20T10:20:05 ***\n"

    report = told(tmp_path, files)

    assert report.diagnosis is not None
    assert "process.terminated" == cause(report)
    assert "slurm-77.out" in {Path(e.file).name for e in report.diagnosis.evidence}


def test_first_collective_that_none_completes_tells_of_connections(tmp_path: Path) -> None:
    report = told(tmp_path, {f"rank_{r}.log": watchdog(r, seq=1, numel=1) for r in range(4)}, world_size=4)

    assert ("collective.timeout", []) == (cause(report), culprits(report))
    assert report.diagnosis is not None
    assert "never connected" in report.diagnosis.summary
    assert "barrier, loss, or gradient norm" in report.diagnosis.summary


def test_late_collective_in_which_all_wait_blames_what_lies_below(tmp_path: Path) -> None:
    report = told(tmp_path, {f"rank_{r}.log": alive(r) + watchdog(r, seq=88120) for r in range(4)}, world_size=4)

    assert report.diagnosis is not None
    assert "earlier collectives worked" in report.diagnosis.summary


def test_lines_without_a_clock_align_no_clocks(tmp_path: Path) -> None:
    """Old watchdogs print no time; what stands above them in each file is of another moment on every host."""
    stamped = (
        "2026-11-20 {at},000 | INFO | rank {r} | init done: world_size=4 local_rank=0 host=gpu-0{r} pid=10{r} torch=2.1.0\n"
    )
    old = (
        "[E ProcessGroupNCCL.cpp:475] [Rank {r}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "
        "NumelIn=4096, NumelOut=4096, Timeout(ms)=1800000) ran for 1800012 milliseconds before timing out.\n"
    )
    logs = {f"gpu-0{r}.log": stamped.format(r=r, at=f"10:{17 * r:02}:00") + old.format(r=r) for r in (0, 1, 2)}

    report = told(tmp_path, logs, world_size=4)

    assert "aligned" not in report.time_basis


def test_exception_said_more_often_than_is_kept_is_still_the_narrower_one(tmp_path: Path) -> None:
    """Beyond the cap the last resort would speak of each traceback that is left."""
    text = (
        "Traceback (most recent call last):\\n"
        '  File "/job/train.py", line 4, in setup\\n    dist.init_process_group("nccl")\\n'
        "torch.distributed.DistNetworkError: The client socket has timed out after {limit} while trying to connect to (n5, 29500).\\n"
    ).replace("\\n", "\n")
    console = "".join(text.format(limit="60s" if n < 60 else "60000ms") for n in range(120))

    assert "network.connect-timeout" == cause(told(tmp_path, {"console.log": console}))


def test_peers_that_lose_one_another_after_the_end_waited_for_nothing(tmp_path):
    text = (
        "[rank0]: step 1000/1000 loss 1.92\n[rank0]: Training finished successfully in 2h 3m\n"
        "node3:1022:1303 [1] misc/socket.cc:881 NCCL WARN socketProgress: Connection closed by remote peer node3<45012>\n"
        "node3:1022:1022 [1] NCCL INFO comm 0x12464df00 rank 1 nranks 2 cudaDev 1 busId c000 - Abort COMPLETE\n"
    )

    assert told(tmp_path, {"console.log": text}).diagnosis is None


def jax_barrier(*absent: int) -> str:
    names = "".join(f"/job:jax_worker/replica:0/task:{n}\n" for n in absent)
    return (
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Barrier_id: PjRT_Client_Connect. "
        f"Timed out task names:\n{names}"
    )


def test_where_most_of_a_job_never_came_none_of_them_is_at_fault(tmp_path: Path) -> None:
    """One process was started with num_processes=8: the start is at fault, not seven processes."""
    report = told(tmp_path, {"rank0.log": jax_barrier(1, 6, 3, 2, 5, 7, 4)})

    assert ("rendezvous.timeout", []) == (cause(report), culprits(report))
