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


def test_every_size_is_told_with_its_own_ranks(tmp_path: Path) -> None:
    sizes = [10, 20, 30, 30]

    report = told(tmp_path, {f"rank_{r}.log": alive(r) + watchdog(r, numel=n) for r, n in enumerate(sizes)})

    said = report.diagnosis.summary
    assert all(
        f"{who} issued ALLREDUCE of {n} elements" in said for who, n in (("rank 0", 10), ("rank 1", 20), ("ranks 2-3", 30))
    )


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


def test_scheduler_that_cancels_is_shown_beside_the_agents_that_it_reached(tmp_path: Path) -> None:
    told_to_stop = "W1120 10:20:0{s}.000000 400 torch/distributed/elastic/agent/server/api.py:704] Received 15 death signal, shutting down workers\n"
    files = {f"gpu-0{n}/agent.log": told_to_stop.format(s=n) for n in (1, 2)}
    files["slurm-77.out"] = "slurmstepd: error: *** JOB 77 ON gpu-01 CANCELLED AT 2026-11-20T10:20:05 ***\n"

    report = told(tmp_path, files)

    assert "process.terminated" == cause(report)
    assert "slurm-77.out" in {Path(e.file).name for e in report.diagnosis.evidence}


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
