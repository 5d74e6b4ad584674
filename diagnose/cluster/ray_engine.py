"""The map step on a Ray cluster: parts of files as tasks, what lies on each node's own disk where it lies.

In: inputs, rules, the cluster's address. Out: the same `Scan` as reading here gives. The package and what it needs
travel by `runtime_env`, the rules (the user's too) with the tasks. A task that a dying node took along is given to
another one, and in the end to this process.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import MissingExtra, UsageError
from ..scan.parts import Part
from ..scan.reading import Progress, read_all
from ..scan.scan import Scan, SourceScan, source_from_json
from ..scan.scanner import ScanRules
from ..scan.workers import scan_part, unread
from ..sources.deadline import Deadline
from ..sources.source import Input
from .nodes import scan_nodes, wait_s
from .tasks import Given, scan_parts

EXTRA = "diagnose-training[ray]"
TRAVELLERS = ("regex", "hyperscan")  # what scanning needs beside the package; a training image rarely has them
BATCH_BYTES = 64 << 20  # of small files to one task at most: a task costs milliseconds
BATCH_PARTS = 256
BATCHES_PER_TASK = 4  # so many for each task that runs at a time, or the slowest would hold up all
TASKS_PER_NODE = 4  # beside a job that may still hang there
TRIES = 4  # of a task, before it is done here
log = logging.getLogger("diagnose")


def read_on_ray(
    inputs: Sequence[Input],
    rules: ScanRules,
    deadline: Deadline,
    progress: Progress | None = None,
    address: str | None = None,
    on_every_node: Sequence[str] = (),
) -> Scan:
    """Yield the scan of `inputs`, and of the paths `on_every_node`, read by the cluster at `address`.

    No address: that of `RAY_ADDRESS`, or the cluster that this machine belongs to.
    """
    with _connected(address) as ray:
        given: Given = (rules.key, rules.rules)
        pool = _Pool(ray, rules, ray.put(given))
        scan = read_all(inputs, rules, deadline, progress, pool=pool)
        if on_every_node:
            scan_nodes(ray, scan, pool.given, on_every_node, deadline, progress)
        return scan


class _Pool:
    """The cluster as a pool of workers."""

    def __init__(self, ray: Any, rules: ScanRules, given: Any) -> None:
        self._ray = ray
        self._rules = rules
        self.given = given
        # No CPU is asked for: the job to be diagnosed may hold them all, and hang.
        self._task = ray.remote(num_cpus=0, max_retries=TRIES - 1, scheduling_strategy="SPREAD")(scan_parts)

    def scan(self, parts: Sequence[Part], deadline: Deadline) -> Iterator[tuple[int, SourceScan]]:
        """Yield (index of the part, its scan) as they are done."""
        waiting = deque(_batches(parts, BATCHES_PER_TASK * self._limit()))
        running: dict[Any, tuple[int, ...]] = {}
        tries: Counter[tuple[int, ...]] = Counter()
        while waiting or running:
            while waiting and len(running) < self._limit():
                batch = waiting.popleft()
                task = self._task.remote(self.given, [parts[n] for n in batch], deadline.left_s())
                running[task] = batch
            done, _ = self._ray.wait(list(running), num_returns=1, timeout=wait_s(deadline))
            for task in done:
                batch = running.pop(task)
                try:
                    found = self._ray.get(task)
                except self._ray.exceptions.RayError as error:
                    tries[batch] += 1
                    log.info("a task was lost (%s); it is done again", type(error).__name__)
                    if tries[batch] < TRIES:
                        waiting.append(batch)
                        continue
                    log.warning("Ray could not read %d parts (%s); they are read here", len(batch), _brief(error))
                    found = [None] * len(batch)
                for index, text in zip(batch, found, strict=True):
                    yield index, source_from_json(json.loads(text)) if text else self._here(parts[index], deadline)
            if not done and deadline.passed():
                late = [n for batch in (*running.values(), *waiting) for n in batch]
                for task in running:
                    self._ray.cancel(task, force=True)
                yield from ((n, unread(parts[n].source)) for n in late)
                return

    def _limit(self) -> int:
        return max(2, TASKS_PER_NODE * sum(1 for node in self._ray.nodes() if node["Alive"]))

    def _here(self, part: Part, deadline: Deadline) -> SourceScan:
        """Read what no node has: a file on this machine's own disk."""
        return unread(part.source) if deadline.passed() else scan_part(part, self._rules, deadline)


def _batches(parts: Sequence[Part], count: int) -> Iterator[tuple[int, ...]]:
    """Neighbouring parts together, into about so many batches, or more where they are large."""
    most = min(BATCH_BYTES, sum(p.size for p in parts) // count)
    most_parts = min(BATCH_PARTS, -(-len(parts) // count))
    batch: list[int] = []
    size = 0
    for index, part in enumerate(parts):
        if batch and (size + part.size > most or len(batch) >= most_parts):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(index)
        size += part.size
    if batch:
        yield tuple(batch)


def _brief(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[-1][:300]}" if lines else type(error).__name__


# --- the connection ---------------------------------------------------------------------------------------------


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """The `ray` module, connected; left as it was where the caller's program is connected already."""
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingExtra(f"--engine ray needs `pip install '{EXTRA}'`") from error
    if ray.is_initialized():
        yield ray
        return
    asked = address or os.environ.get("RAY_ADDRESS")
    try:
        ray.init(
            address=asked or "auto",
            runtime_env={"py_modules": _modules()},
            log_to_driver=False,
            logging_level=logging.ERROR,
            configure_logging=False,
        )
    except (OSError, ValueError, RuntimeError) as error:  # ConnectionError is an OSError
        if not asked:
            raise UsageError("--engine ray: this machine is in no Ray cluster; give --address HOST:PORT") from error
        raise UsageError(f"--engine ray: no Ray cluster answers at {asked}: {_brief(error)}") from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _modules() -> list[str]:
    """The folders that go to the nodes: this package, and what scanning imports."""
    folders = [str(Path(__file__).parents[1])]
    for name in TRAVELLERS:
        spec = find_spec(name)
        folders += list(spec.submodule_search_locations or ())[:1] if spec else []
    return folders
