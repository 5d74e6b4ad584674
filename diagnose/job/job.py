"""`Job`: everything the logs say about one job, placed in ranks and time, and what its caller knows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

from ..lines.record import record
from .clock import Clocks
from .coverage import RankLines, holds
from .event import FAILING, Event, SourceEvents
from .identity_table import Places
from .placement import JobApart
from .process import CERTIFICATES, Process

if TYPE_CHECKING:
    from ..lines.prefix import Line
    from ..recorder.comparison import GroupReport
    from ..recorder.dump import Dump

__all__ = ["CERTIFICATES", "Job", "JobContext", "RankInfo"]

T = TypeVar("T")
RankInfo = Process  # as the rooms above call it


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
    _rank_lines: RankLines = field(default_factory=RankLines)
    _answers: dict[Callable[..., Any], Any] = field(default_factory=dict)  # dozens of questions ask, some of them per rank

    def recorded(self) -> list[GroupReport]:
        """Yield what the flight recorders show per process group."""
        return self.once(_recorded) if self.dumps else []

    @property
    def world_size(self) -> int | None:
        """How many ranks the job has, as far as is known: stated, or at least so many."""
        return self.places.world_size

    def failures(self) -> list[Event]:
        """Yield the errors that count: of the last attempt, not survived."""
        return self.once(_failing)[:]

    def telling(self, *tells: str) -> list[Event]:
        """Yield the events of the last attempt that tell one of these things, in order."""
        told = self.once(_by_what_is_told)
        found = [told[name] for name in dict.fromkeys(tells) if name in told]
        return [e for _, e in (found[0] if len(found) == 1 else sorted(chain.from_iterable(found), key=itemgetter(0)))]

    def once(self, question: Callable[[Job], T]) -> T:
        """Yield what a question answers of this job; it is asked once for all, as long as the events stay the same."""
        if question not in self._answers:
            self._answers[question] = question(self)
        answer: T = self._answers[question]
        return answer

    def set_aside(self, earlier: list[Event], survived: list[Event]) -> None:
        """Take note of what was said of lives before the last one, and of what the job outlived."""
        self.earlier, self.survived = earlier, survived
        self._answers.clear()

    def revise(self, changes: Mapping[Event, Sequence[Event]]) -> None:
        """Put other events in the place of some: the same in other roles, none, or more than one."""
        if not changes:
            return
        for kept in (self.events, self.survived, self.earlier, *(info.events for info in self.ranks.values())):
            kept[:] = [new for event in kept for new in changes.get(event, (event,))]
        for source in {e.source for e in changes}:
            of_it = next(s for s in self.sources if s.name == source)
            of_it.change(tuple(new for event in of_it.events for new in changes.get(event, (event,))))
        self._answers.clear()

    def is_heard(self, rank: int | None) -> bool:
        """Whether there is any line of its own; of a rank without a log nobody knows what it printed."""
        info = self.ranks.get(rank) if rank is not None else None
        return info is not None and info.has_lines

    def is_heard_on(self, rank: int | None, stream: str | None) -> bool:
        """Whether what it prints on the stream would be here: errors go to the standard error, which may not be given."""
        info = self.ranks.get(rank) if rank is not None else None
        return info is None or not info.has_lines or holds(info, stream, self.places, self.files)

    def lines_of(self, rank: int) -> list[tuple[str, Line]]:
        """Yield the last lines that the rank printed, of those that are kept, each with its source, in order."""
        return self._rank_lines.of(rank, self.sources, self.places)

    def last_line_of(self, rank: int) -> tuple[str, Line] | None:
        """Yield the last line with words that the rank printed, with its source."""
        return next(((source, x) for source, x in reversed(self.lines_of(rank)) if x.message.strip()), None)


def _recorded(job: Job) -> list[GroupReport]:
    from ..recorder.comparison import compare

    return compare(job.dumps, job.world_size)


def _failing(job: Job) -> list[Event]:
    aside = {*job.earlier, *job.survived}
    return [e for e in job.events if e.role in FAILING and e not in aside]


def _by_what_is_told(job: Job) -> dict[str | None, list[tuple[int, Event]]]:
    """Each with its place in the order of all."""
    earlier, told = set(job.earlier), defaultdict[str | None, list[tuple[int, Event]]](list)
    for number, event in enumerate(job.events):
        if event not in earlier:
            told[event.rule.tells].append((number, event))
    return told
