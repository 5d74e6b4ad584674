"""Coverage: which part of what a rank printed is here. Silence counts only where a line would be here."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ..traces.quotation import UNHEARD_FORMS
from .event import SourceEvents, Speaker
from .identity_table import Places
from .process import Process

if TYPE_CHECKING:
    from ..lines.prefix import Line, Prefix

TORN_LINES = 3  # what may stand above the first whole frame: the source and marks of the one whose head is lost
LAST_LINES = 100  # of a rank in a shared console: more than the longest traceback that its last words may stand above


def holds(process: Process, stream: str | None, places: Places, files: Container[str]) -> bool:
    """Whether a line of its own that a rank printed on a stream would be here; the standard error may not be given."""
    told = {name: places.by_source[name] for name in process.sources}
    of_it = {n: p for n, p in told.items() if places.source_rank.get(n) == process.rank or p.local_rank is not None}
    streams = {path.stream for path in of_it.values()}  # None where both go into one file, or nobody tells
    streams |= {s for s in ("stdout", "stderr") for n, p in of_it.items() if p.stream and _on(s, n, p.stream) in files}
    return stream is None or not streams or None in streams or stream in streams


def _on(stream: str, name: str, other: str) -> str:
    """Name the file beside a process's other one: `0/stdout.log`, `0/stderr.log`; Ray's `worker-….out`, `worker-….err`."""
    if other in name:
        return name.replace(other, stream)
    stem, _, suffix = name.rpartition(other.removeprefix("std"))
    return stem + stream.removeprefix("std") + suffix


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
                if source.name not in self._of:
                    lines: dict[int, deque[Line]] = defaultdict(partial(deque, maxlen=LAST_LINES))
                    for line in source.lines():
                        if (speaks := _rank_of(line.prefix, places)) is not None:
                            lines[speaks].append(line)
                    self._of[source.name] = dict(lines)
                found += [(source.name, x) for x in self._of[source.name].get(rank, ())]
        return found


def _rank_of(speaker: Prefix | Speaker, places: Places) -> int | None:
    """Whose line it is, as the rank itself or as `srun --label` says."""
    if speaker.rank is not None or not places.tasks_are_ranks:
        return speaker.rank
    return speaker.task


def torn_source(sources: Iterable[SourceEvents]) -> str:
    """Yield the first source that ends before the name of the exception being printed, as a paste does; or nothing."""
    for source in sources:
        last = max(source.tracebacks, key=lambda tb: tb.end_line, default=None)
        if last is None or last.exception or last.form in UNHEARD_FORMS or not last.frames:
            continue
        if last.end_line >= max((line.number for line in source.tail() if line.message.strip()), default=0):
            return source.name
    return ""


def is_cut(sources: Sequence[SourceEvents]) -> bool:
    """Whether a source begins or ends in the middle of a traceback, as a part of a console does."""
    torn = (tb for s in sources for tb in s.tracebacks if tb.form == "headless" and tb.line <= TORN_LINES)
    return any(torn) or torn_source(sources) != ""
