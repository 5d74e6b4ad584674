"""Whose host: what the names of files and their lines say, and which names are of one host.

Short and full names, a pod and the node that it has to itself, an address and the host that states it are one host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ..lines.lazy_pattern import lazy
from .event import SourceEvents
from .places import HERE, Places

SEPARATORS = lazy(r"[-_.]")
MOST_WORDS = 12  # of a file's name
ADDRESS = lazy(r"[\d.]+$|.*:.*:")


def learn_hosts(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Fill in the host of each source, and the names by which else it goes."""
    for source in sources:
        if host := places.by_source[source.name].host or _content_host(source):
            places.source_host[source.name] = host
    _learn_named_after_hosts(places, sources)
    places.alias = {**_full_names(_named(places, sources)), **_nodes_of_pods(places, sources)}
    for name, host in places.source_host.items():
        places.source_host[name] = places.host(host) or host


def _content_host(source: SourceEvents) -> str | None:
    """The one host that a file names; where launchers of several hosts speak, it is nobody's own."""
    hosts = {speaker.host for speaker in source.speakers if speaker.host}
    hosts |= {str(e.fields["host"]) for e in source.telling("identity") if e.fields.get("host")}
    ended = {str(e.fields["host"]) for e in source.telling("exit") if e.fields.get("host")}
    return next(iter(hosts)) if len(hosts) == 1 and len(ended) <= 1 else None


def _learn_named_after_hosts(places: Places, sources: Sequence[SourceEvents]) -> None:
    """`gpu-b.dmesg`, `train_7_a3-mega-f021.log`, `lrdn1696/job_x/attempt_0/0/stderr.log`: names of files and folders.

    A word of a name, or a folder, is a host's where another file says that it is one.
    """
    told = (str(e.fields["host"]) for s in sources for e in s.telling("exit") if e.fields.get("host"))
    hosts = (set(places.source_host.values()) | set(told)).difference(HERE)
    for source in (s for s in sources if s.name not in places.source_host):
        *folders, base = source.name.replace("!", "/").split("/")
        ends = [0, *(m.end() for m in SEPARATORS.finditer(base)), len(base) + 1][:MOST_WORDS]
        named = {base[a : b - 1] for n, a in enumerate(ends) for b in ends[n + 1 :]} & hosts
        around = [folder for folder in folders if folder in hosts]
        if named or around:
            places.source_host[source.name] = max(named, key=len) if named else around[-1]


def _named(places: Places, sources: Sequence[SourceEvents]) -> Iterator[str]:
    yield from places.source_host.values()
    for source in sources:
        yield from (p.host for p in source.speakers if p.host)
        yield from (str(e.fields["host"]) for e in source.events if e.fields.get("host"))


def _full_names(names: Iterable[str]) -> dict[str, str]:
    """`n7.cluster.local` -> `n7`, where both are heard of."""
    by_label: dict[str, set[str]] = defaultdict(set)
    for name in {n for n in names if n not in HERE and not ADDRESS.match(n)}:
        by_label[name.partition(".")[0]].add(name)
    return {name: short for short, alike in by_label.items() if short in alike for name in alike - {short}}


def _nodes_of_pods(places: Places, sources: Sequence[SourceEvents]) -> dict[str, str]:
    """The node on which Kubernetes put each pod that is there alone: `Successfully assigned ml/worker-1 to gpu-node-12`.

    Only where something is told of that node does it stand for the pod. Of two pods on one node, each counts its own
    processes and GPUs from 0.
    """
    nodes: dict[str, set[str]] = defaultdict(set)
    pods: dict[str, set[str]] = defaultdict(set)
    told = {e.fields["host"] for s in sources for e in s.events if e.fields.get("host")} | set(places.source_host.values())
    for event in (e for s in sources for e in s.events if e.fields.get("node") and e.rule.role in ("harmless", "context")):
        pod, node = event.fields.get("pod") or event.fields.get("host"), str(event.fields["node"])
        if pod:
            nodes[str(pod)].add(node)
            pods[node].add(str(pod))
    return {pod: min(on) for pod, on in nodes.items() if len(on) == 1 and on <= told and len(pods[min(on)]) == 1}
