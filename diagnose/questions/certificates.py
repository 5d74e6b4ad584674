"""Who was killed, and by whom?

An exit code tells the signal, the kernel (or a cgroup, Slurm, the kubelet, Ray's memory monitor) tells who sent it. They
are joined by process id where one is printed, else by host: the proof comes last and in another file. SIGKILL without
proof stays `process.sigkill`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.event import Event
from ..job.exit import is_sigkill
from ..job.job import Job
from ..job.places import is_same_host
from ..job.survival import may_be_of_a_job
from .finding import Exhibit, Finding


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for each kill that names a host, but no rank, where just one rank died by SIGKILL there."""
    kills = [e for e in job.telling("killed") if e.rank is None and e.cause is not None and may_be_of_a_job(e)]
    ended = {e.rank for e in job.telling("signal-sent")}  # by their own launcher
    dead = [e for e in job.telling("exit") if e.rank is not None and is_sigkill(e) and e.rank not in ended]
    for kill in kills:
        ranks = {e.rank for e in dead if _same_place(kill, e)}
        if len(ranks) == 1 and kill.cause is not None:
            rank = next(r for r in ranks if r is not None)
            proof = next(e for e in dead if e.rank == rank)
            why = f"Rank {rank} died by SIGKILL, and {_who(kill)} says that it killed a process there."
            shown = (Exhibit.of_event(kill), Exhibit.of_event(proof))
            yield Finding(
                kill.cause, why, shown, (rank,), certainty="certain", onset=kill.onset, fields=kill.fields,
                question="certificates",
            )  # fmt: skip
            return
    yield from _by_elimination(job)


def _by_elimination(job: Job) -> Iterator[Finding]:
    """An exit that names no rank belongs to the one known rank that says nothing, where all others complain."""
    ends = [e for e in job.telling("exit") if e.rank is None and e.role == "cause" and e.cause is not None]
    quiet = [r for r, info in job.ranks.items() if not info.failures()]
    complaining = [r for r, info in job.ranks.items() if info.failures()]
    if len({e.cause for e in ends}) != 1 or len(quiet) != 1 or not complaining:
        return
    if job.world_size is not None and len(job.ranks) < job.world_size:
        return
    end, rank = ends[0], quiet[0]
    why = f"The launcher names no rank, but rank {rank} is the only one of which the log shows no complaint."
    cause = end.cause or "process.sigkill"
    yield Finding(
        cause, why, (Exhibit.of_event(end),), (rank,), onset=end.onset, fields=end.fields, question="certificates"
    )


def _same_place(kill: Event, death: Event) -> bool:
    is_unknown = kill.host is None or death.host is None
    is_here = is_same_host(kill.host, death.host) if kill.host and death.host else kill.host == death.host
    if kill.pid is not None and death.pid is not None and is_here:
        return kill.pid == death.pid
    return is_unknown or is_here


def _who(kill: Event) -> str:
    return f"the log of {kill.host}" if kill.host else "the log"
