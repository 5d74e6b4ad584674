"""`Coverage`: which part of what a rank or a source printed is here. Silence counts only where a line would be here."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ..lines.prefix import speaker_key
from .event import Event, SourceEvents

if TYPE_CHECKING:
    from ..lines.prefix import Line, Prefix
    from .event import Speaker
    from .job import Job
    from .places import Places

# Exceptions in which libraries pass on what became of others; the name of any other tells what went wrong.
OF_ANYTHING = (
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "Exception", "OSError", "RuntimeError",
    "XlaRuntimeError",
)  # fmt: skip
LAST_LINES = 100  # of a rank in a shared console: more than the longest traceback that its last words may stand above
CHAINED = ("During handling of the above exception, ", "The above exception was the direct cause ")
CHAIN_LINES = 4  # below an exception, in which the next one of its chain is announced
NAMES_END = ("Error", "Exception", "Exit", "Interrupt")


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is here of a source, or of all that a rank printed."""

    streams: frozenset[str] = frozenset()  # `stdout`, `stderr`; empty where both go into one file, or nobody tells
    folded: bool = False  # one line may stand for what several said
    capped: frozenset[str] = frozenset()  # rules with more hits than are kept
    cut: bool = False  # it ends in the middle of a line
    missing: bool = False  # nothing is here

    def holds(self, stream: str | None) -> bool:
        """Whether a line printed on this stream would be here."""
        return not self.missing and (stream is None or not self.streams or stream in self.streams)

    @property
    def is_whole(self) -> bool:
        """Whether all that was printed is here."""
        return not (self.streams or self.folded or self.capped or self.cut or self.missing)


def of_source(source: SourceEvents) -> Coverage:
    """Yield what is here of one source."""
    return Coverage(folded=source.is_folded, capped=frozenset(source.capped), cut=is_cut(source))


def of_rank(job: Job, rank: int) -> Coverage:
    """Yield what is here of what a rank printed; errors go to the standard error, which may not be given."""
    info = job.ranks.get(rank)
    if info is None or not info.has_lines:
        return Coverage(missing=True)
    told = {name: job.places.by_source[name] for name in info.sources}
    of_it = {n: p for n, p in told.items() if job.places.source_rank.get(n) == rank or p.local_rank is not None}
    streams = {path.stream for path in of_it.values()}
    streams |= {s for s in ("stdout", "stderr") for n, p in of_it.items() if p.stream and _on(s, n, p.stream) in job.files}
    sources = [s for s in job.sources if s.name in told]
    return Coverage(
        streams=frozenset() if None in streams else frozenset(s for s in streams if s),
        folded=any(s.is_folded for s in sources),
        capped=frozenset(name for s in sources for name in s.capped),
        cut=any(is_cut(s) for s in sources),
    )


def _on(stream: str, name: str, other: str) -> str:
    """Name the file beside a process's other one: `0/stdout.log`, `0/stderr.log`; Ray's `worker-….out`, `worker-….err`."""
    if other in name:
        return name.replace(other, stream)
    stem, _, suffix = name.rpartition(other.removeprefix("std"))
    return stem + stream.removeprefix("std") + suffix


def is_cut(source: SourceEvents) -> bool:
    """Whether it ends in the middle of an exception's line, as a file does that was copied while it grew."""
    return bool(half_told(source))


def half_told(source: SourceEvents) -> list[Event]:
    """Yield the exceptions on the last line of a file that ends within it."""
    if source.scan.ends_line:
        return []
    last = source.scan.lines + 1
    return [e for e in source.events if e.traceback is not None and e.traceback.end_line >= last]


def are_half_told(sources: Iterable[SourceEvents], events: Sequence[Event]) -> bool:
    """Whether each of these is an exception that may be that of anything, and is half told."""
    places = {(e.source, e.line) for s in sources for e in half_told(s) if e.rule.generic and _may_be_anything(e)}
    return bool(events) and all((e.source, e.line) in places for e in events)


def is_first_of_a_cut_chain(sources: Iterable[SourceEvents], event: Event) -> bool:
    """Whether what was raised while this exception was handled is announced below it, and never named."""
    told = event.traceback
    if told is None or event.line != told.exception_line:
        return False
    below = range(event.line + 1, max(told.end_line, event.end_line or 0) + CHAIN_LINES)
    lines = (line for s in sources if s.name == event.source for n in below for line in s.lines_at(n))
    return any(line.message.startswith(CHAINED) and speaker_key(line.prefix) == told.speaker for line in lines)


def _may_be_anything(event: Event) -> bool:
    name, colon, _ = event.text.partition(":")
    is_name_cut = not colon and not name.rstrip().endswith(NAMES_END)
    return is_name_cut or name.rpartition(".")[2] in OF_ANYTHING


@dataclass(slots=True)
class RankLines:
    """The last lines of each rank of each shared console, from when they are first asked for."""

    _of: dict[str, dict[int, deque[Line]]] = field(default_factory=dict)  # by source, then by rank

    def of(self, rank: int, sources: Iterable[SourceEvents], places: Places) -> list[tuple[str, Line]]:
        """Yield the rank's last lines, each with its source, in order."""
        found: list[tuple[str, Line]] = []
        for source in sources:
            if places.source_rank.get(source.name) == rank:
                found += [(source.name, x) for x in source.tail()]
            elif any(_rank_of(speaker, places) == rank for speaker in source.speakers):
                found += [(source.name, x) for x in self._of_shared(source, places).get(rank, ())]
        return found

    def _of_shared(self, source: SourceEvents, places: Places) -> dict[int, deque[Line]]:
        if source.name not in self._of:
            lines: dict[int, deque[Line]] = defaultdict(partial(deque, maxlen=LAST_LINES))
            for line in source.lines():
                if (rank := _rank_of(line.prefix, places)) is not None:
                    lines[rank].append(line)
            self._of[source.name] = dict(lines)
        return self._of[source.name]


def _rank_of(speaker: Prefix | Speaker, places: Places) -> int | None:
    """Whose line it is, as the rank itself or as `srun --label` says."""
    if speaker.rank is not None or not places.tasks_are_ranks:
        return speaker.rank
    return speaker.task
