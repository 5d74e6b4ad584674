"""Parts of files, read by this process and some worker processes beside it, each of which is served by a thread.

All take their parts from one queue; a worker that dies or falls silent leaves its part to this process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, cast

from ..sources.bounds import Deadline
from ..sources.source import Source
from .parts import Part
from .scan import SourceScan
from .scanner import ScanRules
from .workers import receive, scan_by_block, send, unread

POOL_BYTES = 1 << 30  # below so much a pool costs more than it saves
MAX_WORKERS = 16  # by default; a disk gives no more
PATIENCE_S = 60.0  # without a word, before a worker is taken for stopped; it says how far it is each second
LATE_S = 2.0  # the same, once the budget of time is used up
LOOK_S = 0.2  # between two looks at who is silent
COMMAND = "from diagnose.scan.workers import main; main()"  # `-m` would import twice what runs
GONE = (OSError, EOFError, pickle.PickleError)  # raised where a worker died, maybe half way in a message

Progress = Callable[[str, int], None]  # (name of the source, bytes read of it so far)
Told = tuple[int, "SourceScan | int | None"]  # of a part: its scan, how far it is, or that its worker is gone
Numbered = tuple[int, Part]


def default_workers(size_bytes: int) -> int:
    """Yield how many processes are worth their start for so many bytes."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MAX_WORKERS, max(1, size_bytes // (POOL_BYTES // 2)))


def teller(source: Source, progress: Progress | None, start: int = 0) -> Callable[[int], None] | None:
    """Yield what tells `progress` how far a source was read, of which the bytes before `start` are read elsewhere."""
    return None if progress is None else lambda count: progress(source.name, max(start, count))


class Pool:
    """So many processes that read parts; the one that asks is one of them."""

    def __init__(self, rules: ScanRules, count: int, progress: Progress | None = None) -> None:
        self._rules = rules
        self._count = count
        self._progress = progress
        self._left_behind: list[Numbered] = []
        self._told: SimpleQueue[Told] = SimpleQueue()
        self._workers: list[_Worker] = []

    def scan(self, parts: Sequence[Part], deadline: Deadline) -> Iterator[tuple[int, SourceScan]]:
        """Yield (index of the part, its scan) as they are done; asked once."""
        self._parts, self._deadline, self._todo = parts, deadline, deque(enumerate(parts))
        try:
            self._start_workers(min(self._count, len(parts)) - 1)
            left = len(parts)
            while left:
                taken = self._left_behind.pop() if self._left_behind else _take(self._todo)
                for done in self._read_here(*taken) if taken else self._hear(*self._wait()):
                    left -= 1
                    yield done
        finally:
            self._todo.clear()
            for worker in self._workers:
                worker.end()

    def _start_workers(self, count: int) -> None:
        """Start worker processes, which take parts as soon as they are up."""
        with contextlib.suppress(OSError):  # no memory or process is left for one: there are fewer then
            while len(self._workers) < count:
                self._workers.append(_Worker())
        rules = (self._rules.rules, self._rules.key) if self._workers else None
        for worker in self._workers:
            worker.serve(rules, self._todo, self._told, self._deadline)

    def _read_here(self, index: int, part: Part) -> Iterator[tuple[int, SourceScan]]:
        """Read a part; between its blocks hand on what workers have done, so that it can be joined."""
        if self._deadline.passed():
            yield index, unread(part.source)
            return
        tell = teller(part.source, self._progress, part.start or 0)
        for found in scan_by_block(part, self._rules, self._deadline, tell):
            if found is not None:
                yield index, found
            while not self._told.empty():
                yield from self._hear(*self._told.get())

    def _wait(self) -> Told:
        """Yield the next message of a worker. One that is silent for too long is ended, and thereby leaves its part."""
        while True:
            with contextlib.suppress(Empty):
                return self._told.get(timeout=LOOK_S)
            for worker in self._workers:
                worker.end_if_silent(LATE_S if self._deadline.passed() else PATIENCE_S)

    def _hear(self, index: int, what: SourceScan | int | None) -> Iterator[tuple[int, SourceScan]]:
        part = self._parts[index]
        if what is None:
            self._left_behind.append((index, part))
        elif self._progress:
            self._progress(part.source.name, what if isinstance(what, int) else part.reach)
        if isinstance(what, SourceScan):
            yield index, what


def _take(todo: deque[Numbered]) -> Numbered | None:
    with contextlib.suppress(IndexError):
        return todo.popleft()
    return None


class _Worker:
    """One worker process, and the thread that serves it."""

    def __init__(self) -> None:
        import subprocess  # most readings start no process

        root = str(Path(__file__).parents[2])
        path = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH", "")) if p)
        self._process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # Ctrl-C is for the process that asked; its end ends the workers
        )
        self._given = cast("BinaryIO", self._process.stdin)
        self._taken = cast("BinaryIO", self._process.stdout)
        self._server: threading.Thread | None = None
        self._heard_s: float | None = None  # when it last gave a sign of life; None: it has no part

    def serve(self, rules: object, todo: deque[Numbered], told: SimpleQueue[Told], deadline: Deadline) -> None:
        """Give it parts until none is left or it is gone; what it says goes to `told`."""
        self._server = threading.Thread(target=self._serve, args=(rules, todo, told, deadline), daemon=True)
        self._server.start()

    def end_if_silent(self, patience_s: float) -> None:
        """End it where nothing was heard of its part for so long."""
        heard_s = self._heard_s
        if heard_s is not None and time.monotonic() - heard_s > patience_s:
            self._process.kill()

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        if self._server is not None and self._server.is_alive():
            self._server.join()
        for pipe in (self._given, self._taken):
            with contextlib.suppress(OSError):
                pipe.close()
        self._process.wait()

    def _serve(self, rules: object, todo: deque[Numbered], told: SimpleQueue[Told], deadline: Deadline) -> None:
        with contextlib.suppress(*GONE):
            send(self._given, rules)
            receive(self._taken)  # that it is up: until then others read the parts
            while not deadline.passed() and (taken := _take(todo)):
                found = None
                try:
                    found = self._ask(*taken, told, deadline)
                finally:
                    told.put((taken[0], found))

    def _ask(self, index: int, part: Part, told: SimpleQueue[Told], deadline: Deadline) -> SourceScan:
        """Have a part read. Raises one of `GONE` where the worker dies over it."""
        self._heard_s = time.monotonic()
        send(self._given, (part, deadline.left_s()))
        while isinstance(said := receive(self._taken), int):
            self._heard_s = time.monotonic()
            told.put((index, said))
        self._heard_s = None
        return cast(SourceScan, said)
