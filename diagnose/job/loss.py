"""Whether a file goes on with losses after an error: no rank takes steps without the others, whose error it ever was."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from ..lines.lazy_pattern import lazy
from ..lines.prefix import read_lines
from .event import Event, SourceEvents
from .restart import HISTORY_S

NOT_FINITE = "numerics.nan"
FINITE = lazy(r"(?i)(?:loss|norm)['\"]?\s{0,3}(?:[:=]|\s)\s{0,3}['\"]?-?\d")


class Losses:
    """The last loss that each speaker of a file prints, with its time: asked for each of thousands of errors."""

    def __init__(self, sources: Iterable[SourceEvents]) -> None:
        self._sources = {s.name: s for s in sources}
        self._told: dict[str, tuple[list[int], list[float]]] = {}  # by file: lines, and the latest time from each on
        self._finite: dict[str, int] = {}  # by file: the last line that shows a loss that is a number

    def go_on_after(self, event: Event) -> bool:
        """Whether the file of an error goes on with losses, for longer than the others would wait.

        No rank takes steps without the others, so it need not say whose it was; where that is the number of a GPU that it
        names, that is not known either.
        """
        source = self._sources[event.source]
        if event.time is None or (event.rank is not None and not (event.traceback and "GPU" in event.rank_from)):
            return False
        if (source.last_sign_line or 0) <= (event.end_line or 0):
            return False
        if source.name not in self._told:
            self._told[source.name] = self._read(source)
        lines, latest = self._told[source.name]
        place = bisect_right(lines, event.end_line or 0)
        return place < len(lines) and latest[place] > event.time + HISTORY_S

    def is_finite_again(self, event: Event) -> bool:
        """Whether a later line shows a number where this one showed NaN; a bar that moves on or a cut step shows none."""
        if event.source not in self._finite:
            kept = self._sources[event.source].scan.kept()
            self._finite[event.source] = next((n for n, text in reversed(kept.items()) if _shows_finite(text)), 0)
        return self._finite[event.source] > (event.end_line or 0)

    def stay_not_finite(self, event: Event) -> bool:
        """Whether the loss was logged as NaN to the end: that a program then says it is done does not heal its weights."""
        return event.cause == NOT_FINITE and event.role == "symptom" and not self.is_finite_again(event)

    @staticmethod
    def _read(source: SourceEvents) -> tuple[list[int], list[float]]:
        timed = [e for _, e in source.progress if e.time is not None and e.stamp is not None]
        told = [e for e in timed if "loss" in (raw := e.raw.lower()) and "eval" not in raw]
        told.sort(key=lambda e: e.line or 0)
        latest = list(accumulate((e.time or 0.0 for e in reversed(told)), max))
        return [e.line or 0 for e in told], latest[::-1]


def _shows_finite(text: str) -> bool:
    """Whether a part of a line does, of a bar that was drawn over itself; few lines are worth being taken apart."""
    return FINITE.search(text) is not None and any(_is_finite(x.raw) for x in read_lines(0, text))


def _is_finite(raw: str) -> bool:
    return FINITE.search(raw) is not None and ": nan" not in raw.lower()
