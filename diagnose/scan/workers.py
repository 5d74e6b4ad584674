"""What scans one part of a source, here or as a worker process that a `Pool` started and speaks to over pipes.

A worker is a new interpreter, not a fork (safe beside threads and GPUs), and imports nothing of the user's, so that a
script may call the library without a guard.
"""

from __future__ import annotations

import gc
import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, BinaryIO

from ..sources.blocks import Block, read_blocks, read_range
from ..sources.bounds import OUT_OF_TIME, Deadline, broken_off
from ..sources.source import Source
from .kept import HEAD_LINES
from .parts import UNREAD, Part
from .scan import SourceScan
from .scanner import Scanner, ScanRules
from .walks import REACH_BYTES

GC_OBJECTS = 200_000  # new ones before cycles are looked for: a scan makes next to none
LARGE_BYTES = 16 << 20  # of a part, in whose blocks the time for new memory shows
ABOVE_BYTES = 64 << 10  # of what stands before a part: more than a hit's neighbors and a frame
FREED_BYTES = 16 << 20  # half of what may be kept, as much as the blocks that a scanner holds
MAX_CONTEXT_LINES = 4000  # of a configuration file
BEAT_S = 1.0  # between two messages of how far a worker is
READY = "ready"

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
    is_context = source.kind == "context"  # any of its lines may be a fact
    scanner = Scanner(rules, source.name, source.kind, head_lines=MAX_CONTEXT_LINES if is_context else HEAD_LINES)
    find_marks = rules.marks_of
    if part.start is None:
        known = None if is_context else rules.literals_in
        blocks = read_blocks(source, find_marks=find_marks, known=known, deadline=deadline)
        return _feed(scanner, blocks, source, deadline, tell)
    if not part.starts_line:
        above = read_range(source, part.start - ABOVE_BYTES, part.start, find_marks=find_marks)
        scanner.look_back(b"".join(block.data for block in above))
    blocks = read_range(source, part.start, part.end, stop=part.stop, starts_line=part.starts_line, find_marks=find_marks)
    below = read_range(source, part.end, part.end + REACH_BYTES, find_marks=find_marks) if part.end is not None else ()
    return _feed(scanner, blocks, source, deadline, tell, below)


@cache
def _keep_what_is_freed() -> None:
    """Let the next block have the memory of one that goes: new pages for each took a tenth of the time and more.

    glibc gives back what it holds beyond twice the largest piece that it has seen freed (`mallopt(3)`), as this one is.
    """
    bytes(FREED_BYTES)


def _feed(
    scanner: Scanner,
    blocks: Iterator[Block],
    source: Source,
    deadline: Deadline,
    tell: Tell | None = None,
    below: Iterable[Block] = (),
) -> Iterator[SourceScan | None]:
    try:
        for block in blocks:
            scanner.feed(block)
            if tell:
                tell(block.offset + len(block.data))
            if deadline.passed():
                source.damage.append(OUT_OF_TIME)
                below = ()
                break
            yield None
    except Exception as error:  # of whatever kind: what was read until here still counts, and the other sources do
        source.damage.append(f"reading stopped: {broken_off(error)}")
        below = ()
    try:
        found = scanner.finish(below)
    except Exception as error:
        found = unread(source, f"not read: {broken_off(error)}")
    found.gaps += tuple(d for d in source.damage if d not in found.gaps)
    yield found


# --- what goes through the pipes --------------------------------------------------------------------------------


def send(stream: BinaryIO, what: object) -> None:
    """Write one message."""
    pickle.dump(what, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Yield the next message. Raises `EOFError` or `PickleError` where none comes whole."""
    return pickle.load(stream)  # noqa: S301 - of a process that we started, or that started us


# --- the process ------------------------------------------------------------------------------------------------


def main() -> None:
    """Scan what standard input asks for, until it ends."""
    gc.set_threshold(GC_OBJECTS, 20, 100)
    given, taken = sys.stdin.buffer, sys.stdout.buffer
    rules = ScanRules(*receive(given))
    send(taken, READY)
    with suppress(EOFError):
        while True:
            part, left_s = receive(given)
            send(taken, scan_part(part, rules, Deadline.after(left_s), _beating(taken)))


def _beating(stream: BinaryIO) -> Tell:
    """Yield a function that says how far reading is, once in a while: who hears nothing takes this process for dead."""
    said_s = time.monotonic()

    def tell(count: int) -> None:
        nonlocal said_s
        if time.monotonic() - said_s >= BEAT_S:
            said_s = time.monotonic()
            send(stream, count)

    return tell
