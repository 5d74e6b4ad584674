"""Which errors the job outlived: what ended an earlier attempt is history, and what a rank went on after was survived.

Neither is why the job is dead now.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING

from .attempt import CRASHES, dead_by_code, is_numbered, numbered_sources
from .clock import ANOTHER_ZONE_S
from .event import FAILING, Event, SourceEvents
from .history import History, ended_nothing, raised_in_threads
from .loss import NOT_FINITE, Losses
from .restart import HISTORY_S, before, earlier_lives, restarted
from .undone import undone
from .world import OF_MACHINES

if TYPE_CHECKING:
    from .job import Job, RankInfo

REDRAW_LINES, REDRAW_UPDATES = 60, 4
BEFORE_FIRST_STEP = {"network.port-in-use"}  # what ends a job at its start, or not at all: another port or family did it
BUFFERED_S = 3.0
OF_ONE_RANK = "context.finish/rank-"  # the rules by which a rank says that it leaves: the others may still work
RENEWING = ("exit", "killed", "signal-sent", "signal-received", "identity", "attempt")
ALIKE_CHARS = 24  # of a message: what it was raised for follows
CAUGHT_S = 60.0  # a logger and the interpreter, or the threads of one process, print what ends it within moments
BESIDE = 5  # lines
AGO_S = 26 * 3600.0  # more than zones differ by and a hang lasts


def set_aside(job: Job) -> None:
    """Fill in `earlier` and `survived`: the errors that are not why the job is dead now."""
    signs = [e for s in job.sources for _, e in s.progress]
    history = History(job, signs)
    finished = [e for e in job.events if e.rule.tells == "finished" and not e.rule.id.startswith(OF_ONE_RANK)]
    births = _each_once([e for e in job.events if e.rule.tells == "identity" and e.rank is not None])
    lives: dict[tuple[str, int | None], tuple[Event, Event]] = {}  # the first and the last birth
    for birth in births:
        place = (birth.source, birth.rank)
        first = lives[place][0] if place in lives else birth
        lives[place] = (first if first.pid is not None else birth, birth)
    starts: dict[tuple[str, int | None], dict[str, list[int]]] = {}
    for birth in births:
        starts.setdefault((birth.source, birth.rank), {}).setdefault(birth.rule.id, []).append(birth.line or 0)
    numbered = numbered_sources(job)
    began_s = _began_s(job)
    ended = restarted(job, signs, births)  # what ended the attempt that decides was answered in vain
    is_before = before(job, [e for e in ended if e.attempt < job.attempt or e.source not in numbered], births)
    sources, losses = {s.name: s for s in job.sources}, Losses(job.sources)
    over = _caught(job) | undone(job)
    everybody, is_of_earlier_life = _until_when_all_go_on(job), earlier_lives(job, numbered, starts)
    dead = dead_by_code(job.events)
    losers = {e.rank for e in job.events if e.rule.tells in ("peer-lost", "collective-timeout")} - {None}
    for event in job.events:
        fails = event.role in FAILING
        is_done = fails and bool(finished) and _finished_after(job, event, finished, dead, losers)
        is_history = fails and ((is_done and not losses.stay_not_finite(event)) or history.holds(event))
        is_other = event.attempt != job.attempt and is_numbered(numbered, event)
        is_of_old = event.rank is None and _is_of_old(event, began_s)
        if is_other or is_history or is_before(event) or is_of_old or is_of_earlier_life(event):
            job.earlier.append(event)
        elif fails and (
            id(event) in over
            or losses.go_on_after(event)
            or _survived(job, event, sources, losses)
            or _is_outlived_by_all(event, everybody.get(event.source))
            or _is_born_after(lives.get((event.source, event.rank)), event)
            or _is_born_again(starts.get((event.source, event.rank), {}), event)
        ):
            job.survived.append(event)
    _set_aside_companions(job)
    job.survived += ended_nothing(job, finished)
    job.survived += raised_in_threads(job, {source: line for source, (line, _) in everybody.items()})


def _each_once(births: Sequence[Event]) -> list[Event]:
    """Leave out births that a file shows again: of one moment, as where the logs of a job were joined into one."""
    told: dict[tuple[object, ...], Event] = {}
    for birth in births:
        moment = (birth.source, birth.rank, birth.rule.id, birth.time if birth.has_own_time else birth.line)
        told.setdefault(moment, birth)
    return list(told.values())


def _is_of_earlier(line: Event, event: Event) -> bool:
    """Whether a line below an error tells by its clock of a time before it, as where logs were joined into one file.

    What differs by hours is the zone of a launcher's clock and that of a trainer's. An error without a clock and a rank, as
    a script prints at its start, may have taken its time from that very line; a rank's has that of a line above it.
    """
    if line.stamp is None or line.time is None or event.time is None:
        return False
    is_at_once = event.time == line.time and (event.stamp is not None or event.rank is not None)
    return is_at_once or 0.0 < event.time - line.time < ANOTHER_ZONE_S


def _set_aside_companions(job: Job) -> None:
    """What stands beside an error of an earlier run and says the same, without a time of its own, is as old.

    `srun: error: Node failure on n17` above `slurmstepd: error: *** JOB 77 ON n11 CANCELLED AT … DUE TO NODE FAILURE`; and
    a crash without a clock is that of the earlier process which its launcher found dead by that very signal.
    """
    dropped = {id(e) for e in (*job.earlier, *job.survived)}
    old = {(e.source, e.cause, n) for e in job.earlier for n in range((e.line or 0) - BESIDE, (e.line or 0) + BESIDE + 1)}
    ends = [e for e in job.events if e.rule.tells == "exit" and e.cause in (*CRASHES, "process.sigkill")]
    died = {e.cause for e in ends} - {e.cause for e in ends if id(e) not in dropped}  # by signals of earlier ends alone
    for event in job.events:
        if id(event) in dropped or event.role not in FAILING or event.rank is not None:
            continue
        is_timed = event.stamp is not None or event.fields.get("time") is not None
        is_beside = not is_timed and (event.source, event.cause, event.line) in old
        if is_beside or (event.time is None and event.cause in died):
            job.earlier.append(event)


def _began_s(job: Job) -> float | None:
    """The first time that a source prints which tells of the job, and not of machines alone."""
    own = (s for s in job.sources if any(e.rule.tells not in OF_MACHINES for e in s.all_events()) or s.tracebacks)
    return min((e.time for s in own for e in s.all_events() if e.stamp is not None and e.time is not None), default=None)


def _is_of_old(event: Event, began_s: float | None) -> bool:
    """Whether a kernel tells of a day before the job: its log goes back to when the host was started."""
    if began_s is None or event.time is None or event.rank is not None or event.stamp is None or not event.stamp.has_date:
        return False
    return event.role in (*FAILING, "confirmation") and event.time < began_s - AGO_S


def _caught(job: Job) -> set[int]:
    """Return which exceptions one process prints time and again: it catches them, as it would end by the first.

    What runs the same code catches it too. Of those that a rule knows the last one may still be what ended a process.
    """
    printed: dict[tuple[object, ...], dict[tuple[object, ...], list[Event]]] = {}
    for e in job.events:
        pid, raised = e.speaker.pid, e.traceback
        if pid is not None and raised is not None and e.role in FAILING and e.time is not None:
            words: object = re.sub(r"\d+", "0", raised.message[:ALIKE_CHARS]) or raised.frames[-1:]
            what = (e.attempt, e.rule.id, raised.exception, words)
            printed.setdefault(what, {}).setdefault((e.source, e.host, pid), []).append(e)
    renewed: dict[str, list[int]] = {}
    for e in job.events:
        if e.rule.tells in RENEWING or (e.role in FAILING and e.cause == "process.exit-code"):
            insort(renewed.setdefault(e.source, []), e.line or 0)
    caught: set[int] = set()
    for by_process in printed.values():
        apart = [alike for alike in by_process.values() if _is_one_life(alike[0], alike[-1], renewed)]
        caught |= {id(e) for alike in apart for e in alike[:-1]}
        caught |= {id(e) for alike in by_process.values() for e in alike if apart and e.rule.generic}
    return caught


def _is_one_life(first: Event, last: Event, renewed: Mapping[str, list[int]]) -> bool:
    """Whether so much time lies between the two that the first ended nothing, and no end or start of a process.

    In a container that starts again and again the processes get the same numbers each time.
    """
    if (last.time or 0.0) < (first.time or 0.0) + CAUGHT_S:
        return False
    lines = renewed.get(first.source, [])
    return bisect_right(lines, first.line or 0) == bisect_left(lines, last.line or 0)


def _is_born_after(births: tuple[Event, Event] | None, event: Event) -> bool:
    """Whether the rank says who it is, as a process does once when it starts, after this error."""
    if births is None:
        return False
    first, birth = births
    if first.pid != birth.pid and (first.line or 0) < (event.line or 0) and (birth.line or 0) > (event.end_line or 0):
        return first.pid is not None and birth.pid is not None
    if birth.time is None or birth.stamp is None or event.time is None:
        return False
    return (birth.line or 0) > (event.end_line or 0) and birth.time > event.time + BUFFERED_S


def _is_born_again(starts: dict[str, list[int]], event: Event) -> bool:
    """Whether the rank says once more, in the same words as before the exception that ended it, who it is."""
    if event.traceback is None:
        return False
    return any(min(at) < (event.line or 0) and max(at) > (event.end_line or 0) for at in starts.values())


def _is_of_another(end: Event, event: Event, dead: Mapping[tuple[str, int | None], int]) -> bool:
    """Whether some other rank is done, and the launcher then finds the one of the error dead by its code."""
    return event.rank is not None and end.rank != event.rank and dead.get((event.source, event.rank), 0) > (end.line or 0)


def _finished_after(
    job: Job,
    event: Event,
    finished: Sequence[Event],
    dead: Mapping[tuple[str, int | None], int],
    losers: Set[int | None],
) -> bool:
    """Whether the run says later that it is done; not where one rank was told to stop, did, and the others lost it."""
    if event.rule.tells == "signal-received" and event.rank is not None and losers - {event.rank}:
        return False
    for end in finished:
        if end.attempt < event.attempt:
            continue
        if end.source == event.source:
            is_below = (end.line or 0) > (event.end_line or 0) and not _is_of_earlier(end, event)
            if is_below and not _is_of_another(end, event, dead):
                return True
        elif end.stamp is None or event.stamp is None or not end.time or not event.time:
            continue
        elif end.time > event.time + max(HISTORY_S, job.clocks.uncertainty_s(end, event)):
            return True
    return False


def _survived(job: Job, event: Event, sources: dict[str, SourceEvents], losses: Losses) -> bool:
    """Whether the same rank made progress after this error, in the same file or by the clock.

    What ends a job at its start or not at all is survived where any rank goes on. Of a line without a rank nobody can
    tell; a warning in words that nobody knows and an exception that was logged as a warning are survived where any rank
    goes on, and a NaN where a later step is finite.
    """
    if _is_left_behind(event, sources[event.source]):
        return True
    is_later = _goes_on_below(sources[event.source], event)
    if is_later and event.rule.at_start:
        return True
    if event.rank is None:
        if event.cause == NOT_FINITE and event.role == "symptom":
            return is_later and losses.is_finite_again(event)
        is_start = event.cause in BEFORE_FIRST_STEP
        is_logged = event.traceback is not None and event.traceback.is_warned
        is_weak = is_start or is_logged or (event.rule.generic and event.rule.match == "line")
        return is_weak and is_later
    info = job.ranks.get(event.rank)
    sign = info.last_sign if info else None
    if info is None or sign is None or sign.attempt < event.attempt:
        return False
    if sign.source == event.source:
        is_below = (sign.line or 0) > (event.end_line or 0) and not _is_of_earlier(sign, event)
        return is_below and not _is_late_print(sources[sign.source], info, sign, event)
    if event.stamp is None or sign.stamp is None:  # a time taken from a line nearby orders no two files
        return False
    same_host = sign.host == event.host
    return same_host and sign.time is not None and event.time is not None and sign.time > event.time + 1.0


def _goes_on_below(source: SourceEvents, event: Event) -> bool:
    """Whether a file shows signs of life below an error, of which not all are of a time before it."""
    last = event.end_line or 0
    if (source.last_sign_line or 0) <= last:
        return False
    below = (sign for pair in source.progress for sign in pair if (sign.line or 0) > last)
    first = next(below, None)
    return first is None or not _is_of_earlier(first, event) or not all(_is_of_earlier(sign, event) for sign in below)


def _until_when_all_go_on(job: Job) -> dict[str, tuple[int, float | None]]:
    """By console that shows the steps of all ranks: the line and the time until which none of them had fallen silent."""
    signs = [info.last_sign for info in job.ranks.values() if info.last_sign is not None]
    sources = {sign.source for sign in signs}
    if len(sources) != 1 or len(signs) < max(len(job.ranks), job.world_size or 0, 2):
        return {}
    times = [sign.time for sign in signs if sign.time is not None and sign.stamp is not None]
    return {sources.pop(): (min(sign.line or 0 for sign in signs), min(times) if len(times) == len(signs) else None)}


def _is_outlived_by_all(event: Event, until: tuple[int, float | None] | None) -> bool:
    """Whether an error of a process that nobody knows is followed by steps of every rank: it ended none of them."""
    if until is None or event.rank is not None or event.rule.tells in RENEWING:
        return False
    line, time = until
    if time is None or event.time is None:
        return line > (event.end_line or 0) + REDRAW_LINES
    return line > (event.end_line or 0) and time > event.time + BUFFERED_S


def _is_left_behind(event: Event, source: SourceEvents) -> bool:
    """Whether asyncio tells of a task that failed and nobody awaited: the loop itself goes on, as steps show."""
    if event.traceback is None or event.traceback.form != "asyncio":
        return False
    return (source.last_sign_line or 0) > (event.end_line or 0)


def _is_late_print(source: SourceEvents, info: RankInfo, sign: Event, event: Event) -> bool:
    """Output that was buffered comes after the error, and a bar is drawn once more when its process leaves.

    Ray folds equal lines and prints the last of them seconds later: of a worker that went on, more than one step is shown.
    """
    first = info.first_sign
    below = [x for x in (first, sign) if x is not None and (x.line or 0) > (event.end_line or 0)]
    if source.is_folded and len({str(x.fields.get("step")) for x in below}) < 2:
        return True
    if (sign.line or 0) > (event.end_line or 0) + REDRAW_LINES:
        return False
    if "%|" not in sign.raw:
        known = sign.stamp is not None and sign.time is not None and event.time is not None
        return not known or (sign.time or 0.0) <= (event.time or 0.0) + BUFFERED_S
    return sum(x.number == sign.line and "%|" in x.raw for x in source.lines()) < REDRAW_UPDATES
