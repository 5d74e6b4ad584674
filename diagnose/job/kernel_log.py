"""What the kernel says of processes that are not the job's.

Its log goes back to other jobs of the host, to notebooks, to tools of the operators. A process that was killed leaves a gap
where it was; one whose access faulted says so itself. Where nobody is missing and nobody complains it was none of the job.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..lines.lazy_pattern import lazy
from .attempt import is_sigkill

if TYPE_CHECKING:
    from .event import Event
    from .job import Job

EXCEPTION = "process.exception"
KILLED = ("data.worker-died", "ray.actor-died", "ray.node-died")  # what a kill brings about beside the end by SIGKILL
PROLOG = "process.not-started/slurm-prolog-failed"
OF_THE_CLUSTER = ("process.node-failure/slurm", PROLOG)  # told by Slurm's controller of any node that it has
FAULT = "gpu.illegal-access"  # of one process, whose kernel it was; other errors of a GPU are nobody's in particular
# The kernel's names of ranks, their workers and launchers: `python3.11`, `pt_main_thread`, `ray::WorkerDict`
OF_JOBS = lazy(r"(?i)python|^pt_|^ray|torch|train|deepspeed|accelerate|vllm|sglang|nccl|mpi|megatron|^srun|^bash$|^sh$")


def strangers(job: Job) -> list[Event]:
    """Return what is told of processes of others."""
    failures = job.failures()
    nodes = _other_nodes(job, failures)
    told = [e for e in failures if e.fields.get("pid") is not None and e.traceback is None]
    if not told or (not job.ranks and len(told) == len(failures)):
        return nodes  # a kernel log alone: nothing tells what the job was
    kills = [e for e in told if e.rule.tells == "killed" and e.rank is None]
    found = [e for e in kills if not may_be_of_a_job(e) or not _is_missed(job, e, failures)]
    return [*nodes, *found, *_faults(job, told, failures), *_unfelt_errors(job, told, failures)]


def _other_nodes(job: Job, failures: list[Event]) -> list[Event]:
    """Return what is told of nodes that went down or refused a job, where each rank is known to be on another one."""
    hosts = {info.host or "" for info in job.ranks.values()}
    if not hosts or len(job.ranks) < (job.world_size or 1):
        return []
    told = [e for e in failures if e.rule.id.startswith(OF_THE_CLUSTER)]
    named = [(e, str(e.fields.get("host") or "")) for e in told if "" not in hosts]
    others = [e for e, name in named if name and not any(_may_be(host, name) for host in hosts)]
    return [*others, *(e for e in told if e.rule.id == PROLOG and e not in others and _had_all_started(job, e))]


def _had_all_started(job: Job, event: Event) -> bool:
    """Whether each rank is heard, and one after this: a job that a node refuses runs on none, so another one was refused.

    `error: prolog failed: rc:1 output:gpu health check failed`, or `sched: JobId=999 launch failed requeued held`.
    """
    signs = (info.last_sign for info in job.ranks.values() if info.last_sign is not None)
    heard = [*signs, *(e for e in job.events if e.rank is not None and e.has_own_time)]
    is_heard = all(info.has_lines for info in job.ranks.values())
    return is_heard and event.time is not None and any(e.time is not None and event.time < e.time for e in heard)


def _may_be(host: str, named: str) -> bool:
    """Whether a host may be one of those that are named: `n7`, `n[7-8,11]`, `n7,m3`."""
    return any(is_same_host(host, n) or ("[" in n and host.startswith(n.partition("[")[0])) for n in named.split(","))


def _is_missed(job: Job, kill: Event, failures: list[Event]) -> bool:
    """Whether somebody may be gone by it: one died of SIGKILL there, or a rank of the host does not say how it ended."""
    died = [e for e in failures if e.cause in KILLED or is_sigkill(e)]
    if any(e.host is None or kill.host is None or is_same_host(e.host, kill.host) for e in died):
        return True
    if job.telling("finished") and not any(e.rule.tells == "exit" for e in failures):
        return False
    own = [info for info in job.ranks.values() if info.host == kill.host]
    return not own or not all(info.finished is not None or info.failed_in_words() for info in own)


def _faults(job: Job, told: list[Event], failures: list[Event]) -> Iterator[Event]:
    """Yield accesses that faulted in a process that is no rank's, where no rank says on that host that CUDA failed."""
    felt = {e.host for e in failures if (e.cause or "").startswith("gpu.") and e.traceback is not None}
    hosts = {info.host for info in job.ranks.values() if info.has_lines}
    hosts |= {e.host for e in job.events if e.fields.get("pci") is None and e.rule.tells not in ("killed", "exit")}
    hosts |= {None} if len(job.hosts) <= 1 or all(info.host is None for info in job.ranks.values()) else set()
    for e in told:
        is_rank = (e.host or "", e.fields.get("pid")) in job.places.rank_of_pid
        is_felt = bool(felt) if e.host is None else not felt.isdisjoint({e.host, None})
        is_heard = bool(hosts) if e.host is None else not hosts.isdisjoint({e.host, None})
        if e.cause == FAULT and not is_rank and not is_felt and is_heard:
            yield e


def _unfelt_errors(job: Job, told: list[Event], failures: list[Event]) -> list[Event]:
    """Return errors of a GPU that is no rank's, where each rank says how it failed, and one that it raised."""
    infos = job.ranks.values()
    if len(infos) < (job.world_size or 1) or not all(info.failed_in_words() for info in infos):
        return []
    raised = any(e.cause == EXCEPTION and e.role == "cause" and e.rank is not None for e in failures)
    died = any(e.cause in KILLED or is_sigkill(e) for e in failures)
    found = [e for e in told if (e.cause or "").startswith("gpu.") and e.rank is None]
    return found if raised and not died else []


def is_same_host(a: str, b: str) -> bool:
    """Whether two names are of one host: the kernel's log calls it `n7`, torchrun's agent `n7.cluster.local`."""
    return a == b or a.startswith(f"{b}.") or b.startswith(f"{a}.")


def may_be_of_a_job(event: Event) -> bool:
    """Whether a process has a name that ranks, their workers or their launchers have, or none is told."""
    name = event.fields.get("process")
    return not isinstance(name, str) or OF_JOBS.search(name) is not None
