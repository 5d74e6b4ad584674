"""When: which attempt an event belongs to, by the names of files, by lines that say so, and by the clock."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .clock import Clocks
from .event import FAILING, Event, SourceEvents
from .placement import Places
from .run import begun_anew, jobs_over, stated_end

if TYPE_CHECKING:
    from .job import Job

NUMBERED = ("torchrun", "pod")  # files whose path numbers the attempt
CRASHES = ("process.segfault", "process.bus-error", "process.abort")  # as the table of exit codes calls such ends
SIGTERM_NAMES = {"15", "-15", "SIGTERM", "143"}
SIGKILL_NAMES = {"9", "-9", "SIGKILL", "137", "247"}
ENDING = ("exit", "signal-sent", "signal-received", "killed")  # how processes ended, and nothing of a new start


def number_attempts(sources: Sequence[SourceEvents], places: Places) -> None:
    """A restart begins a new attempt: torchrun's folders are numbered, in one log a line says so.

    Where no line does, the one agent of a job on one host tells; those of several end their parts of an attempt apart.
    """
    is_one_agent = _is_one_agent(sources, places)
    for source in sources:
        path = places.by_source[source.name]
        count = path.attempt if path.attempt is not None and path.kind in NUMBERED else 0
        marked = {e.line for e in source.telling("attempt")}
        if not (marked or count or is_one_agent or len(sources) == 1):
            continue
        events = sorted(source.all_events(), key=lambda e: e.line or 0)
        is_appended = len(sources) == 1 and bool(jobs_over(events))  # earlier jobs may have run on other hosts
        if (is_one_agent or is_appended) and not marked and path.kind not in NUMBERED:
            source.begun_anew, source.earlier_runs = begun_anew(events)
            for event in events:
                event.attempt = max(event.attempt, bisect_left(source.begun_anew, event.line or 0))
        _count_marks(events, marked, count, path.kind in NUMBERED)
        begins = {e.line: e.attempt - 1 for e in events if e.rule.tells == "attempt" and e.attempt}
        for event in events if begins else ():  # the same line may say why the attempt before it ended
            if event.line in begins and event.rule.tells != "attempt" and path.kind not in NUMBERED:
                event.attempt = begins[event.line]


def _count_marks(events: Sequence[Event], marked: set[int | None], count: int, is_numbered: bool) -> None:
    """Number the events of one source, in order of lines, by the marks in it."""
    if not marked:
        for event in events if count else ():
            event.attempt = max(event.attempt, count)
        return
    ended: str | None = None  # the job that Slurm says it ends and queues again, until something new is heard
    gone: set[int] = set()  # tasks that srun said to have ended: none ends twice
    for event in events:
        tasks = set(_tasks(event))
        if not gone.isdisjoint(tasks):
            ended, gone = None, set()
        gone |= tasks
        if event.rule.tells == "attempt" and not is_numbered:
            stated, job_id = event.fields.get("n"), _requeued(event)
            if job_id is None or job_id != ended:
                count = stated if isinstance(stated, int) else count + 1
            ended = job_id
        elif event.line not in marked and event.rule.tells not in ENDING:
            ended = None
        is_end = ended is not None and event.rule.tells in ENDING
        event.attempt = max(event.attempt, count - 1 if is_end else count)


def _tasks(event: Event) -> list[int]:
    ranks = event.fields.get("ranks")
    return ranks if event.rule.tells == "exit" and isinstance(ranks, list) else []


def _is_one_agent(sources: Sequence[SourceEvents], places: Places) -> bool:
    hosts = {*places.hosts_of_ranks, *places.source_host.values(), *(e.host for s in sources for e in s.events)} - {None}
    consoles = [s for s in sources if s.telling("exit", "signal-sent")]
    return len(hosts) <= 1 and len(consoles) <= 1


def _requeued(event: Event) -> str | None:
    """The job that is queued again; `*** STEP 608.0 ON n7 CANCELLED AT … DUE TO JOB REQUEUE ***` is of job 608."""
    job_id = event.fields.get("job_id")
    return str(job_id).partition(".")[0] if job_id is not None else None


def number_by_time(sources: Sequence[SourceEvents], places: Places, clocks: Clocks) -> None:
    """A log that spans several attempts (agent, console) takes the number of the attempt that had begun by then."""
    begins: dict[str | None, dict[int, float]] = {}  # of each host by its own clock, and of all
    for source in sources:
        path = places.by_source[source.name]
        if path.attempt is None or path.kind not in NUMBERED:
            continue
        times = [e.time for e in source.events if e.time is not None]
        stamps = [line.prefix.stamp for line in source.head() if line.prefix.stamp]
        times += [t for stamp in stamps if (t := clocks.seconds(stamp)) is not None]
        for host in {places.source_host.get(source.name), None} if times else ():
            _begin(begins, host, path.attempt, min(times))
    marks = [e for s in sources for e in s.telling("attempt") if e.time is not None]
    marked = {e.source for e in marks}
    for event in marks:
        _begin(begins, None, 0, float("-inf"))
        _begin(begins, None, event.attempt, event.time or 0.0)
    if not begins or max(begins[None]) == 0:
        return
    for source in sources:
        if places.by_source[source.name].kind in NUMBERED or source.name in marked:
            continue
        for event in source.all_events():
            if event.time is not None:
                known = begins.get(event.host, begins[None])
                started = [n for n, at in known.items() if at <= event.time + 1.0]
                event.attempt = max(event.attempt, *started) if started else event.attempt


def _begin(begins: dict[str | None, dict[int, float]], host: str | None, attempt: int, time: float) -> None:
    known = begins.setdefault(host, {})
    known[attempt] = min(known.get(attempt, time), time)


def decisive_attempt(job: Job) -> int:
    """The last attempt; but one after which no rank made progress again was never recovered from, and decides."""
    earlier = max((s.earlier_runs for s in job.sources), default=0)
    numbered = numbered_sources(job)
    progress = [e for s in job.sources for pair in s.progress for e in pair]
    signs = [e.attempt for e in progress if is_numbered(numbered, e)]
    last = max([*signs, *(e.attempt for e in job.events)], default=0)
    ended_well = [e.attempt for e in job.events if e.rule.tells == "finished"]
    failed = _failed(job.events, earlier)
    reached = max([*signs, *ended_well], default=max(failed, default=last))
    if last in failed and progress and not signs:
        return last  # in which attempt they made progress nobody tells
    if last not in failed and any(e.rule.tells == "finished" and not is_numbered(numbered, e) for e in job.events):
        return last  # nor in which the run was done, but nothing failed in the last one
    return min(last, reached) if min(last, reached) in failed else last


def _failed(events: Iterable[Event], first: int) -> set[int]:
    """The attempts from a first one on in which anything failed; each is asked about until it has."""
    failed: set[int] = set()
    for event in events:
        is_new = event.attempt not in failed and event.attempt >= first
        if is_new and event.role in FAILING and not _is_clean_up(event):
            failed.add(event.attempt)
    return failed


def _is_clean_up(event: Event) -> bool:
    """What launchers say while they end an attempt; it may come below the line that announces the next."""
    if event.rule.tells == "exit":
        is_named = event.fields.get("exit_code") is not None or event.fields.get("signal") is not None
        return is_terminated(event) or not is_named
    return event.rule.tells == "signal-sent" or (event.role == "symptom" and event.cause == "process.exit-code")


def numbered_sources(job: Job) -> set[str]:
    """Files that tell of the attempts they hold: by their name, or by a line; of the others only lines with a clock do."""
    marked = {e.source for e in job.events if e.rule.tells == "attempt"}
    marked |= {source.name for source in job.sources if source.begun_anew}
    return marked | {name for name, path in job.places.by_source.items() if path.kind in NUMBERED}


def is_numbered(numbered: set[str], event: Event) -> bool:
    """Whether the number of its attempt is known."""
    return event.source in numbered or (event.stamp is not None and event.time is not None)


def is_terminated(event: Event) -> bool:
    """Whether an exit is by SIGTERM: the launcher's own clean-up."""
    told = event.fields.get
    return not SIGTERM_NAMES.isdisjoint((str(told("exit_code")), str(told("signal")), str(told("signal_name"))))


def is_sigkill(event: Event) -> bool:
    """Whether an end is death by SIGKILL; srun says `Killed`."""
    told = {str(event.fields.get(name)) for name in ("signal", "exit_code")}
    return event.cause == "process.sigkill" or not told.isdisjoint(SIGKILL_NAMES)


def ended_at(end: Event) -> float | None:
    """When a process ended: as a summary states it, which is not when the summary was printed."""
    stated = stated_end(end)
    return end.time if stated is None else stated


def dead_by_code(events: Iterable[Event]) -> dict[tuple[str, int | None], int]:
    """By file and rank: the last line in which a launcher tells that it ended with a code of its own."""
    codes = (e for e in events if e.rule.tells == "exit" and e.rank is not None)
    return {(e.source, e.rank): e.line or 0 for e in codes if _is_positive(e.fields.get("exit_code"))}


def _is_positive(code: object) -> bool:
    return isinstance(code, int) and code > 0
