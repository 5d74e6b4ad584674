"""Slurm's words: what srun says of tasks that ended, and what the step daemon says of cancelled jobs."""

from __future__ import annotations

from . import clock
from .job import Job

DIED = {-6: "Aborted (core dumped)", -7: "Bus error (core dumped)", -9: "Killed", -11: "Segmentation fault (core dumped)", -15: "Terminated", -1: "Hangup"}


def ranges(numbers: list[int]) -> str:
    """Slurm's list syntax: `0-1,3`."""
    parts: list[str] = []
    run: list[int] = []
    for number in [*sorted(numbers), -1]:
        if run and number == run[-1] + 1:
            run.append(number)
            continue
        if run:
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
        run = [number]
    return ",".join(parts)


def tasks_ended(job: Job, time_s: float, ranks: list[int], code: int, evidence: str = "") -> None:
    """One `srun: error:` line for each host of the ranks."""
    for host in job.hosts:
        mine = [rank for rank in ranks if job.host_of(rank) is host]
        if mine:
            how = DIED[code] if code < 0 else f"Exited with exit code {code}"
            word = "task" if len(mine) == 1 else "tasks"
            job.slurm_says(time_s, f"srun: error: {host.name}: {word} {ranges(mine)}: {how}", evidence)
            time_s += 0.01


def cancelled(job: Job, time_s: float, why: str, entity: str = "JOB", evidence: str = "") -> None:
    """`slurmstepd: error: *** JOB 7 ON node1 CANCELLED AT ... ***`; the node is only where the message is printed."""
    host = job.hosts[0]
    which = f"STEP {job.job_id}.0" if entity == "STEP" else f"JOB {job.job_id}"
    tail = f" {why}" if why else ""
    job.slurm_says(time_s, f"slurmstepd: error: *** {which} ON {host.name} CANCELLED AT {clock.iso(job.now(host, time_s))}{tail} ***", evidence)


def step_aborted(job: Job, time_s: float, rest: list[int]) -> None:
    """--kill-on-bad-exit: the other tasks get SIGTERM; they print nothing."""
    job.slurm_says(time_s, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
    cancelled(job, time_s + 0.1, str(job.notes.get("cancel_words", "")), "STEP")
    tasks_ended(job, time_s + 0.9, rest, -15)


def opening(job: Job, time_s: float) -> None:
    """What the batch script echoes before its first step."""
    script = job.notes.get("script", "train.py")
    python = job.site.split("/lib/")[0] + "/bin/python"
    flag = " --kill-on-bad-exit=1" if job.notes.get("kill_on_bad_exit") else ""
    job.slurm_says(time_s, job.rng.choice([
        f"+ srun{flag} {python} {script} --config configs/{job.name}.yaml",
        f"Job {job.job_id} on {len(job.hosts)} nodes: {job.hosts[0].name} .. {job.hosts[-1].name}",
        f"SLURM_JOB_ID={job.job_id} SLURM_NNODES={len(job.hosts)} MASTER_ADDR={job.hosts[0].name}"]))
