"""Who was done while the others still worked?

A rank that ends with code 0, or says that its training is over, while others wait for it in a collective had fewer
batches (or left its loop early). It is in no list of failures, since it did not fail; where the launcher lists all that
failed or that it ended, and the others only lost somebody, that alone tells who left.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..job.event import Event
from ..job.exit import HEAD, is_terminated
from ..job.job import Job, RankInfo
from ..lines.rank_ranges import rank_ranges
from .finding import Exhibit, Finding, exhibits
from .last_words import first_complaint

MAX_SHARE = 0.5
FEWEST_DONE = 2  # ranks that say so: of two, one may be the only one that prints anything
STOPS_EARLY = "context.finish/rank-stops-early"
LAST_WORDS_S = 5.0  # `stopping early step=18`, then `finished step=18`
HEAD_LINES = 9  # to the first that is listed: a rule, `train.py FAILED`, `Failures:`, `<NO_OTHER_FAILURES>`, …, `[0]:`


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a minority finished before the others failed."""
    found = list(_finished(job))
    yield from found or (*_left_behind(job), *_unlisted(job))


def _finished(job: Job) -> Iterator[Finding]:
    if all(info.finished is None for info in job.ranks.values()):
        return
    failing = {e.rank for e in job.failures() if e.rank is not None and not _is_clean_up(e) and _shows_an_end(e)}
    told = {e.rank for e in job.telling("signal-received")}  # to stop, before the rest
    told |= _own_failures(job)
    ended = [i for i in job.ranks.values() if i.finished is not None and i.rank not in told]
    furthest = max((i.last_step for i in job.ranks.values() if i.last_step is not None), default=0)
    done = [i for i in ended if not _goes_on(i, furthest)]
    if not done or not failing or len(ended) > MAX_SHARE * max(len(job.ranks), 2):
        return
    own = _by_rank(job)
    waiting = {r for r in failing if job.is_heard(r) and _failed_later(own[r], done)} - {i.rank for i in done}
    at_work = _still_at_work(job, failing, done)
    waiting = waiting or at_work
    if not waiting or not (at_work or _others_worked_on(job, done)):
        return
    ranks = tuple(sorted(i.rank for i in done))
    shown = tuple(Exhibit.of_event(i.finished) for i in done[:4] if i.finished is not None)
    shown += first_complaint(job, done[0]) if len(done) == 1 else ()
    why = (
        f"Rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)} had finished while "
        f"rank{'s' if len(waiting) > 1 else ''} {rank_ranges(waiting)} still worked and waited."
    )
    onset = min((i.finished.time for i in done if i.finished and i.finished.time is not None), default=None)
    stopped = all(i.finished is not None and i.finished.rule.id == STOPS_EARLY for i in done)
    cause = "process.early-exit" if stopped else "data.uneven-inputs"
    yield Finding(cause, why, shown, ranks, onset=onset, question="early_exit")


def _goes_on(info: RankInfo, furthest: int) -> bool:
    """Whether it worked on behind its farewell, or began a last save when all others had come as far: it has not left."""
    if info.finished is None or info.last_step is None:
        return False
    sign = info.last_sign
    if sign is not None and _is_behind(sign, info.finished) and _seconds_between(info.finished, sign) > LAST_WORDS_S:
        return True
    doing = info.activities[-1:] if info.last_step >= furthest else ()
    return any(a.rule.tells == "activity" and _is_behind(a, info.finished) for a in doing)


def _is_behind(event: Event, end: Event) -> bool:
    return event.source == end.source and (event.line or 0) > (end.line or 0)


def _seconds_between(earlier: Event, later: Event) -> float:
    return later.time - earlier.time if later.time is not None and earlier.time is not None else 0.0


def _left_behind(job: Job) -> Iterator[Finding]:
    """A minority that still had work to do when all others said that they were done, each for itself, and lost them."""
    done = [i for i in job.ranks.values() if i.finished is not None]
    behind = [i for i in job.ranks.values() if i.finished is None]
    is_all = len(job.ranks) >= (job.world_size or 0) and all(i.last_sign is not None for i in behind)
    if len(done) < FEWEST_DONE or not behind or len(behind) >= len(done) or not is_all or _own_failures(job):
        return
    lost = [e for e in job.telling("peer-lost", "collective-timeout") if e.traceback is not None]
    first, own = {e.rank: e for e in reversed(lost)}, _by_rank(job)
    ends = [first[i.rank] for i in behind if i.rank in first and _failed_later(own[i.rank], done)]
    if len(ends) < len(behind):
        return
    ranks = tuple(sorted(i.rank for i in behind))
    who = f"Rank{'s' if len(done) > 1 else ''} {rank_ranges(sorted(i.rank for i in done))}"
    why = f"{who} had finished while rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)} still had work to do."
    shown = (*(first_complaint(job, behind[0]) if len(behind) == 1 else ()), *exhibits(ends, 4))
    yield Finding("data.uneven-inputs", why, shown, ranks, onset=ends[0].onset, question="early_exit")


def _still_at_work(job: Job, failing: Collection[int], done: list[RankInfo]) -> set[int]:
    """All others, where only those that were done waited in vain: `mp.spawn` passes on the first exception alone."""
    others = {rank for rank, info in job.ranks.items() if info.finished is None and job.is_heard(rank)}
    is_all = len(others) + len(done) == (job.world_size or 0)
    return others if is_all and {i.rank for i in done} >= set(failing) else set()


def _unlisted(job: Job) -> Iterator[Finding]:
    """One who is in no launcher's list of all its failed workers, and was not ended either, left with code 0."""
    listed = {e.rank: e for e in job.telling("exit") if e.rank is not None and _names_both_ranks(e)}
    lost = [e for e in job.telling("peer-lost") if e.rank in listed]
    if not lost or any(e.role == "cause" for e in job.failures()):
        return
    left = set(range(job.world_size or max(*job.ranks, *listed) + 1)) - {e.rank for e in job.failures()}
    if not _are_whole(job, listed.values()) or not (_is_unheard(job, left, lost, listed) or _is_one(job, left, listed)):
        return
    absent = "is in no launcher's list of those that failed or were ended"
    who = f"Rank {min(left)}" if left else f"A rank other than {rank_ranges(listed)}"
    why = f"{who} {absent}: it left with code 0, and the others lost it."
    onset = min((e.onset for e in lost if e.onset is not None), default=None)
    shown = (*_last_words(job, left), *exhibits(lost, 4))
    yield Finding("process.early-exit", why, shown, tuple(left), onset=onset, question="early_exit")


def _last_words(job: Job, left: Collection[int]) -> tuple[Exhibit, ...]:
    """What it printed last, such as `rank 3: target loss reached, done`."""
    said = ((rank, job.last_line_of(rank)) for rank in left)
    return tuple(Exhibit.of_line(*last, rank, job.ranks[rank].host) for rank, last in said if last is not None)[-1:]


def _is_one(job: Job, left: Collection[int], listed: Mapping[int, Event]) -> bool:
    return len(left) == 1 and _is_of_a_listing_node(job, min(left), listed.values())


def _is_unheard(job: Job, left: Collection[int], lost: Collection[Event], listed: Mapping[int, Event]) -> bool:
    """Whether all that are known of lost somebody on their own host: they lost none of them, but one that is not heard."""
    here = all(str(e.fields.get("peer_ip")).startswith("127.") for e in lost)
    return not left and here and job.places.is_one_node and listed.keys() <= {e.rank for e in lost}


def _is_of_a_listing_node(job: Job, rank: int, listed: Collection[Event]) -> bool:
    """Whether the agent of its node printed a list: global and local rank tell which ranks a node has."""
    firsts = {e.fields["rank"] - e.fields["local_rank"] for e in listed}
    first = max((n for n in firsts if n <= rank), default=None)
    beyond = max(e.fields["local_rank"] for e in listed) + 2  # a launcher that ends the others tells of none that is done
    size = max(job.places.local_world or 0, beyond) if job.places.is_one_node else job.places.local_world or beyond
    return first is not None and rank - first < size


def _are_whole(job: Job, listed: Collection[Event]) -> bool:
    """Whether each list is here from its head on: what was copied of a console's end tells of the last ones only.

    Where torchelastic runs a function (a notebook's launcher), it lists the first one only that raised.
    """
    if any(" of fn: " in e.text for e in job.telling("exit")):
        return False
    first: dict[str, int] = {}
    for e in listed:
        first[e.source] = min(first.get(e.source, e.line or 0), e.line or 0)
    heads: dict[str, list[int]] = {}
    for e in job.events:
        if e.rule.id == HEAD:
            heads.setdefault(e.source, []).append(e.line or 0)
    return all(any(0 < line - head <= HEAD_LINES for head in heads.get(source, ())) for source, line in first.items())


def _names_both_ranks(event: Event) -> bool:
    """Only torchelastic's list of all workers that failed gives both numbers of each."""
    return all(isinstance(event.fields.get(name), int) for name in ("rank", "local_rank"))


def _is_clean_up(event: Event) -> bool:
    """A launcher that ends processes does not tell that they waited."""
    return event.rule.tells == "signal-sent" or (event.rule.tells == "exit" and is_terminated(event))


def _shows_an_end(event: Event) -> bool:
    """Whether its process waited in vain or died by it; that a peer has gone is said by all that close, too."""
    return event.role == "cause" or event.traceback is not None or event.rule.tells in ("collective-timeout", "exit")


def _failed_later(failures: Sequence[Event], done: list[RankInfo]) -> bool:
    """Whether the rank failed after the first of the others had finished; unknown times count as later.

    A traceback prints no time: that of the last step above it is only the earliest that it can have.
    """
    ends = [i.finished.time for i in done if i.finished is not None and i.finished.time is not None]
    failures = [e for e in failures if e.time is not None]
    if not ends or any(not e.has_own_time and e.traceback is not None for e in failures):
        return True
    return not failures or max(e.time for e in failures if e.time is not None) >= min(ends)


def _by_rank(job: Job) -> dict[int | None, list[Event]]:
    """The failures of each rank, sorted once for all of them."""
    own: dict[int | None, list[Event]] = defaultdict(list)
    for event in job.failures():
        own[event.rank].append(event)
    return own


def _own_failures(job: Job) -> set[int | None]:
    return {e.rank for e in job.failures() if e.role == "cause"}


def _others_worked_on(job: Job, done: list[RankInfo]) -> bool:
    """Where all ranks finished (or the only one that tells did), what follows is teardown."""
    finished = {i.rank for i in done}
    others = [i for i in job.ranks.values() if i.rank not in finished]
    return any(i.failures() or i.last_sign for i in others)
