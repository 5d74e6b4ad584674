"""Which attempt an event belongs to: by the names of files, by lines that say so, and by the clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .clock import Clocks
from .event import FAILING, Event, SourceEvents
from .identity_table import Places
from .job import Job

NUMBERED = ("torchrun", "pod")  # files whose path numbers the attempt
HISTORY_S = 120.0  # longer than ranks go on after one of them has died
BUFFERED_LINES = 60  # within which a process that has died still prints


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
