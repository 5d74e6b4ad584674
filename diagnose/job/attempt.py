"""Which attempt an event belongs to: by the names of files, by lines that say so, and by the clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .clock import Clocks
from .event import FAILING, Event, SourceEvents
from .identity_table import Places
from .job import CERTIFICATES, Job

NUMBERED = ("torchrun", "pod")  # files whose path numbers the attempt
HISTORY_S = 120.0  # longer than ranks go on after one of them has died
BUFFERED_LINES = 60  # within which a process that has died still prints


def number_attempts(sources: Sequence[SourceEvents], places: Places) -> None:
    """A restart begins a new attempt: torchrun's folders are numbered, in one log a line says so."""
    numbers = {s.name: p.attempt or 0 for s in sources if (p := places.by_source[s.name]).kind in NUMBERED}
    first = min([0, *numbers.values()])  # the log of a pod's life before says that it is one, and gives no number
    for source in sources:
        count, above = 0, -1
        events = source.all_events() if source.name not in numbers and source.telling("attempt") else ()
        for event in sorted(events, key=lambda e: (e.line or 0, e.role not in FAILING)):
            if event.rule.tells == "attempt":  # `DUE TO JOB REQUEUE`, of job and step, is an end and a mark
                stated = event.fields.get("n")
                count = stated if isinstance(stated, int) else count + ((event.line or 0) > above + 1)
                above = event.line or 0
            event.attempt = count
        number = numbers.get(source.name, 0) - first
        for event in source.all_events() if number else ():
            event.attempt += number


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


# --- where a launcher started anew though no line says so: it had ended the processes, and yet the job went on -----------


def restarted_until(job: Job) -> dict[tuple[str, str | None], int]:
    """Yield by file and host the line above which all is of processes that were ended and started anew."""
    sent = [e for e in job.telling("signal-sent") if e.fields.get("pid") is not None]
    ended = {(e.source, e.host) for e in sent}
    exits = (e for e in job.telling("exit") if e.role in FAILING and (e.source, e.host) in ended)
    lowest: dict[str, int] = {}  # by file, the last line with a step
    latest: dict[str, float] = {}  # by host, the last time of one
    for sign in (sign for source in job.sources for _, sign in source.progress) if sent else ():
        lowest[sign.source] = max(lowest.get(sign.source, 0), sign.line or 0)
        if sign.stamp is not None and sign.time is not None:
            latest[sign.host or ""] = max(latest.get(sign.host or "", sign.time), sign.time)
    until: dict[tuple[str, str | None], int] = {}
    of_all = max(latest.values(), default=None)
    for end in (*sent, *exits):
        own = (latest[host] for host in {"", end.host or ""} if host in latest)  # who names no host may be of any
        if _went_on(end, lowest.get(end.source), max(own, default=None) if end.host else of_all):
            until[end.source, end.host] = max(until.get((end.source, end.host), 0), end.line or 0)
    return until


def _went_on(end: Event, lowest: int | None, latest: float | None) -> bool:
    """Whether a step is printed so much later that it is not of the processes which were ended."""
    if lowest is not None and lowest < (end.line or 0):
        return False  # whatever the clocks say: a launcher and a trainer may print the times of two zones
    if end.time is not None and latest is not None:
        return latest > end.time + HISTORY_S
    return lowest is not None and lowest > (end.end_line or 0) + BUFFERED_LINES


def ended_before(job: Job) -> dict[str, int]:
    """Yield by file the line at which the last of the jobs, or starts, ended that wrote into it before another one."""
    found = {}
    for source in (s for s in job.sources if s.progress or s.tracebacks):  # no log of the scheduler's own
        ends = [
            (e.line or 0, str(e.fields["step"]).partition(".")[0])
            for e in source.telling("signal-received")
            if e.fields.get("step")
        ]
        last = max(ends, default=(0, ""))[1]
        jobs = max((line for line, number in ends if number != last), default=0)
        path = job.places.by_source[source.name]
        is_of_one = any(n is not None for n in (path.rank, path.local_rank, path.task))
        found[source.name] = max(jobs, _left_before(source) if is_of_one else 0)
    return found


def _left_before(source: SourceEvents) -> int:
    """The line at which, in the log of one rank, the last but one exception left its program: a process has but one."""
    left = [tb for tb in source.tracebacks if tb.frames and tb.frames[0].function == "<module>" and not tb.is_warned]
    last = max(left, key=lambda tb: tb.line, default=None)
    own = [tb.end_line for tb in left if last is not None and tb.frames[0].file == last.frames[0].file]
    return max((end for end in own if last is not None and end + 1 < last.line), default=0)


def reborn_at(job: Job) -> dict[str, int]:
    """Yield by file where a rank is another process than above, if steps stand below, or none anywhere and it had ended."""
    born = [birth for s in job.sources if (birth := _reborn(s)) is not None]
    births = {birth.source: birth.line or 0 for birth in born}
    signs = [sign for s in job.sources for _, sign in s.progress]
    latest = max((s.time for s in signs if s.stamp is not None and s.time is not None), default=0.0)
    is_below = any((s.line or 0) > births[s.source] for s in signs if s.source in births)
    is_below |= any(birth.stamp is not None and birth.time is not None and birth.time < latest for birth in born)
    ends = {e.source: e.line or 0 for e in reversed(job.events) if e.role in FAILING and e.rule.tells in CERTIFICATES}
    is_ended = not signs and all(ends.get(name, line) < line for name, line in births.items())
    return births if is_below or is_ended else {}


def _reborn(source: SourceEvents) -> Event | None:
    """The first introduction in the last life: by another process id, or word for word again below an error or an end."""
    known: dict[tuple[object, ...], Event] = {}
    ends = [e for e in source.events if e.role in FAILING and (e.rule.tells in CERTIFICATES or e.traceback is not None)]
    birth = None
    for event in (e for e in source.telling("identity") if e.rank is not None):
        key = (event.rule.id, event.rank, event.speaker.actor)
        before = known.get(key, event)
        between = range(before.line or 0, event.line or 0)
        is_past_end = any(e.line in between for e in ends if e.traceback is None or e.rank == event.rank)
        is_again = is_past_end and event.fields == before.fields
        is_other = None not in (before.pid, event.pid) and before.pid != event.pid
        is_shown_again = event.stamp is not None and before.time is not None and (event.time or 0.0) <= before.time
        is_next = birth is None or (before.line or 0) >= (birth.line or 0)
        if (is_again or is_other) and is_next and not is_shown_again:
            birth = event  # and not of the life that began above
        known[key] = event
    return birth
