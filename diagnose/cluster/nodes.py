"""Logs that lie on the nodes' own disks (`/tmp/ray/session_latest`), scanned there: one task pinned to each node.

In: a connected Ray, paths. Out: the sources of every node in one `Scan`, named `<node>/<path>` as if each node's files
had been collected into a folder of that name; nodes that cannot be asked are gaps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..scan.reading import Progress
from ..scan.scan import Scan, SourceScan, scan_from_json
from ..sources.deadline import Deadline
from .tasks import scan_paths

RETRIES = 2  # a worker process may be killed for memory on a node that hangs
WAIT_S = 5.0  # for a task, before the deadline is looked at
GRACE_S = 2.0  # past the deadline, for tasks that end by it themselves


def scan_nodes(
    ray: Any, scan: Scan, given: Any, paths: Sequence[str], deadline: Deadline, progress: Progress | None
) -> None:
    """Add to `scan` what lies below `paths` on every node."""
    names = node_names(ray.nodes())
    alive = {n["NodeID"] for n in ray.nodes() if n["Alive"]}
    below = ", ".join(paths)
    scan.gaps += [f"node {name} is dead: {below} there was not read" for node, name in names if node not in alive]
    left_s = deadline.left_s()
    tasks = {_task(ray, node).remote(given, list(paths), left_s): name for node, name in names if node in alive}
    found: dict[str, Scan | str] = {}
    while len(found) < len(tasks):
        done, waiting = ray.wait([t for t in tasks if tasks[t] not in found], num_returns=1, timeout=wait_s(deadline))
        for task in done:
            result = found[tasks[task]] = _result(ray, task, tasks[task])
            if progress and isinstance(result, Scan):
                progress(tasks[task], sum(s.bytes for s in result.sources.values()))
        if not done and deadline.passed():
            found |= {tasks[t]: "not read: the budget of time was used up" for t in waiting}
    for _, name in names:
        part = found.get(name)
        if isinstance(part, Scan):
            _add(scan, name, part)
        elif part is not None:
            scan.gaps.append(f"node {name}: {below} there was not read ({part})")


def node_names(nodes: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Yield (id, name) of each node by name: its host's name, and part of its id where several share one."""
    hosts = Counter(n["NodeManagerHostname"] for n in nodes)
    rows = [
        (n["NodeID"], n["NodeManagerHostname"] + (f"-{n['NodeID'][:8]}" if hosts[n["NodeManagerHostname"]] > 1 else ""))
        for n in nodes
    ]
    return sorted(rows, key=lambda row: row[1])


def _task(ray: Any, node: str) -> Any:
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    pinned = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
    return ray.remote(num_cpus=0, max_retries=RETRIES, scheduling_strategy=pinned)(scan_paths)


def _result(ray: Any, task: Any, name: str) -> Scan | str:
    try:
        return scan_from_json(ray.get(task).encode(), name)
    except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
        return "the node is gone"
    except ray.exceptions.RayError as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[-300:]}"


def wait_s(deadline: Deadline) -> float:
    """Yield how long to wait for a task before the deadline is looked at again."""
    left_s = deadline.left_s()
    return WAIT_S if left_s is None else min(WAIT_S, left_s + GRACE_S)


def _add(scan: Scan, node: str, part: Scan) -> None:
    for source in part.sources.values():
        named = replace(source, name=_under(node, source.name))
        scan.sources[_free(scan, named)] = named
    scan.gaps += [f"node {node}: {gap}" for gap in part.gaps]
    scan.dumps += [replace(dump, name=_under(node, dump.name)) for dump in part.dumps]


def _free(scan: Scan, source: SourceScan) -> str:
    name, count = source.name, 1
    while source.name in scan.sources:
        count += 1
        source.name = f"{name} ({count})"
    return source.name


def _under(node: str, name: str) -> str:
    return f"{node}/{name.lstrip('/')}"
