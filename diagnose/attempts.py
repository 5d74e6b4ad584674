"""When: which attempt an event belongs to, and which errors the job outlived.

A launcher may start the job again after a failure. What ended an earlier attempt is history, and an error after which
the same rank made progress was survived; neither is why the job is dead now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .clocks import SAME_CLOCK_S, Clocks
from .events import Event, SourceEvents
from .placement import Places

if TYPE_CHECKING:
    from .job import Job

FAILING = ("cause", "symptom")
HISTORY_S = 120.0  # longer than ranks go on after one of them has died
REDRAW_LINES, REDRAW_UPDATES = 60, 4
BUFFERED_S = 3.0
ENDING_S = 30.0  # within which what was ended with the others still prints
NUMBERED = ("torchrun", "pod")  # files whose path numbers the attempt


def number_attempts(sources: Sequence[SourceEvents], places: Places) -> None:
    """A restart begins a new attempt: torchrun's folders are numbered, in one log a line says so."""
    for source in sources:
        path = places.by_source[source.name]
        count = path.attempt if path.attempt is not None and path.kind in NUMBERED else 0
        events = sorted(
            [*source.events, *(e for pair in source.progress.values() for e in pair)], key=lambda e: e.line or 0
        )
        for event in events:
            if event.rule.tells == "attempt" and path.kind not in NUMBERED:
                stated = event.fields.get("n")
                count = stated if isinstance(stated, int) else count + 1
            event.attempt = max(event.attempt, count)
        begins = {e.line: e.attempt - 1 for e in events if e.rule.tells == "attempt" and e.attempt}
        for event in events:  # the same line may say why the attempt before it ended
            if event.line in begins and event.rule.tells != "attempt" and path.kind not in NUMBERED:
                event.attempt = begins[event.line]


def number_by_time(sources: Sequence[SourceEvents], places: Places, clocks: Clocks) -> None:
    """A log that spans several attempts (agent, console) takes the number of the attempt that had begun by then."""
    begins: dict[str | None, dict[int, float]] = {}  # of each host by its own clock, and of all
    for source in sources:
        path = places.by_source[source.name]
        if path.attempt is None or path.kind not in NUMBERED:
            continue
        times = [e.time for e in source.events if e.time is not None]
        stamps = [line.prefix.stamp for line in source.head if line.prefix.stamp]
        times += [t for stamp in stamps if (t := clocks.seconds(stamp)) is not None]
        for host in {places.source_host.get(source.name), None} if times else ():
            _begin(begins, host, path.attempt, min(times))
    marks = [e for s in sources for e in s.events if e.rule.tells == "attempt" and e.time is not None]
    marked = {e.source for e in marks}
    for event in marks:
        _begin(begins, None, 0, float("-inf"))
        _begin(begins, None, event.attempt, event.time or 0.0)
    if not begins or max(begins[None]) == 0:
        return
    for source in sources:
        if places.by_source[source.name].kind in NUMBERED or source.name in marked:
            continue
        for event in (*source.events, *(e for pair in source.progress.values() for e in pair)):
            if event.time is not None:
                known = begins.get(event.host, begins[None])
                started = [n for n, at in known.items() if at <= event.time + 1.0]
                event.attempt = max(event.attempt, *started) if started else event.attempt


def _begin(begins: dict[str | None, dict[int, float]], host: str | None, attempt: int, time: float) -> None:
    known = begins.setdefault(host, {})
    known[attempt] = min(known.get(attempt, time), time)


def decisive_attempt(job: Job) -> int:
    """The last attempt; but one after which no rank made progress again was never recovered from, and decides."""
    last = max((e.attempt for e in job.events), default=0)
    numbered = _numbered_sources(job)
    signs = [e.attempt for s in job.sources for pair in s.progress.values() for e in pair if _is_numbered(numbered, e)]
    ended_well = [e.attempt for e in job.events if e.rule.tells == "finished"]
    failed = {e.attempt for e in job.events if e.role in FAILING and not _is_clean_up(e)}
    reached = max([*signs, *ended_well], default=max(failed, default=last))
    return min(last, reached) if min(last, reached) in failed else last


def _is_clean_up(event: Event) -> bool:
    """What launchers say while they end an attempt; it may come below the line that announces the next."""
    if event.rule.tells == "exit":
        is_named = event.fields.get("exit_code") is not None or event.fields.get("signal") is not None
        return is_terminated(event) or not is_named
    return event.rule.tells == "signal-sent" or (event.role == "symptom" and event.cause == "process.exit-code")


def _numbered_sources(job: Job) -> set[str]:
    """Files that tell of the attempts they hold: by their name, or by a line; of the others only lines with a clock do."""
    marked = {e.source for e in job.events if e.rule.tells == "attempt"}
    return marked | {name for name, path in job.places.by_source.items() if path.kind in NUMBERED}


def _is_numbered(numbered: set[str], event: Event) -> bool:
    return event.source in numbered or (event.prefix.stamp is not None and event.time is not None)


def set_aside(job: Job) -> None:
    """Fill in `earlier` and `survived`: the errors that are not why the job is dead now."""
    signs = [e for s in job.sources for _, e in s.progress.values()]
    latest_s = max((e.time for e in signs if e.time is not None and e.prefix.stamp is not None), default=None)
    finished = [e for e in job.events if e.rule.tells == "finished"]
    births = [e for e in job.events if e.rule.tells == "identity" and e.rank is not None]
    lives: dict[tuple[str, int | None], tuple[Event, Event]] = {}  # the first and the last birth
    for birth in births:
        place = (birth.source, birth.rank)
        first = lives[place][0] if place in lives else birth
        lives[place] = (first if first.pid is not None else birth, birth)
    starts: dict[tuple[str, int | None], dict[str, list[int]]] = {}
    for birth in births:
        starts.setdefault((birth.source, birth.rank), {}).setdefault(birth.rule.id, []).append(birth.line or 0)
    numbered = _numbered_sources(job)
    is_before = _before(job, _restarted(job, signs, births))
    sources = {s.name: s for s in job.sources}
    for event in job.events:
        fails = event.role in FAILING
        is_history = fails and (_finished_after(job, event, finished) or _is_history(job, event, latest_s))
        is_other = event.attempt != job.attempt and _is_numbered(numbered, event)
        if is_other or is_history or is_before(event):
            job.earlier.append(event)
        elif fails and (
            _survived(job, event, sources)
            or _is_born_after(lives.get((event.source, event.rank)), event)
            or _is_born_again(starts.get((event.source, event.rank), {}), event)
        ):
            job.survived.append(event)


def _is_born_after(births: tuple[Event, Event] | None, event: Event) -> bool:
    """Whether the rank says who it is, as a process does once when it starts, after this error."""
    if births is None:
        return False
    first, birth = births
    if first.pid != birth.pid and (first.line or 0) < (event.line or 0) and (birth.line or 0) > (event.end_line or 0):
        return first.pid is not None and birth.pid is not None
    if birth.time is None or birth.prefix.stamp is None or event.time is None:
        return False
    return (birth.line or 0) > (event.end_line or 0) and birth.time > event.time + BUFFERED_S


def _is_born_again(starts: dict[str, list[int]], event: Event) -> bool:
    """Whether the rank says once more, in the same words as before the exception that ended it, who it is."""
    if event.traceback is None:
        return False
    return any(min(at) < (event.line or 0) and max(at) > (event.end_line or 0) for at in starts.values())


def _restarted(job: Job, signs: Sequence[Event], births: Sequence[Event]) -> list[Event]:
    """Ends of processes that a launcher answered by starting anew: it had ended the others too, and yet the job went on."""
    sent = [e for e in job.events if e.rule.tells == "signal-sent" and e.fields.get("pid") is not None]
    ended = {(e.source, e.host) for e in sent}
    exits = [e for e in job.events if e.rule.tells == "exit" and e.role in FAILING and e.fields.get("pid") is not None]
    exits = [*(e for e in exits if (e.source, e.host) in ended), *sent]
    unending = _without_summary(job)
    last_exit_s: dict[tuple[str, str | None, str], float] = {}
    for e in exits:
        if e.time:
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
    """Logs of agents that, where folders tell of a later attempt, never print the summary with which torchrun gives up."""
    paths = job.places.by_source
    if not any(path.attempt for path in paths.values() if path.kind in NUMBERED):
        return set()
    ends = [e for e in job.events if e.rule.tells in ("exit", "signal-sent") and e.fields.get("pid") is not None]
    ends = [e for e in ends if paths[e.source].kind not in NUMBERED]
    gave_up = {e.source for e in ends if e.fields.get("time") is not None}
    gave_up |= {e.source for e in job.events if e.rule.tells == "signal-received"}
    return {e.source for e in ends} - gave_up


def _signs(event: Event, signs: Sequence[Event], of_host: dict[str, list[Event]]) -> Sequence[Event]:
    """Those that may be of the event's host."""
    return [*of_host.get(event.host, ()), *of_host.get("", ())] if event.host else signs


def _has_later_exit(job: Job, event: Event, last_exit_s: dict[tuple[str, str | None, str], float]) -> bool:
    if not event.time or (event.host is None and len(job.hosts) > 1):
        return False
    return last_exit_s[event.source, event.host, event.rule.id] > event.time + HISTORY_S


def _goes_on(event: Event, sign: Event) -> bool:
    """Whether a step of training is printed so much later that it is not of the processes which were ended."""
    if sign.attempt < event.attempt or (sign.host and event.host and sign.host != event.host):
        return False
    if event.time is not None and sign.time is not None and sign.prefix.stamp is not None:
        return sign.time > event.time + HISTORY_S
    return sign.source == event.source and (sign.line or 0) > (event.end_line or 0) + REDRAW_LINES


def _before(job: Job, restarted: Sequence[Event]) -> Callable[[Event], bool]:
    """The question whether an event belongs to what was restarted."""
    lines: dict[tuple[str, str | None], int] = {}
    last: dict[str | None, Event] = {}  # of each host, and of all
    for end in restarted:
        place = (end.source, end.host)
        lines[place] = max(lines.get(place, 0), end.line or 0)
        for host in (end.host, None) if end.time is not None else ():
            if host not in last or (end.time or 0.0) > (last[host].time or 0.0):
                last[host] = end

    def is_before(event: Event) -> bool:
        line = lines.get((event.source, event.host))
        if line is not None:
            return (event.line or 0) <= line or _is_soon_after(event, last[event.host], SAME_CLOCK_S)
        end = last.get(event.host, last.get(None))
        return end is not None and _is_soon_after(event, end, job.clocks.uncertainty_s(event, end))

    return is_before


def _is_soon_after(event: Event, end: Event, slack_s: float) -> bool:
    """Whether it was printed before what ended the attempt, or so soon after that a process ended with it says it."""
    if event.prefix.stamp is None or event.time is None or end.time is None:
        return False
    return event.time <= end.time + ENDING_S - (slack_s if slack_s > SAME_CLOCK_S else 0.0)


def _is_history(job: Job, event: Event, latest_s: float | None) -> bool:
    """What ended the whole job, or a host, is history once ranks make progress again, at `latest_s` at last."""
    stated = event.prefix.stamp is not None or event.fields.get("time") is not None
    if event.rank is not None or event.time is None or not stated or latest_s is None:
        return False
    return latest_s > event.time + max(HISTORY_S, job.clocks.spread_s.get(event.host or "", HISTORY_S))


def _finished_after(job: Job, event: Event, finished: Sequence[Event]) -> bool:
    """Whether the run says later that it is done."""
    for end in finished:
        if end.attempt < event.attempt:
            continue
        if end.source == event.source:
            if (end.line or 0) > (event.end_line or 0):
                return True
        elif end.prefix.stamp is None or event.prefix.stamp is None or not end.time or not event.time:
            continue
        elif end.time > event.time + max(HISTORY_S, job.clocks.uncertainty_s(end, event)):
            return True
    return False


def _survived(job: Job, event: Event, sources: dict[str, SourceEvents]) -> bool:
    """Whether the same rank made progress after this error, in the same file or by the clock."""
    if event.rank is None:
        return False
    info = job.ranks.get(event.rank)
    sign = info.last_sign if info else None
    if sign is None or sign.attempt < event.attempt:
        return False
    if sign.source == event.source:
        return (sign.line or 0) > (event.end_line or 0) and not _is_late_print(sources[sign.source], sign, event)
    if event.prefix.stamp is None or sign.prefix.stamp is None:  # a time taken from a line nearby orders no two files
        return False
    same_host = sign.host == event.host
    return same_host and sign.time is not None and event.time is not None and sign.time > event.time + 1.0


def _is_late_print(source: SourceEvents, sign: Event, event: Event) -> bool:
    """Output that was buffered comes after the error, and a bar is drawn once more when its process leaves."""
    if (sign.line or 0) > (event.end_line or 0) + REDRAW_LINES:
        return False
    if "%|" not in sign.raw:
        known = sign.prefix.stamp is not None and sign.time is not None and event.time is not None
        return not known or (sign.time or 0.0) <= (event.time or 0.0) + BUFFERED_S
    return sum(x.number == sign.line and "%|" in x.raw for x in source.lines) < REDRAW_UPDATES


def is_terminated(event: Event) -> bool:
    """Whether an exit is by SIGTERM: the launcher's own clean-up."""
    codes = {str(event.fields.get("signal")), str(event.fields.get("exit_code"))}
    return bool(codes & {"15", "-15", "SIGTERM", "143"})
