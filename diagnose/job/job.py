"""All sources' events in, one `Job` out: the reduce step. Ranks, hosts, attempts, one clock, one timeline, facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..lines.path_identity import identity_from_path
from ..lines.record import record
from .attempt import decisive_attempt, number_attempts, number_by_time
from .clock import Clocks, set_clocks
from .copies import merge_copies
from .coverage import RankLines, of_rank
from .event import FAILING, Event, SourceEvents, events_in_order, settled
from .event_stamps import share_fields
from .identity import JobApart, place, set_jobs_apart
from .places import HERE, Places
from .process import CERTIFICATES, Process, processes, tell_ordered_ends
from .survival import set_aside

if TYPE_CHECKING:
    from ..lines.prefix import Line
    from ..recorder.comparison import GroupReport
    from ..recorder.dump import Dump

__all__ = ["CERTIFICATES", "Job", "JobContext", "RankInfo", "build_job"]

J = TypeVar("J")
T = TypeVar("T")
RankInfo = Process  # as the rooms above call it
READ_BY_PLACEMENT = ("rank", "local_rank", "pid", "host")


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
class Index:
    """Events by what they tell, errors that count, and what follows: dozens of questions ask, some of them per rank."""

    _told: dict[str, list[tuple[int, Event]]] = field(default_factory=dict)  # by what is told: with places in order
    _failing: list[Event] | None = None
    _answers: dict[Callable[..., Any], Any] = field(default_factory=dict)
    _of: tuple[int, ...] = ()  # how many events, and of each kind set aside, there were then

    def forget(self) -> None:
        """Look anew when asked next: events have got other roles."""
        self._of = ()

    def failing(self, events: Sequence[Event], earlier: Sequence[Event], survived: Sequence[Event]) -> list[Event]:
        """Yield the errors less those set aside, in order, in a list of the caller's own."""
        self._sort(events, earlier, survived)
        if self._failing is None:
            dropped = {*earlier, *survived}
            self._failing = [e for e in events if e.role in FAILING and e not in dropped]
        return self._failing[:]

    def telling(self, events: Sequence[Event], *aside: Sequence[Event], tells: Sequence[str]) -> list[Event]:
        """Yield the events that tell one of these things, less earlier ones, in order, in a list of the caller's own."""
        self._sort(events, *aside)
        told = [self._told[name] for name in dict.fromkeys(tells) if name in self._told]
        found = told[0] if len(told) == 1 else sorted((x for pairs in told for x in pairs), key=lambda pair: pair[0])
        return [event for _, event in found]

    def once(self, events: Sequence[Event], *aside: Sequence[Event], question: Callable[[J], T], job: J) -> T:
        """Yield what a question answers of the job; it is asked once as long as the events stay the same."""
        self._sort(events, *aside)
        if question not in self._answers:
            self._answers[question] = question(job)
        answer: T = self._answers[question]
        return answer

    def _sort(self, events: Sequence[Event], earlier: Sequence[Event], survived: Sequence[Event]) -> None:
        of = (len(events), len(earlier), len(survived))
        if self._of == of:
            return
        dropped = set(earlier)
        self._told, self._failing, self._answers, self._of = {}, None, {}, of
        for number, event in enumerate(events):
            if event.rule.tells is not None and event not in dropped:
                self._told.setdefault(event.rule.tells, []).append((number, event))


@dataclass(slots=True)
class Job:
    """Everything the logs say about one job, placed in ranks and time."""

    sources: list[SourceEvents]
    events: list[Event]  # in order of time, then place
    ranks: dict[int, Process]
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
    index: Index = field(default_factory=Index)
    _recorded: list[GroupReport] | None = None
    _rank_lines: RankLines = field(default_factory=RankLines)

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
        """How many ranks the job has, as far as is known: stated, or at least so many."""
        return self.places.world_size

    def failures(self) -> list[Event]:
        """Yield the errors that count: of the last attempt, not survived."""
        return self.index.failing(self.events, self.earlier, self.survived)

    def telling(self, *tells: str) -> list[Event]:
        """Yield the events of the last attempt that tell one of these things."""
        return self.index.telling(self.events, self.earlier, self.survived, tells=tells)

    def once(self, question: Callable[[Job], T]) -> T:
        """Yield what a question answers of this job; it is asked once for all that want to know."""
        return self.index.once(self.events, self.earlier, self.survived, question=question, job=self)

    def revise(self, changes: Mapping[Event, Sequence[Event]]) -> None:
        """Put other events in the place of some: the same in other roles, none, or more than one."""
        if not changes:
            return
        for kept in (self.events, self.survived, self.earlier, *(info.events for info in self.ranks.values())):
            kept[:] = [new for event in kept for new in changes.get(event, (event,))]
        for source in {e.source for e in changes}:
            of_it = next(s for s in self.sources if s.name == source)
            of_it.change(tuple(new for event in of_it.events for new in changes.get(event, (event,))))
        self.index.forget()

    def is_heard(self, rank: int | None) -> bool:
        """Whether there is any line of its own; of a rank without a log nobody knows what it printed."""
        info = self.ranks.get(rank) if rank is not None else None
        return info is not None and info.has_lines

    def is_heard_on(self, rank: int | None, stream: str | None) -> bool:
        """Whether what it prints on the stream would be here: errors go to the standard error, which may not be given."""
        return rank is None or rank not in self.ranks or not self.ranks[rank].has_lines or of_rank(self, rank).holds(stream)

    def lines_of(self, rank: int) -> list[tuple[str, Line]]:
        """Yield the last lines that the rank printed, of those that are kept, each with its source, in order."""
        return self._rank_lines.of(rank, self.sources, self.places)

    def last_line_of(self, rank: int) -> tuple[str, Line] | None:
        """Yield the last line with words that the rank printed, with its source."""
        return next(((source, x) for source, x in reversed(self.lines_of(rank)) if x.message.strip()), None)


def _placed(dumps: Sequence[Dump], places: Places) -> list[Dump]:
    if not dumps:
        return []
    from ..recorder.dump import placed

    return placed(dumps, places.stated_size)


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
    places = place(sources, context.world_size, rank_from, alone)
    del alone  # with thousands of files it weighs, as do the fields of signs of life, each with its rank
    share_fields(sources, READ_BY_PLACEMENT)
    number_attempts(sources, places)
    clocks = set_clocks(sources, zone_s)
    number_by_time(sources, places, clocks)
    events = merge_copies(events_in_order(sources), places)
    tell_ordered_ends(events)
    hosts = {*places.source_host.values(), *places.hosts_of_ranks, *(e.host for e in events if e.host)}
    job = Job(
        list(sources), events, processes(events, sources, places), sorted(hosts.difference(HERE) or hosts), places, clocks,
        context, _placed(dumps, places), others=others, files=frozenset((*(s.name for s in sources), *empty)),
    )  # fmt: skip
    job.attempt = decisive_attempt(events, (e for s in sources for pair in s.progress for e in pair))
    set_aside(job)
    job.was_alive = any(source.progress for source in sources)
    for event in (e for s in sources for e in s.all_events()):
        settled(event)
    for source in sources:
        source.progress = ()  # four events for each of 20,000 files; the ranks hold their first and last one
    for event in events:
        if event.rule.tells in ("fact", "identity"):
            for name, value in event.fields.items():
                job.facts.setdefault(name, []).append((value, event))
    return job
