"""Reads all sources of one call into a `Scan`: which bytes, in which order, by how many, within which budget."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ..errors import SourceError
from ..sources.bounds import Deadline, Share, broken_off, read_up_to
from ..sources.kinds import LINES
from ..sources.source import Input, Source, find_sources
from .kept import give_back_memory
from .parts import UNREAD, Joining, Part, cut_parts, edge_bytes_for, reading_order
from .pool import Pool, Progress, default_workers, teller
from .scan import Scan, SourceScan, scan_from_json
from .scanner import ScanRules
from .workers import scan_part, unread

__all__ = ["Deadline", "PartPool", "Progress", "read_all"]

MAX_SCAN_BYTES = 512 << 20
MANY_SOURCES = 2000  # from so many files on, what is kept of each is packed
NOT_LOGS = {"code": "source code, not a log", "prose": "a document, not a log"}


class PartPool(Protocol):
    """Who reads parts of files side by side: processes here, or a cluster."""

    def scan(self, parts: Sequence[Part], deadline: Deadline) -> Iterator[tuple[int, SourceScan]]:
        """Yield (index of the part, its scan) as they are done, every part once."""


@dataclass(slots=True)
class _Found:
    """One source's place in the result: its scan, or the parts that wait to be read."""

    scans: list[SourceScan]
    waiting: Source | None = None


def read_all(
    inputs: Sequence[Input],
    rules: ScanRules,
    deadline: Deadline,
    progress: Progress | None = None,
    workers: int | None = None,
    pool: PartPool | None = None,
) -> Scan:
    """Yield the scan of everything in `inputs`. Raises `SourceError` where a path does not exist.

    `workers`: how many processes read files; None: by size and cores. `pool` reads them instead.
    """
    scan = Scan(catalogue=rules.key)
    places: list[_Found] = []
    with closing(DumpReading(scan)) as dumps:
        opening = Share(deadline)  # opening thousands of files takes as long as reading them, and tells nothing
        for source in opening.within(find_sources(inputs, opening)):
            if source.skipped is None and source.path is not None and source.kind in LINES:
                places.append(_Found([], source))  # may be opened later, by anyone
            elif deadline.passed():
                places.append(_Found([unread(source, source.skipped or UNREAD)]))
            else:
                places.append(_Found(_read_now(scan, source, dumps, rules, deadline, progress)))
    _read_waiting([p for p in places if p.waiting], deadline, rules, progress, workers, pool)
    for place in places:
        for part in place.scans:
            _add(scan, part)
    return scan


def _add(scan: Scan, part: SourceScan) -> None:
    name = part.name
    count = 1
    while part.name in scan.sources:  # the same path given twice, or two members of one name
        count += 1
        part = replace(part, name=f"{name} ({count})")
    scan.sources[part.name] = part
    scan.gaps += [f"{part.name}: {gap}" for gap in part.gaps]


def _read_now(
    scan: Scan, source: Source, dumps: DumpReading, rules: ScanRules, deadline: Deadline, progress: Progress | None
) -> list[SourceScan]:
    """Read a source in its turn: a member of an archive or standard input cannot be opened later."""
    reason = source.skipped or NOT_LOGS.get(source.kind)
    if reason is not None:
        return [unread(source, reason)]
    try:
        if source.kind == "recorder":
            return [dumps.read(source)]
        if source.kind == "scan":
            return _read_scan(scan, source)
        return [scan_part(Part(source), rules, deadline, teller(source, progress))]
    except Exception as error:  # of whatever kind: one bad source costs only itself
        return [unread(source, f"not read: {broken_off(error)}")]


# --- files, in parts --------------------------------------------------------------------------------------------


def _read_waiting(
    places: Sequence[_Found],
    deadline: Deadline,
    rules: ScanRules,
    progress: Progress | None,
    workers: int | None,
    pool: PartPool | None,
) -> None:
    """Have files read by the pool that was given, else by as many processes as are worth their start."""
    left_s = deadline.left_s()
    edge = None if left_s is None else edge_bytes_for(len(places), left_s)
    parts = [part for place in places if place.waiting for part in cut_parts(place.waiting, edge)]
    if edge is not None:
        parts = reading_order(parts)
    starts: dict[str, list[int]] = {}  # of files that are read in parts: where these begin, in order
    for part in parts:
        if part.start is not None:
            insort(starts.setdefault(part.source.name, []), part.start)
    open_files: dict[str, Joining] = {}
    by_name = {place.waiting.name: place for place in places if place.waiting}
    count = workers if workers is not None else default_workers(sum(p.size for p in parts))
    for index, found in (pool or Pool(rules, count, progress)).scan(parts, deadline):
        if pool is not None and progress:
            progress(parts[index].source.name, parts[index].reach)
        name, start = parts[index].source.name, parts[index].start or 0
        own = starts.get(name, [start])
        if name not in open_files:
            open_files[name] = Joining(len(own))
        if open_files[name].add(own.index(start), found):
            whole = open_files.pop(name).result()
            by_name[name].scans.append(whole.packed() if len(by_name) >= MANY_SOURCES else whole)
    if starts or len(by_name) >= MANY_SOURCES:
        give_back_memory()


# --- what is no log ---------------------------------------------------------------------------------------------


def _read_scan(scan: Scan, source: Source) -> list[SourceScan]:
    """A scan written elsewhere: its sources join as if they had been read here."""
    try:
        with closing(source.open()) as stream:
            saved = scan_from_json(read_up_to(MAX_SCAN_BYTES + 1, stream.read), source.name)
    except (OSError, SourceError) as error:
        return [unread(source, str(error))]
    scan.gaps += [g for g in saved.gaps if g not in scan.gaps]
    scan.dumps += saved.dumps
    return list(saved.sources.values())


if TYPE_CHECKING:
    from ..recorder.dump import Dump
    from ..recorder.reader import DumpReader


class DumpReading:
    """Reads dumps into a scan; the process that loads them is started for the first and kept for the others."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._reader: DumpReader | None = None

    def read(self, source: Source) -> SourceScan:
        """Yield the source's row; why it cannot be read is its `skipped`."""
        from ..recorder.reader import MAX_DUMP_BYTES, DumpReader, too_large

        self._reader = self._reader or DumpReader()
        size = source.size or 0
        found: Dump | str = too_large(size)
        if size <= MAX_DUMP_BYTES:
            with closing(source.open()) as stream:
                found = self._reader.read(source.name, read_up_to(MAX_DUMP_BYTES + 1, stream.read))
        if isinstance(found, str):
            return SourceScan(source.name, "recorder", bytes=size, skipped=found)
        self._scan.dumps.append(found)
        return SourceScan(source.name, "recorder", bytes=size)

    def close(self) -> None:
        """End the process."""
        if self._reader is not None:
            self._reader.close()
