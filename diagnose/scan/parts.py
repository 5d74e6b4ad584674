"""Into which parts a file is cut for reading, in which order they are read, and how their scans are joined.

The cuts depend on the file alone, never on who reads it or how fast. Holes of a sparse file (a log that was cut while it
was open begins with one) are left out.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from functools import reduce
from itertools import pairwise

from ..lines.record import record
from ..sources.bounds import NO_TIME, OUT_OF_TIME
from ..sources.source import Source
from .scan import SourceScan, merge

UNREAD = f"not read: {NO_TIME}"
SEGMENT_BYTES = 64 << 20  # caps count within such parts
EDGE_BYTES = 16 << 20  # the head and the tail of a large file, read first where time is short
MIN_EDGE_BYTES = 1 << 20
HOLE_BYTES = 1 << 20  # shorter holes are read: their zeros cost less than another part
MAX_EXTENTS = 10_000
READ_BYTES_PER_S = 150e6  # a cautious guess: how much of the heads and tails fits into a budget


@record
class Part:
    """The lines of a source that begin in [`start`, `end`); None: all of it, read as a stream."""

    source: Source
    start: int | None = None
    end: int | None = None
    stop: int | None = None  # a hole begins here
    starts_line: bool = True  # the line at `start` belongs to this part, whatever the byte before it is

    @property
    def size(self) -> int:
        """About how many bytes it holds, as stored."""
        size = self.source.size or 0
        return size if self.start is None else min(self.end or size, self.stop or size) - self.start

    @property
    def reach(self) -> int:
        """About up to which byte of the source it goes."""
        return (self.start or 0) + self.size


def cut_parts(source: Source, edge_bytes: int | None = None) -> list[Part]:
    """Yield the parts of a source in order; with `edge_bytes` its head and tail are parts of their own."""
    size = source.size or 0
    extents = _extents(source) if source.seekable and size > HOLE_BYTES else []
    if not extents and (not source.seekable or size <= min(SEGMENT_BYTES, 2 * (edge_bytes or SEGMENT_BYTES))):
        return [Part(source)]
    spans = extents or [(0, size)]
    head, tail, cuts = spans[0][0], spans[-1][1], {*range(0, size, SEGMENT_BYTES)}
    if edge_bytes is not None and tail - head > 2 * edge_bytes:
        head, tail = head + edge_bytes, tail - edge_bytes
        cuts = {head, *(c for c in cuts if head < c < tail), tail}
    found: list[Part] = []
    for first, last in spans:
        inner = [first, *sorted(c for c in cuts if first < c < last), last]
        for a, b in pairwise(inner):
            is_end = b == last
            end = None if is_end else b
            found.append(Part(source, a, end, last if is_end and last < size else None, a == first))
    return found


def reading_order(parts: list[Part]) -> list[Part]:
    """Yield first tails, then heads, then the rest: the end of a log tells most."""
    tails = {part.source.name: part for part in parts}
    heads = {part.source.name: part for part in reversed(parts)}
    return sorted(parts, key=lambda part: (tails[part.source.name] is not part, heads[part.source.name] is not part))


def edge_bytes_for(sources: int, budget_s: float) -> int:
    """Yield how much of each head and tail is read first, so that those of all files fit into the budget."""
    share = int(budget_s * READ_BYTES_PER_S / (2 * max(sources, 1)))
    return max(MIN_EDGE_BYTES, min(EDGE_BYTES, share))


def _extents(source: Source) -> list[tuple[int, int]]:
    """The stretches of a sparse file that hold data; none where it has no holes or they cannot be told."""
    found, has_holes = list[tuple[int, int]](), False
    if source.path is None or not hasattr(os, "SEEK_DATA"):
        return found
    with suppress(OSError), open(source.path, "rb", buffering=0) as file:
        status, at = os.fstat(file.fileno()), 0
        has_holes = stat.S_ISREG(status.st_mode) and status.st_blocks * 512 + HOLE_BYTES <= status.st_size
        while has_holes and at < status.st_size and len(found) < MAX_EXTENTS:
            first = os.lseek(file.fileno(), at, os.SEEK_DATA)  # ENXIO where there is only a hole up to the end
            at = os.lseek(file.fileno(), first, os.SEEK_HOLE)
            if found and first - found[-1][1] < HOLE_BYTES:
                first = found.pop()[0]
            found.append((first, at))
    return found or [(0, 0)] * has_holes


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
        whole = reduce(merge, read)
        if len(read) < len(parts) or any(OUT_OF_TIME in p.gaps for p in read[:-1]):
            whole.gaps += (PART_UNREAD,)
        return whole


def _is_whole(part: SourceScan) -> bool:
    return part.skipped is None and OUT_OF_TIME not in part.gaps
