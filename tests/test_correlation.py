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


def test_first_reporter_of_a_timeout_is_not_the_culprit(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r, at="10:29:50" if r == 1 else "10:30:00") for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.timeout", []) == (cause(report), culprits(report))


def test_other_operation_at_the_same_number_is_a_desync_of_the_minority(tmp_path: Path) -> None:
    logs = {f"rank_{r}.log": alive(r) + watchdog(r, op="BROADCAST" if r == 3 else "ALLREDUCE") for r in range(8)}

    report = told(tmp_path, logs)

    assert ("collective.desync", [3]) == (cause(report), culprits(report))


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
