"""Several jobs in one folder."""

from __future__ import annotations

from pathlib import Path

from tests.told import alive, cause, told

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
