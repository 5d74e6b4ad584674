"""Whose last words are of another kind than all the others'?

`mp.spawn` passes on the exception of the first process only and ends the rest, so that of those that waited one alone says
so. Where each rank has a log of its own, what they did last still tells: all but one end with the same step, one with
`waiting for the cache lock` or `scoring the hold-out set`; that one did not come. So it is where a watchdog of the
program's own ends each of them in the same words: `CRITICAL watchdog: no step for 7s, exiting`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..job import Job, RankInfo
from ..lazy_pattern import lazy
from ..prefixes import Line
from ..words.ranges import rank_ranges
from .finding import Exhibit, Finding

FEWEST = 3  # ranks: of two that say different things neither is the odd one
MOST = 64  # ranks: of more the groups of a parallel layout do different things by right
GAVE_UP = lazy(r"watch ?dog|heart ?beat|no (?:step|progress|activity)|stuck|stall|hang|hung|dead ?lock")
MEASURED = lazy(r"[-+]?\d[\d.,:]*(?:e[-+]?\d+)?|\b(?:nan|inf)\b")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where one rank that reports nothing was at something else when another waited in vain."""
    if not FEWEST <= len(job.ranks) <= MOST or any(e.role == "cause" for e in job.failures()):
        return
    waited = [e for e in job.telling("collective-timeout") if e.rank is not None]
    gave_up = "" if waited else _said_by_all(job)
    if not waited and not gave_up:
        return
    said = {rank: last for rank, info in job.ranks.items() if (last := _last_words(job, info, gave_up)) is not None}
    if len(said) < max(len(job.ranks), job.world_size or 0):
        return
    kinds = Counter(_kind(line) for _, line in said.values())
    odd = [rank for rank, (_, line) in said.items() if kinds[_kind(line)] == 1]
    if len(kinds) != 2 or len(odd) != 1 or job.ranks[odd[0]].finished:
        return
    if odd[0] in {e.rank for e in job.failures()} if waited else _prints_alone(said, odd[0]):
        return
    source, line = said[odd[0]]
    waiting = sorted({e.rank for e in waited if e.rank is not None} or job.ranks.keys() - set(odd))
    who = f"Rank{'s' if len(waiting) > 1 else ''} {rank_ranges(waiting)}"
    why = f"{who} waited in vain; rank {odd[0]} alone was at something else: {line.message.strip()[:80]}"
    shown = (Exhibit.of_line(source, line, odd[0], job.ranks[odd[0]].host), *(Exhibit.of_event(e) for e in waited[:1]))
    onset = min((e.onset for e in waited if e.onset is not None), default=None)
    yield Finding("collective.straggler", why, shown, tuple(odd), onset=onset, question="odd_words")


def _said_by_all(job: Job) -> str:
    """The error with which a watchdog of the program's own ends every rank, numbers aside."""
    known = {(e.source, e.line) for e in job.failures()}  # what PyTorch's own watchdog says has questions of its own
    said = ""
    for rank in job.ranks:
        source, line = job.last_line_of(rank) or ("", None)
        if line is None or not line.is_error or (source, line.number) in known or said not in ("", _kind(line)):
            return ""  # most jobs end here, before the lines of their other ranks are read
        said = _kind(line)
    return said if GAVE_UP.search(said) else ""


def _prints_alone(said: dict[int, tuple[str, Line]], odd: int) -> bool:
    """Whether rank 0 says what it alone says by design (`saved …`), before the others' last words and not after them."""
    moments = {rank: line.prefix.stamp.seconds for rank, (_, line) in said.items() if line.prefix.stamp is not None}
    return odd == 0 and moments[0] <= max(t for rank, t in moments.items() if rank)


def _last_words(job: Job, info: RankInfo, gave_up: str) -> tuple[str, Line] | None:
    """The last record of its own log that its logger began, before what it raised, or what ends all of them."""
    own = [(s, x) for s, x in job.lines_of(info.rank) if job.places.source_rank.get(s) == info.rank]
    raised = {e.source: e.traceback.line for e in reversed(info.failures()) if e.traceback is not None}
    own = [(s, x) for s, x in own if x.number < raised.get(s, x.number + 1)]
    told = ((s, x) for s, x in reversed(own) if x.prefix.stamp is not None and x.message.strip())
    return next(((s, x) for s, x in told if not gave_up or _kind(x) != gave_up), None)


def _kind(line: Line) -> str:
    return MEASURED.sub("#", line.message.strip().lower())
