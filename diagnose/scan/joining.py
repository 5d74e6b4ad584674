"""The parts of one source as one scan.

Neighbours are merged as soon as both are read: a part keeps its first lines for what is open before it, and of a large
file these would add up.
"""

from __future__ import annotations

from itertools import pairwise

from ..sources.refusals import OUT_OF_TIME
from .scan import SourceScan, merge, merge_all, seal

PART_UNREAD = "the middle was not read (budget of time); line numbers after it count without it"


class Joining:
    """Takes the scans of so many parts in any order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._next = 0
        self._waiting: dict[int, SourceScan] = {}  # by place, those whose predecessors are not there yet
        self._runs: list[SourceScan] = []

    def add(self, place: int, found: SourceScan) -> bool:
        """Take the scan of the part at this place; tell whether it was the last one to come."""
        self._waiting[place] = found
        while self._next in self._waiting:
            part = self._waiting.pop(self._next)
            self._next += 1
            if self._runs and _is_whole(self._runs[-1]) and _is_whole(part):
                self._runs[-1] = merge(self._runs[-1], part)
            else:
                self._runs.append(part)
        return self._next == self._count

    def result(self) -> SourceScan:
        """Yield the scan of the source; parts that were not read leave a gap."""
        parts = self._runs
        read = [p for p in parts if p.skipped is None]
        if not read:
            return parts[0]
        for part, following in pairwise(parts):
            if following.skipped is not None or OUT_OF_TIME in part.gaps:
                part.windows.open.clear()  # what it opened went on where nobody looked
        whole = seal(merge_all(read))
        if len(read) < len(parts) or any(OUT_OF_TIME in p.gaps for p in read[:-1]):
            whole.gaps += (PART_UNREAD,)
        return whole


def _is_whole(part: SourceScan) -> bool:
    return part.skipped is None and OUT_OF_TIME not in part.gaps
