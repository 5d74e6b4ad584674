"""Reads all sources of one call into a `Scan`: which bytes, in which order, within which budget of time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .blocks import Block, read_blocks, read_range
from .errors import SourceError
from .recorder_dump import Dump
from .recorder_reader import read_dumps
from .scan import Scan, SourceScan, merge, merge_all, scan_from_json, seal
from .scanner import Scanner, ScanRules
from .sources import Input, Source, find_sources

SEGMENT_BYTES = 64 << 20  # a file is read in such parts, so that the result does not depend on who reads them
EDGE_BYTES = 16 << 20  # the head and the tail of a large file, read first where time is short
MAX_DUMP_BYTES = 512 << 20
MAX_CONTEXT_LINES = 4000  # of a configuration file
NOT_LOGS = {"code": "source code, not a log", "prose": "a document, not a log"}

Progress = Callable[[str, int], None]  # (name of the source, bytes read of it so far)


@dataclass(frozen=True, slots=True)
class Deadline:
    """When reading has to stop; None: never."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Yield the moment `seconds` from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.at is not None and time.monotonic() >= self.at


def read_all(inputs: Sequence[Input], rules: ScanRules, deadline: Deadline, progress: Progress | None = None) -> Scan:
    """Yield the scan of everything in `inputs`. Raises `SourceError` where a path does not exist."""
    scan = Scan(catalogue=rules.key)
    large: list[Source] = []
    for source in find_sources(inputs):
        if deadline.passed():
            _add(scan, _unread(source, "not read: the budget of time was used up"), rules)
        elif source.kind == "recorder" and source.skipped is None:
            _add_dump(scan, source)
        elif source.kind == "scan" and source.skipped is None:
            _add_scan(scan, source, rules)
        elif deadline.at is not None and source.seekable and (source.size or 0) > 2 * EDGE_BYTES:
            large.append(source)
        else:
            _add(scan, _read_source(source, rules, deadline, progress), rules)
    for part in _read_large(large, rules, deadline):
        _add(scan, part, rules)
    return scan


def _add(scan: Scan, part: SourceScan, rules: ScanRules) -> None:
    name = part.name
    count = 1
    while part.name in scan.sources:  # the same path given twice, or two members of one name
        count += 1
        part = replace(part, name=f"{name} ({count})")
    scan.sources[part.name] = part
    scan.gaps += [f"{part.name}: {gap}" for gap in part.gaps]


def _unread(source: Source, reason: str) -> SourceScan:
    return SourceScan(source.name, source.kind, bytes=0, skipped=reason)


def _read_source(source: Source, rules: ScanRules, deadline: Deadline, progress: Progress | None) -> SourceScan:
    if source.skipped is not None:
        return _unread(source, source.skipped)
    if source.kind in NOT_LOGS:
        return _unread(source, NOT_LOGS[source.kind])
    if source.kind == "context":
        return _read_context(source, rules)
    if source.seekable and (source.size or 0) > SEGMENT_BYTES:
        parts = (_read_part(source, a, b, rules, deadline) for a, b in _segments(source.size or 0))
        return seal(merge_all(parts))
    blocks = read_blocks(source, is_dressed=rules.is_dressed)
    return seal(_consume(Scanner(rules, source.name, source.kind), blocks, source, deadline, progress))


def _consume(
    scanner: Scanner, blocks: Iterator[Block], source: Source, deadline: Deadline, progress: Progress | None = None
) -> SourceScan:
    try:
        for block in blocks:
            scanner.feed(block)
            if progress:
                progress(source.name, block.offset + len(block.data))
            if deadline.passed():
                source.damage.append("not read to its end: the budget of time was used up")
                break
    except OSError as error:
        source.damage.append(f"reading stopped: {error.strerror or error}")
    found = scanner.finish()
    found.gaps += [d for d in source.damage if d not in found.gaps]
    return found


def _segments(size: int) -> list[tuple[int, int | None]]:
    starts = range(0, size, SEGMENT_BYTES)
    return [(a, a + SEGMENT_BYTES if a + SEGMENT_BYTES < size else None) for a in starts]


def _read_part(source: Source, start: int, end: int | None, rules: ScanRules, deadline: Deadline) -> SourceScan:
    scanner = Scanner(rules, source.name, source.kind, later_part=start > 0)
    return _consume(scanner, read_range(source, start, end, is_dressed=rules.is_dressed), source, deadline)


def _read_large(sources: Sequence[Source], rules: ScanRules, deadline: Deadline) -> Iterator[SourceScan]:
    """Head and tail of every large file first, the rest while there is time; what was not read is named."""
    edges = [(s, *_edges(s, rules, deadline)) for s in sources]
    for source, head, tail in edges:
        middle: SourceScan | None = None
        if not deadline.passed():
            size = source.size or 0
            middle = _read_part(source, EDGE_BYTES, size - EDGE_BYTES, rules, deadline)
        whole = middle is not None and not middle.gaps
        joined = seal(merge(merge(head, middle) if middle else head, tail))
        if not whole:
            joined.gaps.append("the middle was not read (budget of time); line numbers after it count without it")
        yield joined


def _edges(source: Source, rules: ScanRules, deadline: Deadline) -> tuple[SourceScan, SourceScan]:
    size = source.size or 0
    no_limit = Deadline()
    tail = _read_part(source, size - EDGE_BYTES, None, rules, no_limit)
    return _read_part(source, 0, EDGE_BYTES, rules, no_limit), tail


def _read_context(source: Source, rules: ScanRules) -> SourceScan:
    """A configuration or launch script: kept whole within limits, since any of its lines may be a fact."""
    scanner = Scanner(rules, source.name, source.kind, head_lines=MAX_CONTEXT_LINES)
    return seal(_consume(scanner, read_blocks(source, is_dressed=rules.is_dressed), source, Deadline()))


def _add_dump(scan: Scan, source: Source) -> None:
    def content() -> bytes:
        stream = source.open()
        try:
            return _read_limited(stream.read)
        finally:
            stream.close()

    for dump in read_dumps([(source.name, content)]):
        row = SourceScan(source.name, "recorder", bytes=source.size or 0)
        if isinstance(dump, Dump):
            scan.dumps.append(dump.to_json())
        else:
            row.skipped = dump.reason
        scan.sources[source.name] = row


def _read_limited(read: Callable[[int], bytes | None]) -> bytes:
    parts, left = [], MAX_DUMP_BYTES + 1
    while left > 0 and (part := read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _add_scan(scan: Scan, source: Source, rules: ScanRules) -> None:
    """A scan written elsewhere: its sources join as if they had been read here."""
    try:
        stream = source.open()
        saved = scan_from_json(_read_limited(stream.read), source.name)
        stream.close()
    except (OSError, SourceError) as error:
        _add(scan, _unread(source, str(error)), rules)
        return
    for part in saved.sources.values():
        _add(scan, part, rules)
    scan.gaps += [g for g in saved.gaps if g not in scan.gaps]
    scan.dumps += saved.dumps
