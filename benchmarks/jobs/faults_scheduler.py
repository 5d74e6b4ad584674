"""Ended from outside: limits, preemption, operators, nodes that go away, terminals that close."""

from __future__ import annotations

from . import clock, elastic, slurm
from .aftermath import peers_reset
from .fault import ON_SLURM, Fault, blameless
from .job import Job, Truth


def all_signalled(job: Job, time_s: float, signal: str = "SIGTERM", *, mark: bool = False) -> None:
    """Every launcher gets the signal, a little apart."""
    for host in job.hosts:
        moment = time_s + job.rng.uniform(0, 1.5)
        if job.launcher == "torchrun":
            elastic.agent_signalled(job, moment, host, signal, "death signal" if mark else "")
    if job.launcher == "srun":
        job.slurm_says(time_s + 0.1, "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.")
        slurm.tasks_ended(job, time_s + 1.4, list(range(job.world)), -15)
    if job.framework == "lightning" and signal == "SIGTERM":
        for rank in range(min(job.world, 16)):
            job.rank_says(time_s + 0.5, rank, f"[rank: {job.local(rank)}] Received SIGTERM: 15")


def entity(job: Job) -> str:
    return "STEP" if job.launcher == "srun" and job.rng.random() < 0.6 else "JOB"


def time_limit(job: Job, time_s: float) -> Truth:
    slurm.cancelled(job, time_s, "DUE TO TIME LIMIT", entity(job), "DUE TO TIME LIMIT")
    all_signalled(job, time_s + 0.5)
    return blameless("process.time-limit", "Slurm's time limit ends the job", "DUE TO TIME LIMIT", remedy="Ask for more time, or save before the limit (--signal).")


def preempted(job: Job, time_s: float) -> Truth:
    why = job.rng.choice(["DUE TO PREEMPTION", "DUE TO PREEMPTION", "DUE TO JOB REQUEUE"])
    slurm.cancelled(job, time_s, why, entity(job), why)
    all_signalled(job, time_s + 0.5)
    return blameless("process.preempted", "the scheduler takes the nodes away", why, accept=("process.terminated",) if "REQUEUE" in why else (), remedy="Requeue from the last checkpoint.")


def scancel(job: Job, time_s: float) -> Truth:
    words = job.rng.choice(["", "", "DUE to SIGNAL Terminated"])
    slurm.cancelled(job, time_s, words, entity(job), "CANCELLED AT")
    all_signalled(job, time_s + 0.4)
    now = job.now(job.hosts[0], time_s)
    if job.rng.random() < 0.6:
        job.say(time_s - 0.2, ("slurmctld", 0), f"[{clock.iso(now)}.803] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId={job.job_id} uid {job.rng.randrange(1000, 90000)}", "REQUEST_KILL_JOB")
    return blameless("process.terminated", "somebody cancels the job", "CANCELLED", accept=("process.preempted",), remedy="Ask who cancelled it.")


def node_failure(job: Job, time_s: float) -> Truth:
    """A node dies: its ranks fall silent in mid-sentence; Slurm needs minutes to notice."""
    rng = job.rng
    host = rng.choice(job.hosts[1:])
    noticed = time_s + rng.uniform(60, 300)
    # nothing can be heard from that machine any more
    job.events = [event for event in job.events if event.time_s <= time_s or event.who[0] in {"slurm", "slurmctld"}]
    if rng.random() < 0.4 and job.launcher == "torchrun":
        peers_reset(job, time_s + rng.uniform(30, 50), rng.choice([other for other in job.hosts if other is not host]), host)
    job.slurm_says(noticed, rng.choice([f"srun: error: Node failure on {host.name}", f"salloc: error: Node failure on {host.name}"]), "Node failure on")
    slurm.cancelled(job, noticed + 0.1, "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS", "JOB", "DUE TO NODE FAILURE")
    if rng.random() < 0.5:
        job.say(noticed - 3, ("slurmctld", 0), f"[{clock.iso(job.now(job.hosts[0], noticed - 3))}.120] error: Nodes {host.name} not responding, setting DOWN", "not responding")
    rest = [rank for rank in range(job.world) if job.host_of(rank) is not host]
    if job.launcher == "srun":
        slurm.tasks_ended(job, noticed + 1.5, rest, -15)
    else:
        for other in job.hosts:
            if other is not host:
                elastic.agent_signalled(job, noticed + 0.6, other, "SIGTERM")
    return blameless("process.node-failure", f"{host.name} goes down", "Node failure on", host.name, hosts=[host.name], remedy="Drain that node; restart from the last checkpoint on others.")


def hangup(job: Job, time_s: float) -> Truth:
    """The terminal that started torchrun closes."""
    all_signalled(job, time_s, "SIGHUP", mark=True)
    return blameless("process.terminated", "SIGHUP: the terminal of the launcher closed", "death signal", remedy="Use tmux, screen or a batch job.")


def agent_terminated(job: Job, time_s: float) -> Truth:
    """Only the agents say that they were told to stop."""
    all_signalled(job, time_s, "SIGTERM", mark=True)
    return blameless("process.terminated", "SIGTERM to the launchers from outside", "death signal", accept=("process.preempted",), remedy="Ask the scheduler or operator why.")


def events(job: Job, time_s: float, text: str, evidence: str) -> None:
    job.say(time_s, ("events", 0), text, evidence)


def pod_evicted(job: Job, time_s: float) -> Truth:
    """The kubelet or the scheduler removes a pod; kubectl's event list lies beside the logs."""
    rng = job.rng
    host = rng.choice(job.hosts)
    elastic.agent_signalled(job, time_s, host, "SIGTERM")
    for other in job.hosts:
        if other is not host:
            peers_reset(job, time_s + rng.uniform(2, 9), other, host)
    size = rng.randrange(100, 900)
    events(job, time_s - 30, f"LAST SEEN   TYPE      REASON      OBJECT                MESSAGE\n9m          Normal    Started     pod/{job.hosts[0].name}   Started container", "")
    if rng.random() < 0.5:
        events(job, time_s - 1, f"2m          Warning   Evicted     pod/{host.name}   The node was low on resource: memory. Threshold quantity: 100Mi, available: {size % 90}Mi. Container trainer was using {size}Gi, request is 64Gi, has larger consumption of memory. ", "The node was low on resource")
        return blameless("memory.host-oom", f"the kubelet evicts {host.name} for memory", "low on resource: memory", accept=("process.preempted",), hosts=[host.name], remedy="Raise the memory request.")
    events(job, time_s - 1, f"2m          Normal    Preempted   pod/{host.name}   Preempted by {rng.choice(['prod', 'ml-high'])}/serve-{rng.randrange(99)} on node gke-a3-{rng.randrange(99)}", "Preempted by")
    return blameless("process.preempted", f"{host.name} is preempted", "Preempted by", hosts=[host.name], remedy="Use a higher priority class; resume from the checkpoint.")


FAULTS = [
    Fault("time-limit", time_limit, ON_SLURM, silent=True, slurm=True), Fault("preempted", preempted, ON_SLURM, silent=True, slurm=True),
    Fault("scancel", scancel, ON_SLURM, silent=True, slurm=True), Fault("node-failure", node_failure, ON_SLURM, silent=True, slurm=True, min_hosts=2),
    Fault("sighup", hangup, ("node", "tree", "k8s"), silent=True), Fault("sigterm-agents", agent_terminated, ("node", "tree", "k8s"), silent=True),
    Fault("pod-evicted", pod_evicted, ("k8s",), silent=True, min_hosts=2),
]
