"""Which attempt an event belongs to: by the names of files, by lines that say so, and by the clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from .clock import ANOTHER_ZONE_S, Clocks
from .event import FAILING, Event, SourceEvents
from .identity_table import Places
from .job import Job
from .process import last_signs

NUMBERED = ("torchrun", "pod")  # files whose path numbers the attempt
HISTORY_S = 120.0  # longer than ranks go on after one of them has died
BUFFERED_LINES = 60  # within which a process that has died still prints
Place = tuple[str, str | None]  # file and host


def number_attempts(sources: Sequence[SourceEvents], places: Places) -> None:
    """A restart begins a new attempt: torchrun's folders are numbered, in one log a line says so."""
    for source in sources:
        path = places.by_source[source.name]
        is_numbered_file = path.kind in NUMBERED
        count = path.attempt if path.attempt is not None and is_numbered_file else 0
        if is_numbered_file:
            for event in source.all_events() if count else ():
                event.attempt = count
        elif source.telling("attempt"):
            _count_marks(source)


def _count_marks(source: SourceEvents) -> None:
    """Number the events of one source, in order of lines, by the marks in it."""
    count = 0
    for event in sorted(source.all_events(), key=lambda e: e.line or 0):
        if event.rule.tells == "attempt":
            stated = event.fields.get("n")
            count = stated if isinstance(stated, int) else count + 1
        event.attempt = count


def number_by_time(sources: Sequence[SourceEvents], places: Places, clocks: Clocks) -> None:
    """A log that spans several attempts (agent, console) takes the number of the attempt that had begun by then."""
    begins: dict[str | None, dict[int, float]] = {}  # of each host by its own clock, and of all
    numbered = [s for s in sources if places.by_source[s.name].kind in NUMBERED]
    for source in numbered:
        attempt = places.by_source[source.name].attempt
        stamps = (line.prefix.stamp for line in source.head() if line.prefix.stamp)
        times = [*(e.time for e in source.events), *map(clocks.seconds, stamps)]
        first_s = min((t for t in times if t is not None), default=None)
        for host in {places.source_host.get(source.name), None} if first_s is not None and attempt is not None else ():
            _begin(begins, host, attempt or 0, first_s or 0.0)
    marks = [e for s in sources for e in s.telling("attempt") if e.time is not None]
    for event in marks:
        _begin(begins, None, 0, float("-inf"))
        _begin(begins, None, event.attempt, event.time or 0.0)
    if not begins or max(begins[None]) == 0:
        return
    told = {e.source for e in marks} | {s.name for s in numbered}
    for event in (e for s in sources if s.name not in told for e in s.all_events() if e.time is not None):
        known = begins.get(event.host, begins[None])
        started = [n for n, at in known.items() if at <= (event.time or 0.0) + 1.0]
        event.attempt = max(event.attempt, *started) if started else event.attempt


def _begin(begins: dict[str | None, dict[int, float]], host: str | None, attempt: int, time: float) -> None:
    known = begins.setdefault(host, {})
    known[attempt] = min(known.get(attempt, time), time)


def decisive_attempt(events: Sequence[Event], signs: Iterable[Event]) -> int:
    """The last attempt; but one after which no rank made progress again was never recovered from, and decides."""
    alive = [e.attempt for e in signs]
    failed = {e.attempt for e in events if e.role in FAILING}
    last = max([*alive, *(e.attempt for e in events)], default=0)
    alive += [e.attempt for e in events if e.rule.tells == "finished"]
    reached = min(last, max(alive, default=max(failed, default=last)))
    return reached if reached in failed else last


def numbered_sources(job: Job) -> set[str]:
    """Files that tell of the attempts they hold: by their name, or by a line; of the others only lines with a clock do."""
    marked = {e.source for e in job.events if e.rule.tells == "attempt"}
    return marked | {name for name, path in job.places.by_source.items() if path.kind in NUMBERED}


def is_numbered(numbered: set[str], event: Event) -> bool:
    """Whether the number of its attempt is known."""
    return event.source in numbered or (event.stamp is not None and event.time is not None)


# --- where a launcher started anew though no line says so: it had ended the processes, and yet the job went on -----------


def restarted_until(job: Job, numbered: Set[str]) -> dict[Place, int]:
    """Yield by file and host the line above which all is of processes that were ended and started anew."""
    sent = [e for e in job.telling("signal-sent") if e.fields.get("pid") is not None]
    ended = {(e.source, e.host) for e in sent}
    exits = (e for e in job.telling("exit") if e.role in FAILING and e.fields.get("pid") is not None)
    ends = [*(e for e in exits if (e.source, e.host) in ended), *sent]
    ends = [e for e in ends if e.attempt < job.attempt or e.source not in numbered]
    until: dict[Place, int] = {}
    for end in _answered(ends, [*last_signs(job.sources)], _last_births(job.telling("identity"))) if ends else ():
        place = (end.source, end.host)
        until[place] = max(until.get(place, 0), end.line or 0)
    return until


def _last_births(told: Iterable[Event]) -> dict[Place, Event]:
    """By file and host: the last line but one in which a rank says who it is, as each does once when it starts."""
    born: dict[Place, list[Event]] = {}
    for birth in (e for e in told if e.rank is not None):
        born.setdefault((birth.source, birth.host), []).append(birth)
    return {place: sorted(births, key=lambda e: e.line or 0)[-2] for place, births in born.items() if len(births) > 1}


def _answered(ends: Sequence[Event], signs: Sequence[Event], births: dict[Place, Event]) -> Iterable[Event]:
    of_host: dict[str, list[Event]] = {}
    for sign in signs:
        of_host.setdefault(sign.host or "", []).append(sign)
    for end in ends:
        own = [*of_host.get(end.host, ()), *of_host.get("", ())] if end.host else signs
        birth = births.get((end.source, end.host))
        if (birth is not None and _is_born_after(birth, end)) or any(_goes_on(end, sign) for sign in own):
            yield end


def _is_born_after(birth: Event, end: Event) -> bool:
    """Whether it stands below, and is not shown again there with its clock of before, as where logs were joined."""
    are_timed = birth.stamp is not None and birth.time is not None and end.time is not None
    is_shown_again = are_timed and 0.0 < (end.time or 0.0) - (birth.time or 0.0) < ANOTHER_ZONE_S
    return (birth.line or 0) > (end.end_line or 0) and not is_shown_again


def _goes_on(end: Event, sign: Event) -> bool:
    """Whether a step is printed so much later that it is not of the processes which were ended."""
    is_here = sign.source == end.source
    if sign.attempt < end.attempt or (is_here and (sign.line or 0) < (end.line or 0)):
        return False  # whatever the clocks say: a launcher and a trainer may print the times of two zones
    if end.time is not None and sign.time is not None and sign.stamp is not None:
        return sign.time > end.time + HISTORY_S
    return is_here and (sign.line or 0) > (end.end_line or 0) + BUFFERED_LINES
