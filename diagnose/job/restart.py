"""What a launcher answered by starting anew, where no line says that it did.

It ends the processes that are left, and starts all again. That it ended them is printed; that the job went on shows in
what comes later: steps, births, further ends, or, of torchrun, that no summary was ever printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .agents import ONCE
from .attempt import NUMBERED, is_terminated
from .clock import SAME_CLOCK_S
from .event import FAILING, Event

if TYPE_CHECKING:
    from .job import Job

Starts = Mapping[tuple[str, int | None], Mapping[str, Sequence[int]]]  # by file and rank, and by rule: lines that name it
HISTORY_S = 120.0  # longer than ranks go on after one of them has died
REAPED_S = 10.0  # the same behind the line that an agent prints once all its processes are dead
LATE_LINES = 60  # more than what is printed late
FOR_GOOD = "process.exit-code/deepspeed-return-code"  # DeepSpeed's launcher starts nothing anew
ENDING_S = 30.0  # within which what was ended with the others still prints


def restarted(job: Job, signs: Sequence[Event], births: Sequence[Event]) -> list[Event]:
    """Ends of processes that a launcher answered by starting anew: it had ended the others too, and yet the job went on."""
    sent = [e for e in job.events if e.rule.tells == "signal-sent" and e.fields.get("pid") is not None]
    ended = {(e.source, e.host) for e in sent}
    exits = [e for e in job.events if e.rule.tells == "exit" and e.role in FAILING and e.fields.get("pid") is not None]
    exits = [*(e for e in exits if (e.source, e.host) in ended), *sent]
    unending = _without_summary(job)
    last_exit_s: dict[tuple[str, str | None, str], float] = {}
    leaving = {e.source for e in job.events if e.rule.id == FOR_GOOD}
    for e in exits if not _ended_once_each(job, exits) else ():
        if e.time and e.source not in leaving:
            key = (e.source, e.host, e.rule.id)
            last_exit_s[key] = max(last_exit_s.get(key, e.time), e.time)
    of_host: dict[str, list[Event]] = {}
    for sign in signs:
        of_host.setdefault(sign.host or "", []).append(sign)
    born: dict[tuple[str, str | None], list[int]] = {}
    for birth in births:
        born.setdefault((birth.source, birth.host), []).append(birth.line or 0)
    last_but_one = {place: sorted(lines)[-2] for place, lines in born.items() if len(lines) > 1}
    return [
        e
        for e in exits
        if e.source in unending
        or _has_later_exit(job, e, last_exit_s)
        or last_but_one.get((e.source, e.host), 0) > (e.end_line or 0)
        or any(_goes_on(e, x) for x in _signs(e, signs, of_host))
    ]


def _without_summary(job: Job) -> set[str]:
    """Logs of agents that never print the summary with which torchrun gives up, where the run is known to have gone on.

    Folders tell of a later attempt, or the run says that it is done, and not before its processes ended.
    """
    paths = job.places.by_source
    went_on = any(path.attempt for path in paths.values() if path.kind in NUMBERED)
    done = [e for e in job.events if e.rule.tells == "finished"]
    if not went_on and not done:
        return set()
    ends = [e for e in job.events if e.rule.tells in ("exit", "signal-sent") and e.fields.get("pid") is not None]
    ends = [e for e in ends if paths[e.source].kind not in NUMBERED]
    gave_up = {e.source for e in ends if e.fields.get("time") is not None}
    gave_up |= {e.source for e in job.events if e.rule.tells == "signal-received"}
    last = {e.source: e for e in sorted(ends, key=lambda e: e.line or 0)}
    return {name for name, end in last.items() if went_on or any(_is_said_after(end, e) for e in done)} - gave_up


def _is_said_after(end: Event, done: Event) -> bool:
    """Whether the run said that it was done after the end of a process; of two files without a clock nobody knows."""
    if end.source == done.source:
        return (done.line or 0) > (end.line or 0)
    return end.time is None or done.time is None or done.time >= end.time


def _signs(event: Event, signs: Sequence[Event], of_host: dict[str, list[Event]]) -> Sequence[Event]:
    """Those that may be of the event's host."""
    return [*of_host.get(event.host, ()), *of_host.get("", ())] if event.host else signs


def _ended_once_each(job: Job, exits: Sequence[Event]) -> bool:
    """Whether no more processes are told to have ended than the job has ranks: a new start gives each rank another one.

    Launchers of several nodes print into one console, and a node hears of what happened on another only by a time-out.
    """
    ended = {(e.source, e.host, e.fields.get("pid")) for e in exits}
    return 0 < len(ended) <= (job.world_size or 0)


def _has_later_exit(job: Job, event: Event, last_exit_s: dict[tuple[str, str | None, str], float]) -> bool:
    if not event.time or (event.host is None and len(job.hosts) > 1):
        return False
    return last_exit_s.get((event.source, event.host, event.rule.id), 0.0) > event.time + HISTORY_S


def _goes_on(event: Event, sign: Event) -> bool:
    """Whether a step of training is printed so much later that it is not of the processes which were ended."""
    if sign.attempt < event.attempt or (sign.host and event.host and sign.host != event.host):
        return False
    if sign.source == event.source and (sign.line or 0) < (event.line or 0):
        return False  # whatever the clocks say: a launcher and a trainer may print the times of two zones
    if event.time is not None and sign.time is not None and sign.stamp is not None:
        return sign.time > event.time + (REAPED_S if event.rule.id == ONCE else HISTORY_S)
    return sign.source == event.source and (sign.line or 0) > (event.end_line or 0) + LATE_LINES


def before(job: Job, restarted: Sequence[Event], births: Sequence[Event] = ()) -> Callable[[Event], bool]:
    """The question whether an event belongs to what was restarted; below the births of those that came next none does."""
    if not restarted:
        return lambda event: False
    lines: dict[tuple[str, str | None], int] = {}
    last: dict[str | None, Event] = {}  # of each host, and of all
    for end in restarted:
        place = (end.source, end.host)
        lines[place] = max(lines.get(place, 0), end.line or 0)
        for host in (end.host, None) if end.time is not None else ():
            if host not in last or (end.time or 0.0) > (last[host].time or 0.0):
                last[host] = end
    born = _born_after(lines, births)

    def is_before(event: Event) -> bool:
        if (event.line or 0) > born.get(event.source, 1 << 62):
            return False
        line, end = lines.get((event.source, event.host), lines.get((event.source, None))), last.get(event.host)
        if line is not None:
            return (event.line or 0) <= line or (end is not None and _is_soon_after(event, end, SAME_CLOCK_S))
        end = end or last.get(None)
        return end is not None and _is_soon_after(event, end, job.clocks.uncertainty_s(event, end))

    return is_before


def _born_after(lines: Mapping[tuple[str, str | None], int], births: Sequence[Event]) -> dict[str, int]:
    """By file: the line in which the first process is born after all these lines."""
    last: dict[str, int] = {}
    for (source, _), line in lines.items():
        last[source] = max(line, last.get(source, 0))
    born: dict[str, int] = {}
    for birth in births:
        line = birth.line or 0
        if birth.source in last and line > last[birth.source]:
            born[birth.source] = min(line, born.get(birth.source, line))
    return born


def _is_soon_after(event: Event, end: Event, slack_s: float) -> bool:
    """Whether it was printed before what ended the attempt, or so soon after that a process ended with it says it."""
    if event.stamp is None or event.time is None or end.time is None or event.attempt > end.attempt:
        return False  # a new attempt may fail within seconds
    return event.time <= end.time + ENDING_S - (slack_s if slack_s > SAME_CLOCK_S else 0.0)


def earlier_lives(job: Job, numbered: set[str], starts: Starts) -> Callable[[Event], bool]:
    """The question whether a rank says it that failed in earlier attempts only, as numbered exits tell: in one of those.

    A rank that by then has said more often who it is than those attempts began lives on behind them.
    """
    failed: dict[int | None, int] = {}  # by rank: the last attempt in which it ended by itself
    for e in job.events:
        if e.rule.tells == "exit" and e.role in FAILING and e.source in numbered and not is_terminated(e):
            failed[e.rank] = max(failed.get(e.rank, 0), e.attempt)
    if not failed:
        return lambda event: False

    def is_of_earlier_life(event: Event) -> bool:
        last = job.attempt if event.rank is None else failed.get(event.rank, job.attempt)
        is_open = event.source not in numbered and not event.has_own_time and event.rule.tells != "exit"
        return is_open and event.role in FAILING and last < job.attempt and _lives_before(starts, event) <= last + 1

    return is_of_earlier_life


def _lives_before(starts: Starts, event: Event) -> int:
    """How often the rank had said who it is, in the same words, above the event."""
    said = starts.get((event.source, event.rank), {}).values()
    return max((sum(line < (event.line or 0) for line in lines) for lines in said), default=0)
