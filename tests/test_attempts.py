"""Which attempt, or which job of a folder, an error belongs to, and which of them the job outlived."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.report.report import Report

from .told import alive, cause, culprits, told

STEP = "2026-11-20 {at},000 | INFO | rank 0 | epoch 0 step {step}/20000 loss 1.2345 lr 3.00e-04 1.00 it/s\n"
IO_ERROR = (
    "[rank1]: Traceback (most recent call last):\n"
    '[rank1]:   File "/job/train.py", line 40, in <module>\n'
    "[rank1]:     main()\n"
    "[rank1]: OSError: [Errno 5] Input/output error: '/data/part-2568.jsonl'\n"
)
CANCELLED = "slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2026-11-20T{at}{why} ***\n"


def test_codes_of_tasks_below_a_requeue_belong_to_the_attempt_that_it_ended(tmp_path: Path) -> None:
    """Slurm says so of the job and of its step, which is one restart, and srun then reports what the signal made of the tasks."""
    both = CANCELLED.format(at="10:02:00", why=" DUE TO JOB REQUEUE")
    slurm = both + both.replace("JOB 77", "STEP 77.0") + "srun: error: n1: tasks 0-1: Exited with exit code 1\n"

    report = told(tmp_path, {"slurm-77.out": STEP.format(at="10:01:00", step=9) + slurm}, world_size=2)

    assert "process.preempted" == cause(report)
    assert 2 >= len(report.attempts)


@pytest.mark.parametrize(("path", "attempt"), [("/data/part-2568.jsonl", 0), ("/data/part-9.jsonl", 1)], ids=["same", "another"])
def test_what_failed_alike_before_a_restart_is_shown_where_it_began(tmp_path: Path, path: str, attempt: int) -> None:
    folder = "n1/elastic/run_abcd1234/attempt_"
    files = {
        f"{folder}0/1/stderr.log": STEP.format(at="10:01:00", step=30) + IO_ERROR,
        f"{folder}1/1/stderr.log": STEP.format(at="10:31:00", step=30) + IO_ERROR.replace("/data/part-2568.jsonl", path),
    }
    report = told(tmp_path, files, world_size=2)

    assert ("storage.io-error", [1]) == (cause(report), culprits(report))
    assert f"attempt_{attempt}" in report.diagnosis.evidence[0].file


def _raises(rank: int, exception: str) -> str:
    return f'[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File "/job/train.py", line 40, in <module>\n[rank{rank}]: {exception}\n'


def _shown(report: Report) -> list[str]:
    return [e.text for attempt in report.attempts for e in attempt.evidence]


FOUND_DEAD = (
    "E1120 {at}000 19221 torch/distributed/elastic/multiprocessing/api.py:1002] failed (exitcode: 1) local_rank: {rank} "
    "(pid: 1923{rank}) of binary: /venv/bin/python\n"
)
LOST = "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.77.0.1]:40108"
REFUSED = "SO_ERROR: Connection refused, remote=[10.77.0.1]:36760$0"
GAVE_UP = (
    "[/pytorch/third_party/gloo/gloo/transport/tcp/debug_logger.cc:9] ERROR failed to connect, willRetry=0, retry=4, retryLimit=3, "
    f"rank=0, size=2, local=[10.77.0.1]:3803, remote=[10.77.0.1]:36760$0, error={REFUSED}\n"
)


def test_attempt_of_the_verdict_is_shown_with_what_proves_it(tmp_path: Path) -> None:
    """The loss that another rank met because of it was printed first; the last attempt fails for a reason of its own."""
    own = "ConnectionResetError: [Errno 104] Connection reset by peer while reading s3://corpus/shard-00007"
    mesh = f"Gloo connectFullMesh failed with [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:152] timed out connecting: {REFUSED}"
    files = {
        "agent.log": FOUND_DEAD.format(at="17:38:45.214", rank=1) + FOUND_DEAD.format(at="17:38:52.620", rank=0),
        **{f"run_a/attempt_0/{r}/stdout.log": STEP.format(at="17:38:44", step=5).replace("rank 0", f"rank {r}") for r in range(2)},
        "run_a/attempt_0/0/stderr.log": _raises(0, LOST),
        "run_a/attempt_0/1/stderr.log": _raises(1, own),
        **{f"run_a/attempt_1/{rank}/stderr.log": GAVE_UP + _raises(rank, f"RuntimeError: {mesh}") for rank in range(2)},
    }

    first, second = _shown(told(tmp_path, files, world_size=2))

    assert own in first
    assert REFUSED in second


# --- several jobs in one folder -----------------------------------------------------------------------------------

OOM = "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB\n"
KILLED = "srun: error: n1: task 0: Segmentation fault (core dumped)\n"


def test_last_job_that_failed_is_diagnosed_and_the_others_are_named(tmp_path: Path) -> None:
    files = {"slurm-1001.out": KILLED, "slurm-1002.out": alive(0) + OOM, "slurm-1003.out": alive(0)}
    report = told(tmp_path, files)
    assert "memory.cuda-oom" == cause(report)
    assert ["Slurm job 1001", "Slurm job 1003"] == [j.name for j in report.other_jobs]
    assert ["failed too" in j.text for j in report.other_jobs] == [True, False]


def test_tasks_of_one_job_are_one_job(tmp_path: Path) -> None:
    files = {"slurm-1001.out": KILLED, **{f"train-1001-{r}.out": alive(r) for r in range(2)}}
    assert () == told(tmp_path, files).other_jobs


def run_of(day: int, *steps: int, rank: int = 0) -> str:
    return "".join(f"2026-11-{day} 10:{20 + n}:00,000 | INFO | rank {rank} | step {s} loss 1.2345\n" for n, s in enumerate(steps))


SPLIT = "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\nValueError: Unknown split 'val'\n"


def test_days_of_one_job_in_folders_are_one_job(tmp_path: Path) -> None:
    before, after = run_of(20, 10, 20, 30).replace(" 10:2", " 23:5"), run_of(21, 40, 50).replace(" 10:2", " 00:0")
    assert () == told(tmp_path, {"20/rank0.log": before, "21/rank0.log": after + OOM}).other_jobs


def test_hosts_and_streams_of_one_job_in_folders_are_one_job(tmp_path: Path) -> None:
    """What rank 0 wrote to its standard error came an hour after the last step, in another folder."""
    late = OOM.replace("[rank0]: ", "[rank0]: 2026-11-20 11:30:00,000 ")
    files = {
        "n1/rank0.log": run_of(20, 10, 20),
        "n2/rank1.log": run_of(20, 10, 20, rank=1),
        "stderr/rank0.log": late,
    }
    assert () == told(tmp_path, files).other_jobs


def test_attempts_that_torchrun_numbers_are_one_job(tmp_path: Path) -> None:
    files = {
        "attempt_0/0/stderr.log": run_of(20, 10, 20, 30) + OOM,
        "attempt_1/0/stderr.log": run_of(21, 10, 20) + OOM,
    }
    assert () == told(tmp_path, {f"none_b0mfaheb/{name}": text for name, text in files.items()}).other_jobs


def test_hosts_in_zones_of_their_own_whose_steps_name_no_rank_are_one_job(tmp_path: Path) -> None:
    far = run_of(20, 10, 20, 30).replace("rank 0 | ", "")
    near = far.replace(" 10:2", " 02:2")
    assert () == told(tmp_path, {"gpu-node-07/train.log": far, "gpu-node-08/train.log": near + SPLIT}).other_jobs


def test_two_runs_that_ended_well_in_one_file_outlived_nothing() -> None:
    run = (
        "#  Rank  0 Group  0 Pid  {pid} on    node-1 device  0 [0x11] NVIDIA A100-SXM4-80GB\n"
        "     1048576        262144     float     sum      -1   2546.3    0.41    0.41      0   2563.6    0.41    0.41      0\n"
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.205\n"
    )
    assert "healthy" == diagnose(Text(run.format(pid=4711) + run.format(pid=5822), name="sweep.log")).outcome
