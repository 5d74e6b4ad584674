"""All sources' events in, one `Job` out: the reduce step. Ranks, hosts, attempts, one clock, one timeline, facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from ..lines.path_identity import identity_from_path
from ..lines.record import record
from ..traces.traceback import Traceback
from .attempt import decisive_attempt, number_attempts, number_by_time
from .clock import Clocks, set_clocks
from .cut_lines import complete_half_told
from .doubles import merge_doubles
from .event import FAILING, Event, SourceEvents
from .event_stamps import share_fields
from .failing import Failing
from .index import Told
from .jobs_apart import JobApart, set_jobs_apart
from .kernel_log import strangers
from .placement import Places, place
from .places import HERE
from .rank_lines import RankLines
from .survival import set_aside
from .time_order import events_in_order
from .world import narrow_world

if TYPE_CHECKING:
    from ..lines.prefix import Line
    from ..recorder.comparison import GroupReport
    from ..recorder.dump import Dump

T = TypeVar("T")
READ_BY_PLACEMENT = ("rank", "local_rank", "pid", "host")
CERTIFICATES = ("exit", "signal-sent", "killed")  # said of a process by another one


@record
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
    sources: tuple[str, ...] = ()  # that tell of it; of most ranks one
    first_sign: Event | None = None
    last_sign: Event | None = None
    finished: Event | None = None
    has_lines: bool = False  # of its own, not only what a launcher says of it

    @property
    def last_step(self) -> int | None:
        """The last step that its lines show."""
        step = self.last_sign.fields.get("step") if self.last_sign else None
        return step if isinstance(step, int) else None

    @property
    def activities(self) -> list[Event]:
        """What it began or ended doing, in order."""
        return [e for e in self.events if e.rule.tells in ("activity", "activity-end")]

    def failures(self) -> list[Event]:
        """Yield its errors, in order."""
        return [e for e in self.events if e.role in FAILING]

    def failed_in_words(self) -> bool:
        """Whether it printed an error itself."""
        return any(e.rule.tells not in CERTIFICATES for e in self.failures())


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
    earlier: list[Event] = field(default_factory=list)  # events of attempts that were restarted, and of other jobs
    facts: dict[str, list[tuple[Any, Event]]] = field(default_factory=dict)
    was_alive: bool = False  # whether any step, loss or other sign of progress is seen
    others: list[JobApart] = field(default_factory=list)  # jobs among the inputs that are not diagnosed
    files: frozenset[str] = frozenset()  # all that were given, the empty ones too
    failing: Failing = field(default_factory=Failing)
    _recorded: list[GroupReport] | None = None
    _rank_lines: RankLines = field(default_factory=RankLines)
    _told: Told = field(default_factory=Told)

    def recorded(self) -> list[GroupReport]:
        """Yield what the flight recorders show per process group; compared when first asked for."""
        if not self.dumps:
            return []
        if self._recorded is None:
            from ..recorder.comparison import compare_placed

            self._recorded = compare_placed(self.dumps, self.world_size)
        return self._recorded

    @property
    def world_size(self) -> int | None:
        """How many ranks the job has, as far as is known."""
        return self.places.world_size

    def failures(self) -> list[Event]:
        """Yield the errors that count: of the last attempt, not survived."""
        return self.failing.among(self.events, self.survived, self.earlier)

    def telling(self, *tells: str) -> list[Event]:
        """Yield the events of the last attempt that tell one of these things."""
        return self._told.among(self.events, self.earlier, tells)

    def once(self, question: Callable[[Job], T]) -> T:
        """Yield what a question answers of this job; it is asked once for all that want to know."""
        return self._told.once(self.events, self.earlier, question, self)

    def known_ranks(self) -> set[int]:
        """Yield the ranks of which the logs show anything."""
        return set(self.ranks)

    def is_heard(self, rank: int | None) -> bool:
        """Whether there is any line of its own; of a rank without a log nobody knows what it printed."""
        info = self.ranks.get(rank) if rank is not None else None
        return info is not None and info.has_lines

    def is_heard_on(self, rank: int | None, stream: str | None) -> bool:
        """Whether what it prints on the stream would be here: errors go to the standard error, which may not be given."""
        info = self.ranks.get(rank) if rank is not None else None
        told = {name: self.places.by_source[name] for name in (info.sources if info is not None else ())}
        of_it = {n: p for n, p in told.items() if self.places.source_rank.get(n) == rank or p.local_rank is not None}
        own = {name: path.stream for name, path in of_it.items()}
        if not own or stream is None or not {None, stream}.isdisjoint(own.values()):
            return True
        return any(_on(stream, name, str(other)) in self.files for name, other in own.items())

    def tracebacks(self) -> list[Traceback]:
        """Yield all tracebacks, in order of source and line."""
        return [tb for s in self.sources for tb in s.tracebacks]

    def lines_of(self, rank: int) -> list[tuple[str, Line]]:
        """Yield the last lines that the rank printed, of those that are kept, each with its source, in order."""
        return self._rank_lines.of(rank, self.sources, self.places)

    def last_line_of(self, rank: int) -> tuple[str, Line] | None:
        """Yield the last line with words that the rank printed, with its source."""
        return next(((source, x) for source, x in reversed(self.lines_of(rank)) if x.message.strip()), None)


def _on(stream: str, name: str, other: str) -> str:
    """Name the file beside a process's other one: `0/stdout.log`, `0/stderr.log`; Ray's `worker-….out`, `worker-….err`."""
    if other in name:
        return name.replace(other, stream)
    stem, _, suffix = name.rpartition(other.removeprefix("std"))
    return stem + stream.removeprefix("std") + suffix


def build_job(
    sources: Sequence[SourceEvents],
    dumps: Sequence[Dump] = (),
    context: JobContext | None = None,
    zone_s: float | None = None,
    rank_from: str | None = None,
    empty: Sequence[str] = (),
) -> Job:
    """Yield the job that these sources tell of."""
    context = context or JobContext()
    alone = {s.name: identity_from_path(s.name) for s in sources}
    sources, others = set_jobs_apart(sources, alone)
    complete_half_told(sources)
    places = place(sources, context.world_size, rank_from, alone)
    del alone  # with thousands of files it weighs, as do the fields of signs of life, each with its rank
    share_fields(sources, READ_BY_PLACEMENT)
    number_attempts(sources, places)
    clocks = set_clocks(sources, zone_s)
    number_by_time(sources, places, clocks)
    events = merge_doubles(events_in_order(sources), places)
    files = frozenset((*(s.name for s in sources), *empty))
    job = Job(list(sources), events, {}, [], places, clocks, context, _placed(dumps, places), others=others, files=files)
    _fill_ranks(job)
    hosts = {*places.source_host.values(), *places.hosts_of_ranks, *(e.host for e in events if e.host)}
    job.hosts = sorted(hosts.difference(HERE) or hosts)
    job.attempt = decisive_attempt(job)
    is_narrower = job.attempt > 0 and narrow_world(places, events, job.attempt)
    set_aside(job)
    job.earlier += strangers(job)
    if is_narrower:
        _drop_ranks_of_before(job)
    job.was_alive = any(source.progress for source in sources)
    for source in sources:
        source.progress = ()  # four events for each of 20,000 files; the ranks hold their first and last one
    for event in events:
        if event.rule.tells in ("fact", "identity"):
            for name, value in event.fields.items():
                job.facts.setdefault(name, []).append((value, event))
    return job


def _placed(dumps: Sequence[Dump], places: Places) -> list[Dump]:
    if not dumps:
        return []
    from ..recorder.dump import placed

    return placed(dumps, places.stated_size)


def _drop_ranks_of_before(job: Job) -> None:
    """Forget ranks that only an earlier run had, which was larger."""
    earlier, world = {id(e) for e in job.earlier}, job.world_size or 0
    gone = {r for r, i in job.ranks.items() if r >= world and all(id(e) in earlier for e in i.events)}
    job.ranks = {rank: info for rank, info in job.ranks.items() if rank not in gone}


def _fill_ranks(job: Job) -> None:
    ranks = {rank: RankInfo(rank) for rank in _known_ranks(job)}
    for event in job.events:
        if event.rank is not None:
            _note_event(ranks[event.rank], event)
    for info in ranks.values():
        info.sources = tuple(dict.fromkeys(e.source for e in info.events))  # all files may tell of rank 0
    for event in _signs(job):
        if event.rank is not None:
            _note_sign(ranks[event.rank], event)
    for rank in _speaking(job):
        ranks[rank].has_lines = True
    for rank, info in ranks.items():
        own = (e for e in info.events if e.rule.tells not in CERTIFICATES)
        info.has_lines = info.has_lines or info.last_sign is not None or any(own)
        info.host = job.places.host_of.get(rank) or next((e.host for e in info.events if e.host), None)
        info.local_rank = job.places.local_of.get(rank)
        info.pid = job.places.pid_of.get(rank)
        info.device = job.places.device_of.get(rank)
    job.ranks = ranks


def _known_ranks(job: Job) -> list[int]:
    """The ranks that anything tells of, in order; one set for all of them, for it weighs where they are thousands."""
    places = job.places
    known = {*places.host_of, *places.local_of, *places.pid_of}
    known.update(_speaking(job))
    known.update(e.rank for e in chain(job.events, _signs(job)) if e.rank is not None)
    return sorted(known)


def _speaking(job: Job) -> Iterator[int]:
    yield from (p.rank for s in job.sources for p in s.speakers if p.rank is not None)
    yield from job.places.source_rank.values()


def _signs(job: Job) -> Iterator[Event]:
    return (e for s in job.sources for pair in s.progress for e in pair)


def _note_event(info: RankInfo, event: Event) -> None:
    info.events.append(event)
    if event.rule.tells == "finished":
        info.finished = event


def _note_sign(info: RankInfo, event: Event) -> None:
    if event.source not in info.sources:
        info.sources += (event.source,)
    if info.first_sign is None or _sign_key(event) < _sign_key(info.first_sign):
        info.first_sign = event
    if info.last_sign is None or _sign_key(event) >= _sign_key(info.last_sign):
        info.last_sign = event


def _sign_key(event: Event) -> tuple[int, float, int]:
    return (event.attempt, event.time or 0.0, event.line or 0)
