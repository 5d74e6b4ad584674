"""Who was done while the others still worked?

A rank that ends with code 0, or says that its training is over, while others wait for it in a collective had fewer
batches (or left its loop early). It is in no list of failures, since it did not fail; where the launcher lists all that
failed or that it ended, and the others only lost somebody, that alone tells who left.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.activity import left_cause
from ..job.event import Event
from ..job.job import Job, RankInfo
from ..job.last_words import first_complaint, last_line
from .finding import Exhibit, Finding, Sentence, earliest_onset, exhibits

MAX_SHARE = 0.5
FEWEST_DONE = 2  # ranks that say so: of two, one may be the only one that prints anything
LAST_WORDS_S = 5.0  # `stopping early step=18`, then `finished step=18`
MANY = 1 << 17  # no job has more ranks


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a minority finished before the others failed."""
    found = list(_finished(job))
    yield from found or (*_left_behind(job), *_unlisted(job))


def _finished(job: Job) -> Iterator[Finding]:
    ended = [i for i in job.ranks.values() if i.finished is not None]
    failing = {e.rank for e in job.failures() if e.rank is not None}
    told = {e.rank for e in job.telling("signal-received")} | _own_failures(job)  # to stop, before the rest
    furthest = max((i.last_step or 0 for i in job.ranks.values()), default=0)
    done = [i for i in ended if i.rank not in told and not _goes_on(i, furthest)]
    if not done or not failing or len(ended) > MAX_SHARE * max(len(job.ranks), 2):
        return
    waiting = {r for r in failing if job.is_heard(r)} - {i.rank for i in done} or _still_at_work(job, failing, done)
    if not waiting:
        return
    ends = [i.finished for i in done if i.finished is not None]
    ranks, onset = tuple(sorted(i.rank for i in done)), min((e.time for e in ends if e.time is not None), default=None)
    shown = (*exhibits(ends, 4), *(first_complaint(job, done[0]) if len(done) == 1 else ()))
    says = Sentence("early_exit.done", {"ranks": ranks, "waiting": sorted(waiting)})
    yield Finding("early_exit", left_cause(ends), says, shown, ranks, onset=onset)


def _goes_on(info: RankInfo, furthest: int) -> bool:
    """Whether it worked on behind its farewell, or began a last save when all others had come as far: it has not left."""
    end, sign, doing = info.finished, info.last_sign, info.activities[-1:]
    if end is None or sign is None:
        return False
    seconds = sign.time - end.time if sign.time is not None and end.time is not None else 0.0
    saves = bool(doing) and doing[0].rule.tells == "activity" and _is_below(doing[0], end)
    return (_is_below(sign, end) and seconds > LAST_WORDS_S) or (saves and (info.last_step or 0) >= furthest)


def _is_below(event: Event, end: Event) -> bool:
    return event.source == end.source and (event.line or 0) > (end.line or 0)


def _left_behind(job: Job) -> Iterator[Finding]:
    """A minority that still had work to do when all others said that they were done, each for itself, and lost them."""
    done = [i for i in job.ranks.values() if i.finished is not None]
    behind = [i for i in job.ranks.values() if i.finished is None]
    is_all = len(job.ranks) >= (job.world_size or 0) and all(i.last_sign is not None for i in behind)
    if len(done) < FEWEST_DONE or not 0 < len(behind) < len(done) or not is_all or _own_failures(job):
        return
    lost = [e for e in job.telling("peer-lost", "collective-timeout") if e.traceback is not None]
    first = {e.rank: e for e in reversed(lost)}
    ends = [first[i.rank] for i in behind if i.rank in first]
    if len(ends) == len(behind):
        ranks = tuple(sorted(i.rank for i in behind))
        says = Sentence("early_exit.behind", {"ranks": ranks, "done": sorted(i.rank for i in done)})
        shown = (*(first_complaint(job, behind[0]) if len(behind) == 1 else ()), *exhibits(ends, 4))
        yield Finding("early_exit", "data.uneven-inputs", says, shown, ranks, onset=ends[0].onset)


def _still_at_work(job: Job, failing: set[int], done: list[RankInfo]) -> set[int]:
    """All others, where only those that were done waited in vain: `mp.spawn` passes on the first exception alone."""
    others = {rank for rank, info in job.ranks.items() if info.finished is None and job.is_heard(rank)}
    is_all = len(others) + len(done) == (job.world_size or 0)
    return others if is_all and {i.rank for i in done} >= failing else set()


def _unlisted(job: Job) -> Iterator[Finding]:
    """One who is in no launcher's list of all its failed workers, and was not ended either, left with code 0."""
    listed = {e.rank for e in job.telling("exit") if e.rank is not None and _names_both_ranks(e)}
    lost = [e for e in job.telling("peer-lost") if e.rank in listed]
    if not lost or any(e.role == "cause" for e in job.failures()):
        return
    world = min(job.world_size or max(*job.ranks, *listed) + 1, MANY)
    failed = {e.rank for e in job.failures()}
    left = [r for r in range(world) if r not in failed]
    if len(left) == 1:
        says = Sentence("early_exit.unlisted", {"rank": left[0]})
        words: tuple[Exhibit, ...] = last_line(job, job.ranks[left[0]]) if left[0] in job.ranks else ()
        shown = (*words, *exhibits(lost, 4))  # `rank 3: target loss reached, done`
        yield Finding("early_exit", "process.early-exit", says, shown, tuple(left), onset=earliest_onset(lost))


def _names_both_ranks(event: Event) -> bool:
    """Only torchelastic's list of all workers that failed gives both numbers of each."""
    return all(isinstance(event.fields.get(name), int) for name in ("rank", "local_rank"))


def _own_failures(job: Job) -> set[int | None]:
    return {e.rank for e in job.failures() if e.role == "cause"}
