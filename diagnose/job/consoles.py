"""How many nodes do names tell of? Files named alike, of which one holds a launcher's words, are one node's each.

So are the pods of a job, which its controller numbers from 0: the log of one pod says nothing of the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ..lines.lazy_pattern import lazy
from .event import SourceEvents
from .places import Places

NUMBERS = lazy(r"\d+")
FEWEST = 4  # fewer may be one node's consoles of several runs
# `llm-worker-3` (PyTorchJob, MPIJob), `llm-worker-0-3-x7k2p` (JobSet), `worker-1` of a host file; not `gpu-node-08`
WORKER = lazy(r"(?:[a-z][a-z0-9.-]{0,200}-)?worker(?:-0)?-(?P<number>0|[1-9]\d{0,2})(?:-[a-z0-9]{5})?$")
NO_NODE = lazy(r"-(?:launcher|driver|scheduler|submitter)(?:-|$)")  # it starts the processes of others
OF_LAUNCHERS = ("exit", "signal-sent", "signal-received")


def count_consoles(places: Places, sources: Sequence[SourceEvents]) -> int:
    """Yield the number of files like `a3-mega-3-60.out` beside one in which a launcher of several processes speaks.

    Where the processes have files of their own, the launcher speaks in none of those.
    """
    alike: dict[str, list[SourceEvents]] = defaultdict(list)
    for source in sources:
        path = places.by_source[source.name]
        if path.rank is None and path.local_rank is None and path.task is None and path.attempt is None:
            alike[NUMBERS.sub("#", source.name)].append(source)
    groups = (group for group in alike.values() if len(group) >= FEWEST)
    return max((len(group) for group in groups if any(map(_has_launcher, group))), default=1)


def _has_launcher(source: SourceEvents) -> bool:
    """Whether a launcher tells here of processes by their local ranks."""
    local = ("local_rank", "last_local_rank")
    told = (e.fields for e in source.telling(*OF_LAUNCHERS))
    return any(fields.get(name) is not None for fields in told for name in local)


def count_workers(hosts: Iterable[str], pods: Iterable[str]) -> int:
    """Yield how many nodes the names of hosts and pods make certain: beside a `llm-worker-3` there are three more."""
    speaking = {pod for pod in pods if not NO_NODE.search(pod)}
    numbers = (int(match["number"]) for name in {*hosts, *speaking} if (match := WORKER.match(name)))
    return max(len(speaking), 1 + max(numbers, default=0))
