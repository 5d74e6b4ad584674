"""What scans one part of a source, here or as a worker process that a `Pool` started and speaks to over pipes.

All that goes through these is JSON, never pickle. A worker is a new interpreter, not a fork (safe beside threads and
GPUs), and imports nothing of the user's, so that a script may call the library without a guard.
"""

from __future__ import annotations

import gc
import json
import struct
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, BinaryIO

from ..catalogue.compiled import from_bytes
from ..sources.blocks import Block, read_blocks, read_range
from ..sources.bounds import OUT_OF_TIME, Deadline, broken_off
from ..sources.labels import Rewriting
from ..sources.source import Source
from .parts import UNREAD, Part
from .scan import SourceScan, source_to_json
from .scanner import Scanner, ScanRules

GC_OBJECTS = 200_000  # new ones before cycles are looked for: a scan makes next to none
LARGE_BYTES = 16 << 20  # of a part, in whose blocks the time for new memory shows
FREED_BYTES = 16 << 20  # half of what may be kept, as much as the blocks that a scanner holds
BEAT_S = 1.0  # between two messages of how far a worker is
HEADER = struct.Struct("<Q")
READY = b"ready"

Tell = Callable[[int], None]  # called with the bytes read so far


def unread(source: Source, reason: str = UNREAD) -> SourceScan:
    """Yield the empty scan of a source that was not read, and why."""
    return SourceScan(source.name, source.kind, bytes=0, skipped=reason)


def scan_part(part: Part, rules: ScanRules, deadline: Deadline, tell: Tell | None = None) -> SourceScan:
    """Yield the scan of one part of a source."""
    return next(filter(None, scan_by_block(part, rules, deadline, tell)))


def scan_by_block(
    part: Part, rules: ScanRules, deadline: Deadline, tell: Tell | None = None
) -> Iterator[SourceScan | None]:
    """Yield None after each block of a part, for what else there is to do, and at last the part's scan."""
    source = part.source
    source.damage.clear()
    if part.size > LARGE_BYTES:
        _keep_what_is_freed()
    later = not part.is_first
    if part.start is None:
        blocks = read_blocks(source, find_marks=rules.marks_of, known=rules.literals_in, deadline=deadline)
    else:
        blocks = read_range(
            source,
            part.start,
            part.end,
            stop=part.stop,
            starts_line=part.starts_line,
            find_marks=rules.marks_of,
        )
    return _feed(Scanner(rules, source.name, source.kind, later_part=later), blocks, source, deadline, tell)


@cache
def _keep_what_is_freed() -> None:
    """Let the next block have the memory of one that goes: new pages for each took a tenth of the time and more.

    glibc gives back what it holds beyond twice the largest piece that it has seen freed (`mallopt(3)`), as this one is.
    """
    bytes(FREED_BYTES)


def consume(scanner: Scanner, blocks: Iterator[Block], source: Source, deadline: Deadline) -> SourceScan:
    """Yield what a scanner finds in blocks, until they or the time end."""
    return next(filter(None, _feed(scanner, blocks, source, deadline)))


def _feed(
    scanner: Scanner, blocks: Iterator[Block], source: Source, deadline: Deadline, tell: Tell | None = None
) -> Iterator[SourceScan | None]:
    try:
        for block in blocks:
            scanner.feed(block)
            if tell:
                tell(block.offset + len(block.data))
            if deadline.passed():
                source.damage.append(OUT_OF_TIME)
                break
            yield None
    except Exception as error:  # of whatever kind: what was read until here still counts, and the other sources do
        source.damage.append(f"reading stopped: {broken_off(error)}")
    try:
        found = scanner.finish()
    except Exception as error:
        found = unread(source, f"not read: {broken_off(error)}")
    found.gaps += tuple(d for d in source.damage if d not in found.gaps)
    yield found


# --- what goes through the pipes --------------------------------------------------------------------------------


def part_to_json(part: Part) -> dict[str, Any]:
    """Yield a part as plain values."""
    s = part.source
    label, header = (x.forms if x is not None else None for x in (s.label, s.header))
    source = [s.name, s.kind, s.size, s.seekable, s.path, label, header, list(s.layers), s.encoding]
    return {"source": source, "range": [part.start, part.end, part.stop, part.is_first, part.starts_line]}


def part_from_json(raw: dict[str, Any]) -> Part:
    """Read what `part_to_json` made."""
    name, kind, size, seekable, path, label, header, layers, encoding = raw["source"]
    label, header = (Rewriting(tuple((pattern, put) for pattern, put in x)) if x else None for x in (label, header))
    source = Source(name, kind, size, None, seekable, path, label, header, tuple(layers), encoding)
    return Part(source, *raw["range"])


def send(stream: BinaryIO, data: bytes) -> None:
    """Write one message."""
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """Yield the next message. Raises `EOFError` where none comes whole."""
    header = stream.read(HEADER.size)
    size = HEADER.unpack(header)[0] if len(header) == HEADER.size else 1
    data = stream.read(size) if len(header) == HEADER.size else b""
    if len(data) < size:
        raise EOFError
    return data


# --- the process ------------------------------------------------------------------------------------------------


def main() -> None:
    """Scan what standard input asks for, until it ends."""
    gc.set_threshold(GC_OBJECTS, 20, 100)
    given, taken = sys.stdin.buffer, sys.stdout.buffer
    key, compiled = receive(given).decode(), from_bytes(receive(given))
    if compiled is None:
        return  # of another version: who asked reads the parts
    rules = ScanRules(list(compiled.rules.values()), key)
    send(taken, READY)
    while True:
        try:
            asked = json.loads(receive(given))
        except EOFError:
            return
        found = scan_part(part_from_json(asked), rules, Deadline.after(asked["left_s"]), _beating(taken))
        opening, found.windows.opening = found.windows.opening, None
        send(taken, json.dumps(source_to_json(found)).encode())
        send(taken, opening or b"")  # half a megabyte of log, which JSON would have to escape


def _beating(stream: BinaryIO) -> Tell:
    """Yield a function that says how far reading is, once in a while: who hears nothing takes this process for dead."""
    said_s = time.monotonic()

    def tell(count: int) -> None:
        nonlocal said_s
        if time.monotonic() - said_s >= BEAT_S:
            said_s = time.monotonic()
            send(stream, b"%d" % count)

    return tell
