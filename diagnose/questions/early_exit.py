"""Who was done while the others still worked?

A rank that ends with code 0, or says that its training is over, while others wait for it in a collective had fewer
batches (or left its loop early). It is in no list of failures, since it did not fail.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.activity import first_complaint, left_cause
from ..job.job import Job, RankInfo
from .finding import Finding, Sentence, exhibits

MAX_SHARE = 0.5
FEWEST_DONE = 2  # ranks that say so: of two, one may be the only one that prints anything


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a minority finished before the others failed."""
    yield from list(_finished(job)) or _left_behind(job)


def _finished(job: Job) -> Iterator[Finding]:
    done = [i for i in job.ranks.values() if i.finished is not None and not _saves_at_the_end(i)]
    failing = {e.rank for e in job.failures() if e.rank is not None}
    if not done or not failing or len(done) > MAX_SHARE * max(len(job.ranks), 2):
        return
    waiting = {r for r in failing if job.is_heard(r)} - {i.rank for i in done}
    if not waiting:
        return
    ends = [i.finished for i in done if i.finished is not None]
    ranks, onset = tuple(sorted(i.rank for i in done)), min((e.time for e in ends if e.time is not None), default=None)
    shown = (*exhibits(ends, 4), *(first_complaint(job, done[0]) if len(done) == 1 else ()))
    says = Sentence("early_exit.done", {"ranks": ranks, "waiting": sorted(waiting)})
    yield Finding("early_exit", left_cause(ends), says, shown, ranks, onset=onset)


def _saves_at_the_end(info: RankInfo) -> bool:
    """Whether it began a last save behind its farewell: it has not left."""
    doing, end = info.phase, info.finished
    return doing is not None and end is not None and doing.source == end.source and (doing.line or 0) > (end.line or 0)


def _left_behind(job: Job) -> Iterator[Finding]:
    """A minority that still had work to do when all others said that they were done, each for itself, and lost them."""
    done = [i for i in job.ranks.values() if i.finished is not None]
    behind = [i for i in job.ranks.values() if i.finished is None]
    is_all = len(job.ranks) >= (job.world_size or 0) and all(i.last_sign is not None for i in behind)
    if len(done) < FEWEST_DONE or not 0 < len(behind) < len(done) or not is_all:
        return
    if any(e.role == "cause" for e in job.failures()):
        return
    lost = [e for e in job.telling("peer-lost", "collective-timeout") if e.traceback is not None]
    first = {e.rank: e for e in reversed(lost)}
    ends = [first[i.rank] for i in behind if i.rank in first]
    if len(ends) == len(behind):
        ranks = tuple(sorted(i.rank for i in behind))
        says = Sentence("early_exit.behind", {"ranks": ranks, "done": sorted(i.rank for i in done)})
        shown = (*(first_complaint(job, behind[0]) if len(behind) == 1 else ()), *exhibits(ends, 4))
        yield Finding("early_exit", "data.uneven-inputs", says, shown, ranks, onset=ends[0].onset)
