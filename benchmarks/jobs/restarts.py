"""Attempts before the last: they fail for another reason, and the launcher or scheduler starts the job again."""

from __future__ import annotations

from . import elastic, names, slurm, tracebacks
from .job import Job


def earlier_attempt(job: Job, time_s: float) -> float:
    """A first attempt that failed for another reason and was restarted; answers when the next one begins."""
    rng = job.rng
    rank = job.any_rank()
    host = job.host_of(rank)
    code, what = rng.choice([(-9, "-9"), (-11, "-11"), (1, "ConnectionResetError"), (1, "OSError")])
    if code == 1:
        error = {"ConnectionResetError": "ConnectionResetError: [Errno 104] Connection reset by peer",
                 "OSError": f"OSError: [Errno 5] Input/output error: '{names.fill(rng, names.DATA, job.user, job.name)}'"}[what]
        tracebacks.raise_text(job, time_s, rank, error, "dataset")
    if job.launcher == "srun":
        slurm.tasks_ended(job, time_s + 1, [rank], code)
        slurm.cancelled(job, time_s + 3, "DUE TO JOB REQUEUE")
    else:
        elastic.stop_workers(job, time_s + 1.5, host, [other for other in job.ranks_on(host) if other != rank])
        if rng.random() < 0.5:
            elastic.failed_line(job, time_s + 2.5, host, rank, code)
        for other in job.hosts:
            if other is not host:
                elastic.stop_workers(job, time_s + 6, other, job.ranks_on(other))
    job.attempt += 1
    job.notes["earlier"] = f"attempt {job.attempt - 1} failed for another reason ({what})"
    job.redraw_pids()
    resumed = time_s + rng.uniform(20, 90)
    job.step = max(0, job.step - rng.randrange(1, 40))
    job.seq = rng.randrange(20, 90)
    return resumed
