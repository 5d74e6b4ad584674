"""Worker processes that scan parts of files: `python -m diagnose.scanning.workers`, spoken to in JSON over pipes.

In: the rules, then one part after the other. Out: each part's scan. No pickle, no fork (safe beside threads and GPUs),
and the user's main module is not imported again, so that a script may call the library without a guard.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from ..blocks import Block, read_blocks, read_range
from ..deadline import Deadline
from ..rulebook.compiled import rules_from_json, rules_to_json
from ..scan import SourceScan, source_from_json, source_to_json
from ..sources import Source
from .parts import Part
from .scanner import Scanner, ScanRules

POOL_BYTES = 1 << 30  # below so much a pool costs more than it saves
MAX_WORKERS = 16  # by default; a disk gives no more
GC_OBJECTS = 200_000  # new ones before cycles are looked for: a scan makes next to none
HEADER = struct.Struct("<Q")
UNREAD = "not read: the budget of time was used up"
OUT_OF_TIME = "not read to its end: the budget of time was used up"


def default_workers(size_bytes: int) -> int:
    """Yield how many processes are worth their start for so many bytes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MAX_WORKERS, max(1, size_bytes // (POOL_BYTES // 2)))


def unread(source: Source, reason: str = UNREAD) -> SourceScan:
    """Yield the empty scan of a source that was not read, and why."""
    return SourceScan(source.name, source.kind, bytes=0, skipped=reason)


def scan_part(part: Part, rules: ScanRules, deadline: Deadline, tell: Callable[[int], None] | None = None) -> SourceScan:
    """Yield the scan of one part of a source. `tell` is called with the bytes read so far."""
    source = part.source
    source.damage.clear()
    later = not part.is_first
    if part.start is None:
        blocks = read_blocks(source, is_dressed=rules.is_dressed)
    else:
        blocks = read_range(
            source,
            part.start,
            part.end,
            stop=part.stop,
            starts_line=part.starts_line,
            is_dressed=rules.is_dressed,
        )
    return consume(Scanner(rules, source.name, source.kind, later_part=later), blocks, source, deadline, tell)


def consume(
    scanner: Scanner,
    blocks: Iterator[Block],
    source: Source,
    deadline: Deadline,
    tell: Callable[[int], None] | None = None,
) -> SourceScan:
    """Yield what a scanner finds in blocks, until they or the time end."""
    try:
        for block in blocks:
            scanner.feed(block)
            if tell:
                tell(block.offset + len(block.data))
            if deadline.passed():
                source.damage.append(OUT_OF_TIME)
                break
    except OSError as error:
        source.damage.append(f"reading stopped: {error.strerror or error}")
    found = scanner.finish()
    found.gaps += [d for d in source.damage if d not in found.gaps]
    return found


class Pool:
    """Some worker processes; a part whose worker dies is scanned here."""

    def __init__(self, rules: ScanRules, count: int) -> None:
        self._rules = rules
        self._count = count

    def scan(self, parts: Sequence[Part], deadline: Deadline) -> Iterator[tuple[int, SourceScan]]:
        """Yield (index of the part, its scan) as they are done."""
        todo = deque(enumerate(parts))
        done: deque[tuple[int, SourceScan | None]] = deque()
        ready = threading.Semaphore(0)
        processes = [_start() for _ in range(min(self._count, len(parts)))]
        message = {"key": self._rules.key, "rules": rules_to_json(self._rules.rules)}
        servers = [
            threading.Thread(target=_serve, args=(process, message, todo, done, ready, deadline), daemon=True)
            for process in processes
        ]
        try:
            for server in servers:
                server.start()
            for _ in parts:
                ready.acquire()
                index, found = done.popleft()
                yield index, found if found is not None else scan_part(parts[index], self._rules, deadline)
        finally:
            todo.clear()
            for process in processes:
                process.kill()
            for server, process in zip(servers, processes, strict=True):
                server.join()
                _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()
    process.wait()


def _start() -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
    return subprocess.Popen(
        [sys.executable, "-m", "diagnose.scanning.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for the process that asked; its end ends the workers
    )


def _serve(
    process: subprocess.Popen[bytes],
    message: dict[str, Any],
    todo: deque[tuple[int, Part]],
    done: deque[tuple[int, SourceScan | None]],
    ready: threading.Semaphore,
    deadline: Deadline,
) -> None:
    """Give parts to one worker until none is left. A worker that died leaves its part to the caller."""
    assert process.stdin is not None and process.stdout is not None
    is_alive = True
    try:
        _send(process.stdin, message)
    except OSError:
        is_alive = False
    while True:
        try:
            index, part = todo.popleft()
        except IndexError:
            return
        found: SourceScan | None = None
        if deadline.passed():
            found = unread(part.source)
        elif is_alive:
            try:
                _send(process.stdin, {**_part_to_json(part), "left_s": deadline.left_s()})
                found = source_from_json(_receive(process.stdout))
            except (OSError, EOFError, ValueError, KeyError, TypeError):
                is_alive = False
        done.append((index, found))
        ready.release()


def _part_to_json(part: Part) -> dict[str, Any]:
    s = part.source
    source = [s.name, s.kind, s.size, s.seekable, s.path, list(s.layers), s.encoding]
    return {"source": source, "range": [part.start, part.end, part.stop, part.is_first, part.starts_line]}


def _part_from_json(raw: dict[str, Any]) -> Part:
    name, kind, size, seekable, path, layers, encoding = raw["source"]
    source = Source(name, kind, size, None, seekable, path, tuple(layers), encoding)
    return Part(source, *raw["range"])


def _send(stream: BinaryIO | Any, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def _receive(stream: BinaryIO | Any) -> dict[str, Any]:
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    found: dict[str, Any] = json.loads(stream.read(HEADER.unpack(header)[0]))
    return found


def main() -> None:
    """Scan what standard input asks for, until it ends."""
    gc.set_threshold(GC_OBJECTS, 20, 100)
    given, taken = sys.stdin.buffer, sys.stdout.buffer
    first = _receive(given)
    rules = ScanRules(rules_from_json(first["rules"]), first["key"])
    while True:
        try:
            asked = _receive(given)
        except EOFError:
            return
        _send(taken, source_to_json(scan_part(_part_from_json(asked), rules, Deadline.after(asked["left_s"]))))


if __name__ == "__main__":
    main()
