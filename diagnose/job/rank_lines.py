"""What a rank printed last, of the lines that are kept: in a log of its own, and in consoles that it shares with others.

A shared console is read anew once, for all its ranks: questions ask for one after the other.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..lines.prefix import Line, Prefix
    from .event import SourceEvents, Speaker
    from .places import Places

LAST_LINES = 100  # of a rank in a shared console: more than the longest traceback that its last words may stand above


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
