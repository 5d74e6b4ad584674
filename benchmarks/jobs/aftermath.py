"""What follows when a rank dies or never arrives: launchers reap and kill, peers lose connections or time out.

A dead rank's launcher ends its neighbours at once; ranks of other hosts notice a closed connection within seconds, or
sit in their collective until the watchdog fires. A rank that is merely late says nothing.
"""

from __future__ import annotations

from . import elastic, raytext, slurm, tracebacks
from .job import Host, Job
from .watchdog import Wait, passive_dump, pick_wait, report_lost_peer, report_timeout

REAP_S = 5.0  # torchrun looked every 5 s before 2.4, every 0.1 s since


def reap_delay(job: Job) -> float:
    return job.rng.uniform(0.05, 0.4) if job.torch.since(2, 4) else job.rng.uniform(0.3, REAP_S)


def rank_raises(job: Job, time_s: float, rank: int, error: str, where: str, evidence: str, *, joined: bool = True, code: int = 1) -> None:
    """One rank dies of a Python exception, and the job with it."""
    text = tracebacks.traceback_text(job, error, where)
    job.rank_says(time_s, rank, tracebacks.with_rank(job, rank, text, joined=joined and job.launcher != "ray"), evidence)
    if job.notes["record"]:
        elastic.record(job, time_s, rank, text, evidence)
    ranks_died(job, time_s + job.rng.uniform(0.4, 2.5), {rank: code}, ray_text=text)


def all_raise(job: Job, time_s: float, error_of: dict[int, tuple[str, str]], where: str, *, joined: bool = True) -> None:
    """Every rank dies of its own copy of the same fault: (error, evidence) by rank."""
    first = next(iter(error_of))
    ends = {}
    for rank, (error, evidence) in error_of.items():
        moment = time_s + job.rng.uniform(0, 1.5)
        text = tracebacks.traceback_text(job, error, where)
        job.rank_says(moment, rank, tracebacks.with_rank(job, rank, text, joined=joined and job.launcher != "ray"), evidence)
        ends[rank] = moment + job.rng.uniform(0.3, 1.2)
        if rank == first and job.launcher == "ray":
            raytext.raised(job, moment + 0.6, rank, text)
            raytext.echo(job, moment + 0.4, rank, f"{error.splitlines()[-1]} [repeated {len(error_of) - 1}x across cluster]")
    if job.launcher == "ray":
        return
    if job.launcher == "srun":
        earliest = min(ends, key=lambda rank: ends[rank])
        slurm.tasks_ended(job, ends[earliest], [earliest], 1)
        slurm.tasks_ended(job, ends[earliest] + 0.5, [rank for rank in ends if rank != earliest], 1)
        return
    for host in job.hosts:
        dead = {rank: (1, ends[rank]) for rank in job.ranks_on(host) if rank in ends}
        if dead:
            host_down(job, max(end for _, end in dead.values()), host, dead)


def host_down(job: Job, time_s: float, host: Host, dead: dict[int, tuple[int, float]], evidence: str = "", *, gone: set[int] | None = None) -> None:
    """The launcher on one host reaps `dead` (code, when), ends the other ranks there and sums up."""
    order = sorted(dead, key=lambda rank: dead[rank][1])
    first = order[0]
    rest = [rank for rank in job.ranks_on(host) if rank not in dead and rank not in (gone or ())]
    job.rng.shuffle(rest)
    reaped = time_s + reap_delay(job)
    if job.launcher == "deepspeed":
        elastic.deepspeed_down(job, reaped, host, dead[first][0])
        return
    elastic.stop_workers(job, reaped, host, sorted(rest))
    if rest and job.rng.random() < 0.15:
        tracebacks.thread_dies(job, reaped + 0.2, job.rng.choice(rest))
    stubborn = {job.rng.choice(rest)} if rest and job.rng.random() < 0.1 else set()
    for rank in stubborn:
        elastic.forced(job, reaped + 30, host, rank)
        reaped += 30
    elastic.failed_line(job, reaped + job.rng.uniform(0.3, 3.0), host, first, dead[first][0], evidence)
    # neighbours that got SIGTERM are listed, or not, depending on how fast they went
    listed = sorted(rest) if job.notes.setdefault("lists_sigterm", job.rng.random() < 0.6) else []
    deaths = [(rank, dead[rank][0], dead[rank][1]) for rank in order] + [(rank, -9 if rank in stubborn else -15, reaped) for rank in listed]
    elastic.summary(job, reaped + 3.2, host, deaths, evidence and f"exitcode  : {dead[first][0]} (pid: {job.pid(first)})")
    if job.notes.get("batch"):  # one task for each host: its number is the node's, not a rank
        job.slurm_says(reaped + 4, f"srun: error: {host.name}: task {host.index}: Exited with exit code 1")


def ranks_died(job: Job, time_s: float, codes: dict[int, int], *, mark: bool = False, ray_text: str = "", mode: str = "") -> None:
    """Some ranks are dead (exit codes); all others find out in the ways of this launcher.

    With `mark`, the launcher's own lines are the evidence: the rank itself said nothing.
    """
    if job.launcher == "ray":
        rank = min(codes)
        if ray_text:
            raytext.raised(job, time_s, rank, ray_text)
        else:
            raytext.died(job, time_s, rank, evidence=f"PID: {job.pid(rank)}" if mark else "")
        return
    mode = mode or job.rng.choice(["timeout", "reset", "reset"])
    if job.launcher == "srun":
        tasks_died(job, time_s, codes, "srun: error:" if mark else "", mode)
        return
    hit = [host for host in job.hosts if any(job.host_of(rank) is host for rank in codes)]
    wait = pick_wait(job, job.seq)
    for host in job.hosts:
        dead = {rank: (code, time_s) for rank, code in codes.items() if job.host_of(rank) is host}
        if dead:
            host_down(job, time_s, host, dead, "failed (exitcode" if mark else "")
        elif mode == "reset":
            peers_reset(job, time_s + job.rng.uniform(0.5, 9), host, job.rng.choice(hit))
        else:
            host_times_out(job, time_s + job.timeout_ms / 1000, host, wait, min(codes))
    if job.launcher == "torchrun" and hit[0].index == 0 and len(job.hosts) > 1 and mode == "timeout":
        for host in job.hosts[1:]:
            elastic.lost_rendezvous(job, time_s + job.rng.uniform(6, 20), host)


def peers_reset(job: Job, time_s: float, host: Host, lost: Host) -> None:
    """Ranks of another host lose the connection; the first to fall takes its neighbours with it."""
    fallen = job.rng.sample(job.ranks_on(host), max(1, min(job.per_host, job.rng.randrange(1, 5))))
    dead = {}
    for rank in fallen:
        moment = time_s + job.rng.uniform(0, 2)
        report_lost_peer(job, moment, rank, lost)
        dead[rank] = (1, moment + 0.5)
    if lost.index == 0 and job.torch.since(2, 5) and job.rng.random() < 0.6:
        store_gone(job, time_s + 1, host)
    host_down(job, time_s + 2.5, host, dead)


def store_gone(job: Job, time_s: float, host: Host) -> None:
    """The store lived in the process of rank 0: each watchdog complains that it is gone."""
    for rank in job.ranks_on(host):
        moment = time_s + job.rng.uniform(0, 1)
        text = f'[PG ID 0 PG GUID 0(default_pg) Rank {rank}] Failed to check the "should dump" flag on TCPStore, (maybe TCPStore server has shut down too early), with error: {job.rng.choice(["Broken pipe", "failed to recv, got 0 bytes"])}'
        job.rank_says(moment, rank, job.c10(rank, moment, "W", "ProcessGroupNCCL.cpp:1662") + text)


def group_wait(job: Job, rank: int, culprit: int, wait: Wait) -> Wait:
    """Megatron: neighbours of the culprit wait in its tensor-parallel group, the rest in data-parallel groups."""
    size = min(4, job.per_host)
    nameless = not job.torch.since(2, 2) and (job.layout in {"node", "k8s"} or job.style == "plain")
    if job.framework != "megatron" or job.world <= size or nameless:  # ranks of a group alone would name nobody
        return wait
    tensor, place = divmod(rank, size)
    if tensor == culprit // size:
        return Wait(wait.seq * 7 + 3, "ALLREDUCE", 16777216, 16777216, 2, str(10 + tensor), "TENSOR_MODEL_PARALLEL_GROUP", place)
    return Wait(wait.seq, "_REDUCE_SCATTER_BASE", 40000000, 40000000 // (job.world // size), 1, str(5 + place), "DATA_PARALLEL_GROUP", tensor)


def host_times_out(job: Job, time_s: float, host: Host, wait: Wait, culprit: int) -> None:
    dead = {}
    for rank in job.ranks_on(host):
        end = report_timeout(job, time_s + job.rng.uniform(0, 0.9), rank, group_wait(job, rank, culprit, wait))
        dead[rank] = (-6, end)
    first = min(dead, key=lambda rank: dead[rank][1])
    host_down(job, dead[first][1], host, dead)


def tasks_died(job: Job, time_s: float, codes: dict[int, int], evidence: str, mode: str) -> None:
    rest = [rank for rank in range(job.world) if rank not in codes]
    for code in sorted(set(codes.values())):
        slurm.tasks_ended(job, time_s, [rank for rank in codes if codes[rank] == code], code, evidence)
    if job.notes.get("kill_on_bad_exit"):
        slurm.step_aborted(job, time_s + 0.2, rest)
        return
    if mode == "reset":
        lost = job.host_of(min(codes))
        for rank in rest:
            report_lost_peer(job, time_s + job.rng.uniform(0.4, 8), rank, lost)
        slurm.tasks_ended(job, time_s + 9, rest, 1)
        return
    wait = pick_wait(job, job.seq)
    for rank in rest:
        report_timeout(job, time_s + job.timeout_ms / 1000 + job.rng.uniform(0, 0.9), rank, group_wait(job, rank, min(codes), wait))
    slurm.tasks_ended(job, time_s + job.timeout_ms / 1000 + 3, rest, -6)


def hang(job: Job, time_s: float, waits: dict[int, Wait], marks: dict[int, str] | None = None, *, dump: bool = False, gone: set[int] | None = None) -> None:
    """The ranks of `waits` sit in a collective until the watchdog fires; all others are silent, and killed after.

    `gone` ranks have ended on their own before: nobody reaps them.
    """
    marks = marks or {}
    fire = time_s + job.timeout_ms / 1000
    ends: dict[int, float] = {}
    for rank, wait in waits.items():
        ends[rank] = report_timeout(job, fire + job.rng.uniform(0, 0.9), rank, wait, evidence=marks.get(rank, ""), brief=job.world > 64 and rank % 4 != 0)
    silent = [rank for rank in range(job.world) if rank not in waits and rank not in (gone or ())]
    if dump and silent and job.torch.since(2, 7):
        for rank in silent:
            passive_dump(job, fire + 1.5, rank, next(iter(waits.values())), min(ends, key=lambda key: ends[key]))
    if job.launcher == "ray":
        rank = min(ends, key=lambda key: ends[key])
        raytext.died(job, ends[rank] + 0.5, rank, "Worker unexpectedly exits with a connection error code 2. End of file.")
        return
    if job.launcher == "srun":
        first = min(ends, key=lambda key: ends[key])
        slurm.tasks_ended(job, ends[first] + 0.2, [first], -6)
        slurm.tasks_ended(job, fire + 3.5, [rank for rank in ends if rank != first], -6)
        if silent:
            slurm.step_aborted(job, fire + 4, silent)
        return
    for host in job.hosts:
        dead = {rank: (-6, ends[rank]) for rank in job.ranks_on(host) if rank in ends}
        if dead:
            host_down(job, fire + 2.4, host, dead, gone=gone)
        else:
            elastic.lost_rendezvous(job, fire + 9, host)
