"""Was a rank told another number of ranks than the others?

Each process takes the size of the world from its own environment. Where one was given another, the store lets all of them
in: the one of a smaller world leaves out the rest, the one of a larger world waits for an address that nobody will write,
and nothing that they print says why. Their own words do, if they print the size; so does a key for which some wait
though the others have found all that they wanted. Source: Gloo, rendezvous and transport/tcp/context.cc.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits
from .worlds import are_beyond, is_key, stated_worlds, usual_world, who_found_all

CAUSE = "config.world-size-mismatch"
TWO = 2  # sizes: of more of them, the ranks are those of several groups
REFUSED = (f"{CAUSE}/gloo-rank-beyond-the-size", f"{CAUSE}/gloo-rank-outside-the-world")  # `rank < size. 2 vs 2`


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding: by what they state, or else by whom they wait for."""
    failures = job.failures()
    told = stated_worlds(job)
    if failures and len({e.fields["world_size"] for e in told.values()}) == TWO:
        yield _by_their_words(told)
        return
    waits = [e for e in failures if is_key(e) and e.fields.get("absent_ranks") and e.rank is not None]
    refused = [e for e in failures if e.rule.id.startswith(REFUSED)]
    if waits and refused:
        yield from _by_who_was_refused(waits, refused)
    elif waits and are_beyond(job, waits):
        yield _by_whom_they_wait_for(job, waits)


def _by_their_words(told: dict[int, Event]) -> Finding:
    most = usual_world(told)
    odd = tuple(sorted(r for r, e in told.items() if most is not None and e.fields["world_size"] != most))
    first = next((told[r] for r in odd), None) or min(told.values(), key=lambda e: e.fields["world_size"])
    size = first.fields["world_size"]
    others = sorted((e for e in told.values() if e.fields["world_size"] != size), key=lambda e: e.rank or 0)
    own = sorted(r for r, e in told.items() if e.fields["world_size"] == size)
    they = [e.rank for e in others if e.rank is not None]
    usual = others[0].fields["world_size"]
    was = "were" if len(own) > 1 else "was"
    why = f"{_ranks(own)} {was} told of {size} ranks in all, {_ranks(they).lower()} of {usual}."
    return Finding(CAUSE, why, exhibits([first, others[0]]), odd, question="world_sizes", onset=first.onset)


def _by_who_was_refused(waits: list[Event], refused: list[Event]) -> Iterator[Finding]:
    """Others wait for a rank that Gloo refuses for its own size of the world: theirs is larger."""
    ranks = {r for e in refused if isinstance(r := e.fields.get("group_rank", e.fields.get("asked")), int)}
    awaited = {r for e in waits for r in e.fields["absent_ranks"]}
    if len(ranks) == 1 and awaited == ranks and not any(e.rank in ranks for e in waits):
        size = refused[0].fields["size"]
        crowd = sorted({e.rank for e in waits if e.rank is not None})
        why = f"Rank {rank_ranges(ranks)} was told of {size} ranks in all, and {_ranks(crowd).lower()} waited for it."
        onset = refused[0].onset
        yield Finding(CAUSE, why, exhibits([*refused, *waits]), tuple(ranks), question="world_sizes", onset=onset)


def _by_whom_they_wait_for(job: Job, waits: list[Event]) -> Finding:
    found = who_found_all(job, waits)
    ranks = sorted({e.rank for e in waits if e.rank is not None})
    awaited = rank_ranges(sorted({r for e in waits for r in e.fields["absent_ranks"]}))
    why = f"{_ranks(ranks)} waited for rank {awaited}, of which nothing is heard"
    why += f", while {_ranks(sorted(found)).lower()} had found the addresses of all" if found else "; the others are fewer"
    odd = tuple(ranks) if 2 * len(ranks) <= len(found) else ()
    onset = waits[0].onset
    return Finding(CAUSE, f"{why}.", exhibits(waits), odd, certainty="possible", question="world_sizes", onset=onset)


def _ranks(ranks: list[int]) -> str:
    return f"Rank{'s' * (len(ranks) > 1)} {rank_ranges(ranks)}"
