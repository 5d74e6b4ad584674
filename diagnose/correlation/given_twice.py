"""Does each node take itself for the first one?

Lightning prints the global rank of a process once, before it joins. Where several processes print the same numbers, and all
higher ones up to the world size are missing, every node computed its ranks as if it were node 0: the tasks of Slurm do not
fit the Trainer, or NODE_RANK is not set. Two handlers of one logger repeat a line as well, but at once: processes are told
apart by their label or by what stands between. Once all have registered, or steps were made, all is well; what is stated
anew below an error was started again. Source: Lightning, fabric/utilities/distributed.py, _init_dist_connection.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ..events import Event
from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

STATED = "context.identity/lightning-global-rank"
CAUSE = "rendezvous.duplicate-rank"
FEWEST = 2  # ranks: one may have been started again
LIFE = ("finished", "exit", "activity", "activity-end", "progress")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding, of no rank: a wrong start of all nodes."""
    told = [e for e in job.telling("identity") if e.rule.id == STATED]
    world = max((e.fields["world_size"] for e in told if "world_size" in e.fields), default=0)
    by_rank: dict[int, list[Event]] = defaultdict(list)
    for event in told:
        if isinstance(rank := event.fields.get("rank"), int):
            by_rank[rank].append(event)
    is_alive = job.was_alive or any(s.last_sign_line is not None for s in job.sources) or job.telling(*LIFE)
    if is_alive or any(_has_joined(e) for e in told) or _was_started_again(job, told):
        return
    apart = [rank for rank, said in by_rank.items() if _are_two_processes(said, told)]
    if _is_one_node(by_rank, world) and len(apart) >= FEWEST and 2 * len(apart) > len(by_rank):
        shown = sorted((e for rank in apart for e in by_rank[rank][:2]), key=lambda e: (e.source, e.line or 0))
        absent = rank_ranges(range(max(by_rank) + 1, world))
        why = f"Ranks {rank_ranges(by_rank)} are each given to several processes, and {absent} to none."
        yield Finding(CAUSE, why, exhibits(shown), question="given_twice", fields={"world_size": world})


def _has_joined(event: Event) -> bool:
    """Whether it says that all processes have registered."""
    return set(event.fields) == {"world_size"}


def _was_started_again(job: Job, told: list[Event]) -> bool:
    """Whether an error stands above a statement."""
    last = {e.source: e.line or 0 for e in told}
    return any((e.line or 0) < last.get(e.source, 0) for e in job.failures())


def _is_one_node(by_rank: dict[int, list[Event]], world: int) -> bool:
    """Whether all ranks stated are those of the first node, and more than one node could have."""
    size = max(by_rank, default=-1) + 1
    return size >= FEWEST and world > size and world % size == 0 and all(len(said) > 1 for said in by_rank.values())


def _are_two_processes(said: list[Event], told: list[Event]) -> bool:
    """Whether the labels differ, or another statement stands between two of the same."""
    if len({(e.speaker, e.host) for e in said}) > 1:
        return True
    order = {id(e): at for at, e in enumerate(told)}
    places = [order[id(e)] for e in said]
    return any(below - above > 1 for above, below in pairwise(places))
