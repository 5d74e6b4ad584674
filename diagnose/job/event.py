"""What one source says: its `Event`s, with tracebacks and stacks around them, and who speaks; its lines are read anew."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..catalogue.rule import Role, Rule
from ..lines.prefix import MAX_SPEAKERS, Line, Prefix, read_lines
from ..lines.record import record
from ..lines.timestamp import Stamp
from ..scan.kept import Hit
from ..scan.scan import SourceScan
from ..traces.traceback import Traceback

if TYPE_CHECKING:
    from ..traces.stack_forms import StackDump

FAILING = ("cause", "symptom")  # roles
MAX_CHARS = 8192  # of one line
MOST_SHOWN = 6  # exhibits of one finding
Words = tuple[str, str | int]  # a line as it stands in the file; the message, or where in the line it begins


class Speaker(NamedTuple):
    """Who speaks, as the prefix of a line tells."""

    rank: int | None
    local_rank: int | None
    task: int | None
    host: str | None
    pod: str | None
    pid: int | None
    actor: str | None
    ip: str | None


named_in = itemgetter(*(Prefix._fields.index(name) for name in Speaker._fields))  # what a prefix tells of who speaks


@lru_cache(MAX_SPEAKERS)
def speaker_named(named: tuple[Any, ...]) -> Speaker:
    """Yield who speaks, by what `named_in` tells of a prefix."""
    speaker = Speaker._make(named)
    return speaker._replace(host=sys.intern(speaker.host)) if speaker.host else speaker  # one text for all of a host


@dataclass(slots=True, eq=False)
class Event:
    """One thing that one line (or block, or traceback) says; who and when are as printed until it is placed (`settled`)."""

    rule: Rule
    cause: str | None
    role: Role
    source: str
    line: int | None
    end_line: int | None
    words: Words | SourceScan  # of a sign of life the scan that keeps them
    fields: dict[str, Any]
    speaker: Speaker
    stamp: Stamp | None  # that its line prints
    traceback: Traceback | None = None
    rank: int | None = None
    host: str | None = None
    time: float | None = None  # printed, seconds UTC, on the shared clock of the job
    attempt: int = 0
    onset: float | None = None  # when what it reports began; None also where its rule says that nobody knows
    timed_by_copy: bool = False  # the same message, seen elsewhere, prints it
    order: int = 0  # position in the source, among its events or its signs of life: the order where no clock tells
    near: Stamp | None = None  # where its own does not do: of the nearest line above it or, where none has one, below
    near_is_below: bool = False  # the latter: no line above has one
    rank_from: str = ""
    local_rank: int | None = None
    host_from: str = ""
    pid: int | None = None
    also_in: tuple[tuple[str, int | None], ...] = ()  # the first places where else it was seen

    def but(self, **changes: Any) -> Event:
        """Yield the event with other values."""
        return settled(Event(**{f.name: changes.get(f.name, getattr(self, f.name)) for f in fields(Event)}))

    @property
    def text(self) -> str:
        """The message, without prefixes."""
        raw, text = self.words if isinstance(self.words, tuple) else self._words_of_sign(self.words)
        return raw[text:] if isinstance(text, int) else text

    @property
    def raw(self) -> str:
        """The line as it stands in the file."""
        return self.words[0] if isinstance(self.words, tuple) else self._words_of_sign(self.words)[0]

    def _words_of_sign(self, scan: SourceScan) -> Words:
        """The words of the first or the last (odd) sign of life of a speaker."""
        return words_of(sign_line(list(scan.progress.values())[self.order // 2][self.order % 2]))

    @property
    def has_own_time(self) -> bool:
        """Whether the line prints its time; a time taken from a line above is only the earliest that it can be."""
        return self.stamp is not None or self.fields.get("time") is not None


class Settled(Event):
    """An event of which rank, host, attempt and time are decided: it does not change any more."""

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of an event that is placed; take `event.but({name}=…)`")


def settled(event: Event) -> Event:
    """Yield the event, which nobody can change from now on."""
    event.__class__ = Settled  # the same object, which indexes and sources hold already
    return event


def events_in_order(sources: Sequence[SourceEvents]) -> list[Event]:
    """Yield all events in order of time, then place."""
    events = (e for s in sources for e in s.events)
    return sorted(events, key=lambda e: (e.time is None, e.time or 0.0, e.source, e.line or 0, e.order))


@dataclass(slots=True)
class SourceEvents:
    """What one source says."""

    name: str
    kind: str
    events: tuple[Event, ...]
    speakers: tuple[Speaker, ...]  # of the kept lines, each once, in order
    years: tuple[tuple[int, int], ...]  # that the stamps of these lines print, and how often
    is_folded: bool  # Ray wrote one line for several workers that said the same
    tracebacks: tuple[Traceback, ...]
    stacks: tuple[StackDump, ...]
    progress: tuple[tuple[Event, Event], ...]  # each speaker's first and last sign of life, until a job is built of them
    last_sign_line: int | None  # of the last one of all
    capped: tuple[str, ...]  # rules with more hits than are kept
    scan: SourceScan
    _told: dict[str | None, list[Event]] | None = None  # by what they tell; None until somebody asks

    def telling(self, *tells: str) -> Sequence[Event]:
        """Yield the events that tell one of these things, in order; most sources tell few, and are asked by many."""
        if not self.events:
            return ()  # as of thousands of files, of which each would keep an empty index
        if self._told is None:
            self._told = {}
            for event in self.events:
                self._told.setdefault(event.rule.tells, []).append(event)
        told = [self._told[each] for each in tells if each in self._told]
        return [e for e in self.events if e.rule.tells in tells] if len(told) > 1 else told[0] if told else ()

    def change(self, events: tuple[Event, ...]) -> None:
        """Take other events, or the same with other rules."""
        self.events, self._told = events, None

    def all_events(self) -> Iterator[Event]:
        """Yield the events, and each speaker's first and last sign of life."""
        yield from self.events
        for first, last in self.progress:
            yield first
            if last is not first:
                yield last

    def lines(self, numbers: Container[int] | None = None) -> list[Line]:
        """Yield the kept lines in order, read anew: all of them, or those of these numbers."""
        return kept_lines(self.scan, numbers)

    def head(self) -> list[Line]:
        """Yield the first lines of the source, read anew."""
        scan = self.scan.opened()
        return kept_lines(scan, {n for n, _ in scan.windows.first})

    def tail(self) -> list[Line]:
        """Yield the last lines of the source, read anew."""
        scan = self.scan.opened()
        return kept_lines(scan, {n for n, _ in scan.windows.last})


def words_of(line: Line, text: str | None = None) -> Words:
    """Yield what an event says: the line, with the text that its rule read there (None: its message)."""
    if text is None and len(line.raw) <= MAX_CHARS:
        return line.raw, line.prefix.end
    return line.raw[:MAX_CHARS], (line.message if text is None else text)[:MAX_CHARS]


def sign_line(hit: Hit) -> Line:
    """Yield the line of a sign of life."""
    return read_lines(hit.line, str((hit.fields or {}).get("~text", "")))[-1]


def kept_lines(scan: SourceScan, numbers: Container[int] | None = None) -> list[Line]:
    """Yield the kept lines of a source in order: all of them, or those of these numbers."""
    texts = [(n, text) for n, text in scan.kept().items() if numbers is None or n in numbers]
    return [line for n, text in texts for line in read_lines(n, text)]


@record
class Exhibit:
    """One place in the logs, with what is known of who speaks there."""

    source: str
    line: int | None
    text: str
    rank: int | None = None
    host: str | None = None
    time: float | None = None
    event: Event | None = None
    end_line: int | None = None

    @classmethod
    def of_event(cls, event: Event) -> Exhibit:
        """Yield the place of an event."""
        return cls(event.source, event.line, event.raw, event.rank, event.host, event.time, event, event.end_line)

    @classmethod
    def of_line(cls, source: str, line: Line, rank: int | None, host: str | None) -> Exhibit:
        """Yield the place of a line that no rule knows."""
        return cls(source, line.number, line.raw, rank, host)


def exhibits(events: Iterable[Event], most: int = MOST_SHOWN) -> tuple[Exhibit, ...]:
    """Yield the places of the first `most` events."""
    return tuple(Exhibit.of_event(e) for e in islice(events, most))


def earliest_onset(events: Iterable[Event]) -> float | None:
    """Yield when the first of what these report began, in seconds; None where nobody tells."""
    return min((e.onset for e in events if e.onset is not None), default=None)
