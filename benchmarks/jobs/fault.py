"""What a fault is to the generator: a play of one act, and where it can be staged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .job import Job, Truth

NO_RAY = ("tree", "task", "node", "merged", "k8s")
ANYWHERE = (*NO_RAY, "ray")
ON_SLURM = ("task", "tree", "node", "merged")


@dataclass(frozen=True)
class Fault:
    """One way for a job to end; `play` says everything from the fault on and answers the truth."""

    name: str
    play: Callable[[Job, float], Truth]
    layouts: tuple[str, ...] = NO_RAY
    phase: str = "train"  # what happened before: train, start (ranks are up), launch (nothing)
    silent: bool = False  # the culprit prints nothing, so the launcher's words must name it
    min_hosts: int = 1
    frameworks: tuple[str, ...] = ()
    since: tuple[int, int] = (1, 13)
    slurm: bool = False  # needs a batch script's output


def guilty(job: Job, cause: str, title: str, rank: int, *mention: str, accept: tuple[str, ...] = (), remedy: str = "") -> Truth:
    """The truth of a fault of one rank."""
    return Truth(cause, title, [rank], [job.host_of(rank).name], list(mention), list(accept),
                 ["time-outs or resets of other ranks", "SIGTERM by the launcher", "exit code summary"], remedy)


def blameless(cause: str, title: str, *mention: str, accept: tuple[str, ...] = (), hosts: list[str] | None = None, remedy: str = "") -> Truth:
    """The truth of a fault of no rank."""
    return Truth(cause, title, None, hosts, list(mention), list(accept), ["exit codes and signals of the ranks"], remedy)
