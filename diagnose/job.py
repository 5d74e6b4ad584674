"""All sources' events in, one `Job` out: the reduce step. Ranks, hosts, attempts, one clock, one timeline, facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .clocks import Clocks, set_clocks
from .doubles import merge_doubles
from .events import Event, SourceEvents
from .placement import Places, place
from .tracebacks import Traceback

if TYPE_CHECKING:
    from .recorder_dump import Dump

FAILING = ("cause", "symptom")
HISTORY_S = 120.0
REDRAW_LINES, REDRAW_UPDATES = 60, 4
BUFFERED_S = 3.0
NUMBERED = ("torchrun", "pod")  # files whose path numbers the attempt


@dataclass(frozen=True, slots=True)
class JobContext:
    """What the caller knows and the logs may not say; a hook that knows of a failure never gets `healthy`."""

    exit_code: int | None = None
    signal: int | None = None
    world_size: int | None = None
    hosts: tuple[str, ...] = ()
    launcher: str | None = None
    start: float | None = None  # unix seconds
    end: float | None = None

    def failed(self) -> bool:
        """Whether the caller knows that the job failed."""
        return bool(self.exit_code) or self.signal is not None


@dataclass(slots=True)
class RankInfo:
    """What is known of one rank."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    pid: int | None = None
    device: int | None = None
    events: list[Event] = field(default_factory=list)
    sources: set[str] = field(default_factory=set)
    first_sign: Event | None = None
    last_sign: Event | None = None
    finished: Event | None = None
    activities: list[Event] = field(default_factory=list)

    @property
    def last_step(self) -> int | None:
        """The last step that its lines show."""
        step = self.last_sign.fields.get("step") if self.last_sign else None
        return step if isinstance(step, int) else None

    def failures(self) -> list[Event]:
        """Yield its errors, in order."""
        return [e for e in self.events if e.role in FAILING]


@dataclass(slots=True)
class Job:
    """Everything the logs say about one job, placed in ranks and time."""

    sources: list[SourceEvents]
    events: list[Event]  # in order of time, then place
    ranks: dict[int, RankInfo]
    hosts: list[str]
    places: Places
    clocks: Clocks
    context: JobContext
    dumps: list[Dump]
    attempt: int = 0  # the last one: what is diagnosed
    survived: list[Event] = field(default_factory=list)
    earlier: list[Event] = field(default_factory=list)  # events of attempts that were restarted
    facts: dict[str, list[tuple[Any, Event]]] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    @property
    def world_size(self) -> int | None:
        """How many ranks the job has, as far as is known."""
        return self.places.world_size

    def failures(self) -> list[Event]:
        """Yield the errors that count: of the last attempt, not survived."""
        dropped = {id(e) for e in (*self.survived, *self.earlier)}
        return [e for e in self.events if e.role in FAILING and id(e) not in dropped]

    def telling(self, *tells: str) -> list[Event]:
        """Yield the events of the last attempt that tell one of these things."""
        earlier = {id(e) for e in self.earlier}
        return [e for e in self.events if e.rule.tells in tells and id(e) not in earlier]

    def known_ranks(self) -> set[int]:
        """Yield the ranks of which the logs show anything."""
        return set(self.ranks)

    def tracebacks(self) -> list[Traceback]:
        """Yield all tracebacks, in order of source and line."""
        return [tb for s in self.sources for tb in s.tracebacks]


def build_job(
    sources: Sequence[SourceEvents],
    dumps: Sequence[Dump] = (),
    context: JobContext | None = None,
    zone_s: float | None = None,
    rank_from: str | None = None,
) -> Job:
    """Yield the job that these sources tell of."""
    context = context or JobContext()
    places = place(sources, context.world_size, rank_from)
    _number_attempts(sources, places)
    clocks = set_clocks(sources, zone_s)
    _attempts_by_time(sources, places, clocks)
    events = merge_doubles(sorted((e for s in sources for e in s.events), key=_moment), places)
    job = Job(list(sources), events, {}, [], places, clocks, context, list(dumps))
    _fill_ranks(job)
    job.hosts = sorted({*places.source_host.values(), *places.host_of.values(), *(e.host for e in events if e.host)})
    job.attempt = _decisive_attempt(job)
    _set_aside(job)
    for event in events:
        if event.rule.tells in ("fact", "identity"):
            for name, value in event.fields.items():
                job.facts.setdefault(name, []).append((value, event))
    return job


def _moment(event: Event) -> tuple[bool, float, str, int, int]:
    return (event.time is None, event.time or 0.0, event.source, event.line or 0, event.order)


# --- attempts, survival ------------------------------------------------------------------------------------------


def _number_attempts(sources: Sequence[SourceEvents], places: Places) -> None:
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


def _attempts_by_time(sources: Sequence[SourceEvents], places: Places, clocks: Clocks) -> None:
    """A log that spans several attempts (agent, console) takes the number of the attempt that had begun by then."""
    begins: dict[int, float] = {}
    for source in sources:
        number = places.by_source[source.name].attempt
        if number is None or places.by_source[source.name].kind not in NUMBERED:
            continue
        times = [e.time for e in source.events if e.time is not None]
        times += [
            t for line in source.head if line.prefix.stamp and (t := clocks.seconds(line.prefix.stamp)) is not None
        ]
        if times:
            begins[number] = min(begins.get(number, times[0]), *times)
    if not begins or max(begins) == 0:
        return
    for source in sources:
        if places.by_source[source.name].kind in NUMBERED:
            continue
        for event in source.events:
            if event.time is not None:
                started = [n for n, at in begins.items() if at <= event.time + 1.0]
                event.attempt = max(event.attempt, *started) if started else event.attempt


def _decisive_attempt(job: Job) -> int:
    """The last attempt; but one after which no rank made progress again was never recovered from, and decides."""
    last = max((e.attempt for e in job.events), default=0)
    signs = [e.attempt for s in job.sources for pair in s.progress.values() for e in pair]
    ended_well = [e.attempt for e in job.events if e.rule.tells == "finished"]
    reached = max([*signs, *ended_well], default=last)
    failed = {e.attempt for e in job.events if e.role in FAILING}
    return min(last, reached) if min(last, reached) in failed else last


def _set_aside(job: Job) -> None:
    signs = [
        e.time for s in job.sources for _, e in s.progress.values() if e.time is not None and e.prefix.stamp is not None
    ]
    for event in job.events:
        if event.attempt != job.attempt or (event.role in FAILING and _is_history(job, event, signs)):
            job.earlier.append(event)
        elif event.role in FAILING and _survived(job, event):
            job.survived.append(event)


def _is_history(job: Job, event: Event, signs: Sequence[float]) -> bool:
    """What ended the whole job, or a host, is history once ranks make progress again, or the run says that it is done."""
    if _finished_after(job, event):
        return True
    stated = event.prefix.stamp is not None or event.fields.get("time") is not None
    if event.rank is not None or event.time is None or not stated or not signs:
        return False
    return max(signs) > event.time + max(HISTORY_S, job.clocks.spread_s.get(event.host or "", HISTORY_S))


def _finished_after(job: Job, event: Event) -> bool:
    for end in (e for e in job.events if e.rule.tells == "finished" and e.attempt >= event.attempt):
        if end.source == event.source:
            if (end.line or 0) > (event.end_line or 0):
                return True
        elif end.prefix.stamp is not None and event.prefix.stamp is not None and end.time and event.time:
            if end.time > event.time + max(HISTORY_S, job.clocks.uncertainty_s(end, event)):
                return True
    return False


def _survived(job: Job, event: Event) -> bool:
    """Whether the same rank made progress after this error, in the same file or by the clock."""
    if event.rank is None:
        return False
    info = job.ranks.get(event.rank)
    sign = info.last_sign if info else None
    if sign is None or sign.attempt < event.attempt:
        return False
    if sign.source == event.source:
        return (sign.line or 0) > (event.end_line or 0) and not _is_late_print(job, sign, event)
    if event.prefix.stamp is None or sign.prefix.stamp is None:  # a time taken from a line nearby orders no two files
        return False
    same_host = sign.host == event.host
    return same_host and sign.time is not None and event.time is not None and sign.time > event.time + 1.0


def _is_late_print(job: Job, sign: Event, event: Event) -> bool:
    """Output that was buffered comes after the error, and a bar is drawn once more when its process leaves."""
    if (sign.line or 0) > (event.end_line or 0) + REDRAW_LINES:
        return False
    if "%|" not in sign.raw:
        known = sign.prefix.stamp is not None and sign.time is not None and event.time is not None
        return not known or (sign.time or 0.0) <= (event.time or 0.0) + BUFFERED_S
    source = next(s for s in job.sources if s.name == sign.source)
    return sum(x.number == sign.line and "%|" in x.raw for x in source.lines) < REDRAW_UPDATES


def _fill_ranks(job: Job) -> None:
    ranks: dict[int, RankInfo] = defaultdict(lambda: RankInfo(-1))
    for rank in sorted(
        {*job.places.host_of, *job.places.local_of, *job.places.pid_of, *job.places.source_rank.values()}
    ):
        ranks[rank] = RankInfo(rank)
    for event in job.events:
        if event.rank is not None:
            info = ranks.setdefault(event.rank, RankInfo(event.rank))
            info.events.append(event)
            info.sources.add(event.source)
            if event.rule.tells == "finished":
                info.finished = event
            if event.rule.tells in ("activity", "activity-end"):
                info.activities.append(event)
    for source in job.sources:
        for first, last in source.progress.values():
            for event in (first, last):
                if event.rank is not None:
                    _note_sign(ranks.setdefault(event.rank, RankInfo(event.rank)), event)
        for line in source.lines:
            rank = line.prefix.rank
            if rank is not None and rank not in ranks:
                ranks[rank] = RankInfo(rank)
    for rank, info in ranks.items():
        info.rank = rank
        info.host = job.places.host_of.get(rank) or next((e.host for e in info.events if e.host), None)
        info.local_rank = job.places.local_of.get(rank)
        info.pid = job.places.pid_of.get(rank)
        info.device = job.places.device_of.get(rank)
    job.ranks = dict(sorted(ranks.items()))


def _note_sign(info: RankInfo, event: Event) -> None:
    info.sources.add(event.source)
    if info.first_sign is None or _sign_key(event) < _sign_key(info.first_sign):
        info.first_sign = event
    if info.last_sign is None or _sign_key(event) >= _sign_key(info.last_sign):
        info.last_sign = event


def _sign_key(event: Event) -> tuple[int, float, int]:
    return (event.attempt, event.time or 0.0, event.line or 0)
