"""Whose last words are of another kind than all the others'?

`mp.spawn` passes on the exception of the first process only and ends the rest, so that of those that waited one alone says
so. Where each rank has a log of its own, what they did last still tells: all but one end with the same step, one with
`waiting for the cache lock` or `scoring the hold-out set`; that one did not come.
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
MEASURED = lazy(r"[-+]?\d[\d.,:]*(?:e[-+]?\d+)?|\b(?:nan|inf)\b")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where one rank that reports nothing was at something else when another waited in vain."""
    waited = [e for e in job.telling("collective-timeout") if e.rank is not None]
    if not waited or not FEWEST <= len(job.ranks) <= MOST or any(e.role == "cause" for e in job.failures()):
        return
    said = {rank: last for rank, info in job.ranks.items() if (last := _last_words(job, info)) is not None}
    if len(said) < max(len(job.ranks), job.world_size or 0):
        return
    kinds = Counter(_kind(line) for _, line in said.values())
    odd = [rank for rank, (_, line) in said.items() if kinds[_kind(line)] == 1]
    if len(kinds) != 2 or len(odd) != 1 or odd[0] in {e.rank for e in job.failures()} or job.ranks[odd[0]].finished:
        return
    source, line = said[odd[0]]
    waiting = sorted({e.rank for e in waited if e.rank is not None})
    who = f"Rank{'s' if len(waiting) > 1 else ''} {rank_ranges(waiting)}"
    why = f"{who} waited in vain; rank {odd[0]} alone was at something else: {line.message.strip()[:80]}"
    shown = (Exhibit.of_line(source, line, odd[0], job.ranks[odd[0]].host), *(Exhibit.of_event(e) for e in waited[:1]))
    onset = min((e.onset for e in waited if e.onset is not None), default=None)
    yield Finding("collective.straggler", why, shown, tuple(odd), onset=onset, question="odd_words")


def _last_words(job: Job, info: RankInfo) -> tuple[str, Line] | None:
    """The last record of its own log that its logger began, before what it raised."""
    own = [(s, x) for s, x in job.lines_of(info.rank) if job.places.source_rank.get(s) == info.rank]
    raised = {e.source: e.traceback.line for e in reversed(info.failures()) if e.traceback is not None}
    own = [(s, x) for s, x in own if x.number < raised.get(s, x.number + 1)]
    return next(((s, x) for s, x in reversed(own) if x.prefix.stamp is not None and x.message.strip()), None)


def _kind(line: Line) -> str:
    return MEASURED.sub("#", line.message.strip().lower())
