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


def test_logs_without_a_job_number_stay(tmp_path: Path) -> None:
    """A kernel log may tell of any of the jobs."""
    kernel = "Nov 20 10:20:00 n1 kernel: NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    files = {"slurm-1001.out": alive(0), "slurm-1002.out": alive(0), "kern-n1.log": kernel}

    assert "gpu.off-bus" == cause(told(tmp_path, files))
