"""The map step on a Ray cluster: parts of files as tasks, what lies on each node's own disk where it lies.

In: inputs, rules, the cluster's address. Out: the same `Scan` as reading here gives; what lies on the nodes' own disks
(`/tmp/ray/session_latest`) is named `<node>/<path>`, as if each node's files had been collected into a folder of that name,
and nodes that cannot be asked are gaps. The package and what it needs travel by `runtime_env`, the rules (the user's too)
with the tasks; a node imports this module by its name. A task that a dying node took along is given to another one, and in
the end to this process.
"""

from __future__ import annotations

import logging
import os
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .catalogue.rule import Rule
from .errors import MissingExtra, SourceError, UsageError
from .scan.parts import Part
from .scan.reading import Progress, read_all
from .scan.scan import Scan, SourceScan
from .scan.scanner import ScanRules
from .scan.workers import scan_part, unread
from .sources.bounds import Deadline
from .sources.paths import expand_pattern, is_url
from .sources.source import Input

EXTRA = "diagnose-training[ray]"
TRAVELLERS = ("regex", "hyperscan")  # what scanning needs beside the package; a training image rarely has them
BATCH_BYTES = 64 << 20  # of small files to one task at most: a task costs milliseconds
BATCH_PARTS = 256
BATCHES_PER_TASK = 4  # so many for each task that runs at a time, or the slowest would hold up all
TASKS_PER_NODE = 4  # beside a job that may still hang there
TRIES = 4  # of a task, before it is done here
RETRIES = 2  # a worker process may be killed for memory on a node that hangs
WAIT_S = 5.0  # for a task, before the deadline is looked at
GRACE_S = 2.0  # past the deadline, for tasks that end by it themselves
Given = tuple[str, Sequence[Rule]]  # a catalogue's key, and its rules as a scan needs them
log = logging.getLogger("diagnose")
_built: dict[str, ScanRules] = {}  # a worker process reads many parts with one catalogue


def read_on_ray(
    inputs: Sequence[Input], rules: ScanRules, deadline: Deadline, progress: Progress | None,
    address: str | None, on_every_node: Sequence[str],
) -> Scan:  # fmt: skip
    """Yield the scan of `inputs`, and of the paths `on_every_node`, read by the cluster at `address`.

    No address: that of `RAY_ADDRESS`, or the cluster that this machine belongs to.
    """
    with _connected(address) as ray:
        pool = _Pool(ray, rules, ray.put((rules.key, rules.rules)))
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
        while waiting or running:
            while waiting and len(running) < self._limit():
                batch = waiting.popleft()
                running[self._task.remote(self.given, [parts[n] for n in batch], deadline.left_s())] = batch
            done, _ = self._ray.wait(list(running), num_returns=1, timeout=wait_s(deadline))
            for task in done:
                batch = running.pop(task)
                for index, found in zip(batch, self._answers(task, len(batch)), strict=True):
                    yield index, found or self._here(parts[index], deadline)
            if not done and deadline.passed():
                late = [n for batch in (*running.values(), *waiting) for n in batch]
                for task in running:
                    self._ray.cancel(task, force=True)
                yield from ((n, unread(parts[n].source)) for n in late)
                return

    def _answers(self, task: Any, count: int) -> list[SourceScan | None]:
        """What a task answered; nothing for each part where Ray gave it up, after `TRIES` on different nodes."""
        try:
            return list(self._ray.get(task))
        except self._ray.exceptions.RayError as error:
            log.warning("Ray could not read %d parts (%s); they are read here", count, _brief(error))
            return [None] * count

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
    for index, part in enumerate(parts):
        if batch and (len(batch) >= most_parts or sum(parts[n].size for n in batch) + part.size > most):
            yield tuple(batch)
            batch = []
        batch.append(index)
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
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
        ray.init(address=asked or "auto", runtime_env={"py_modules": _modules()}, **quiet)
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
    folders = [str(Path(__file__).parent)]
    for name in TRAVELLERS:
        spec = find_spec(name)
        folders += list(spec.submodule_search_locations or ())[:1] if spec else []
    return folders


# --- what lies on the nodes' own disks: one task pinned to each node -------------------------------------------------


def scan_nodes(
    ray: Any, scan: Scan, given: Any, paths: Sequence[str], deadline: Deadline, progress: Progress | None
) -> None:
    """Add to `scan` what lies below `paths` on every node."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    names = dict(node_names(ray.nodes()))
    alive = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    found: dict[str, Scan | str] = {node: "the node is dead" for node in names if node not in alive}
    left_s = deadline.left_s()
    tasks: dict[Any, str] = {}
    for node in alive:
        pinned = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
        task = ray.remote(num_cpus=0, max_retries=RETRIES, scheduling_strategy=pinned)(scan_paths)
        tasks[task.remote(given, list(paths), left_s)] = node
    while waiting := [task for task, node in tasks.items() if node not in found]:
        done, _ = ray.wait(waiting, num_returns=1, timeout=wait_s(deadline))
        for task in done:
            node = tasks[task]
            result = found[node] = _result(ray, task)
            if progress and isinstance(result, Scan):
                progress(names[node], sum(s.bytes for s in result.sources.values()))
        if not done and deadline.passed():
            found |= {tasks[task]: "not read: the budget of time was used up" for task in waiting}
    for node, name in names.items():
        part = found[node]
        if isinstance(part, Scan):
            _add(scan, name, part)
        else:
            scan.gaps.append(f"node {name}: {', '.join(paths)} there was not read ({part})")


def node_names(nodes: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Yield (id, name) of each node by name: its host's name, and part of its id where several share one."""
    hosts = Counter(n["NodeManagerHostname"] for n in nodes)
    rows = ((n["NodeID"], n["NodeManagerHostname"]) for n in nodes)
    named = ((node, f"{host}-{node[:8]}" if hosts[host] > 1 else host) for node, host in rows)
    return sorted(named, key=lambda row: row[1])


def _result(ray: Any, task: Any) -> Scan | str:
    try:
        found: Scan = ray.get(task)
        return found
    except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
        return "the node is gone"
    except ray.exceptions.RayError as error:
        return _brief(error)


def wait_s(deadline: Deadline) -> float:
    """Yield how long to wait for a task before the deadline is looked at again."""
    left_s = deadline.left_s()
    return WAIT_S if left_s is None else min(WAIT_S, left_s + GRACE_S)


def _add(scan: Scan, node: str, part: Scan) -> None:
    for source in part.sources.values():
        name = _under(node, source.name)
        count = sum(other == name or other.startswith(f"{name} (") for other in scan.sources)
        named = replace(source, name=f"{name} ({count + 1})" if count else name)
        scan.sources[named.name] = named
    scan.gaps += [f"node {node}: {gap}" for gap in part.gaps]
    scan.dumps += [replace(dump, name=_under(node, dump.name)) for dump in part.dumps]


def _under(node: str, name: str) -> str:
    return f"{node}/{name.lstrip('/')}"


# --- what runs on a node: parts of files, or whatever lies below some paths there, in; their scans out -----------------


def scan_parts(given: Given, parts: Sequence[Part], left_s: float | None) -> list[SourceScan | None]:
    """Yield each part's scan; None where this node does not hold the file that the driver found."""
    rules, deadline = _rules(given), Deadline.after(left_s)
    return [scan_part(p, rules, deadline) if _is_here(p) else None for p in parts]


def scan_paths(given: Given, paths: Sequence[str], left_s: float | None) -> Scan:
    """Yield the scan of what lies below `paths` on this node; a path that is not there is a gap."""
    rules, deadline = _rules(given), Deadline.after(left_s)
    present: list[str] = []
    gaps: list[str] = []
    for path in paths:
        try:
            present += [path] if is_url(path) else expand_pattern(path)
        except SourceError as error:
            gaps.append(str(error))
    scan = read_all(present, rules, deadline, workers=1) if present else Scan(catalogue=rules.key)
    scan.gaps += gaps
    return scan


def _rules(given: Given) -> ScanRules:
    key, rules = given
    if key not in _built:
        _built.clear()
        _built[key] = ScanRules(rules, key)
    return _built[key]


def _is_here(part: Part) -> bool:
    """Whether the file is that of the driver: on a shared file system, or read from a store."""
    path = part.source.path
    if path is None or is_url(path):
        return path is not None
    with suppress(OSError):
        return os.stat(path).st_size >= (part.source.size or 0)  # a log may have grown since
    return False
