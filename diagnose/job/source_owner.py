"""Whose file is it? What its name and its lines say of host and rank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from ..lines.lazy_pattern import lazy
from ..lines.path_identity import PathIdentity
from .event import SourceEvents
from .places import HERE, MAX_RANK, OF_ITSELF, Places, own_rank

SEPARATORS = lazy(r"[-_.]")
MOST_WORDS = 12  # of a file's name
NUMBER = lazy(r"\d+")
LAST_NUMBER = lazy(r"(\d{1,6})[^\d/]{0,40}(?:\.[^\d/.]{1,12})?$")
FEWEST_OF_ALL = 2  # where they count from 0 without a gap, as the logs of all ranks do
OF_A_PODS_NODE = ("harmless.kubernetes/pod-assigned", "context.identity/kubectl-describe-pod")
FEWEST_TOLD = 3  # files that have to name their rank, before the numbers of others are taken for theirs


def learn_hosts(places: Places, sources: Sequence[SourceEvents]) -> None:
    for source in sources:
        named = places.by_source[source.name].host
        if host := _same_in_content(source, named) or named or _content_host(source):
            places.source_host[source.name] = host
    _learn_named_after_hosts(places, sources)
    _learn_sister_folders(places, sources)
    _learn_nodes_of_pods(places, sources)


def _learn_nodes_of_pods(places: Places, sources: Sequence[SourceEvents]) -> None:
    """In the network of its host a pod has the host's name: so the agent in it calls itself, and the kernel's log.

    Kubernetes says on which node a pod is, too. Only where something is told of that node does it stand for the pod.
    """
    named = _assigned(places, sources)
    for source in sources:
        for e in (e for e in source.telling("exit") if e.fields.get("local_rank") is not None):
            pod, host = e.speaker.pod or places.by_source[source.name].pod, e.fields.get("host")
            if pod and host and host not in HERE and not str(host).startswith(pod):
                named[pod].add(str(host))
    places.node_of_pod = {pod: next(iter(hosts)) for pod, hosts in named.items() if len(hosts) == 1}
    for name, host in places.source_host.items():
        places.source_host[name] = places.node_of_pod.get(host, host)


def _assigned(places: Places, sources: Sequence[SourceEvents]) -> dict[str, set[str]]:
    """On which nodes Kubernetes put each pod that is there alone: `Successfully assigned ml/worker-1 to gpu-node-12`.

    Of two pods on one node, each counts its own processes and GPUs from 0.
    """
    nodes: dict[str, set[str]] = defaultdict(set)
    pods: dict[str, set[str]] = defaultdict(set)
    told = {e.fields["host"] for s in sources for e in s.events if e.fields.get("host")} | set(places.source_host.values())
    for event in (e for s in sources for e in s.events if e.fields.get("node") and e.rule.id in OF_A_PODS_NODE):
        pod, node = str(event.fields.get("pod") or event.fields.get("host")), str(event.fields["node"])
        nodes[pod].add(node)
        pods[node].add(pod)
    alone = {pod: on for pod, on in nodes.items() if on <= told and all(len(pods[node]) == 1 for node in on)}
    return defaultdict(set, alone)


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


def _learn_sister_folders(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Folders called like one that bears a known host's name are hosts too: `g0035/`, and therefore `g0062/`."""
    folders = {source.name: source.name.replace("!", "/").split("/")[:-1] for source in sources}
    hosts = {h for name, h in places.source_host.items() if h in folders[name]}
    shapes = {NUMBER.sub("#", host) for host in hosts if NUMBER.search(host)}
    for name, parts in folders.items():
        alike = [part for part in parts if NUMBER.sub("#", part) in shapes]
        if name not in places.source_host and alike:
            places.source_host[name] = alike[-1]


def _same_in_content(source: SourceEvents, named: str | None) -> str | None:
    """A file may be called by its host with a word in front (`train.gpu-07.out`): the file says where the name begins."""
    if named is None:
        return None
    told = {str(e.fields["host"]) for e in source.events if e.fields.get("host")}
    longer = [host for host in told if named != host and named.endswith((f".{host}", f"-{host}", f"_{host}"))]
    return longer[0] if len(longer) == 1 else None


def _content_host(source: SourceEvents) -> str | None:
    """The one host that a file names; where launchers of several hosts speak, it is nobody's own."""
    hosts = {speaker.host for speaker in source.speakers if speaker.host}
    told = [e for e in source.events if e.fields.get("host")]
    hosts |= {str(e.fields["host"]) for e in told if e.rule.tells == "identity"}
    ended = {str(e.fields["host"]) for e in told if e.rule.tells == "exit"}
    return next(iter(hosts)) if len(hosts) == 1 and len(ended) <= 1 else None


def learn_sources(places: Places, sources: Sequence[SourceEvents]) -> None:
    heard: dict[str, set[int]] = {}
    for source in sources:
        path = places.by_source[source.name]
        told = chain(source.telling(*OF_ITSELF), chain.from_iterable(source.progress))
        ranks = {r for e in told if (r := own_rank(e, places.world_size)) is not None}
        ranks |= {speaker.rank for speaker in source.speakers if speaker.rank is not None}
        if path.rank is not None:
            if path.rank < (places.stated_size or MAX_RANK):
                places.source_rank.setdefault(source.name, path.rank)
        elif _is_one_process(path) and len(ranks) == 1:
            places.source_rank.setdefault(source.name, next(iter(ranks)))
        heard[source.name] = ranks
    if not places.source_rank:
        _learn_numbers(places, heard)
    _share_folder_ranks(places, sources)


def _learn_numbers(places: Places, heard: Mapping[str, set[int]]) -> None:
    """Files that differ in one number, which is the rank wherever a file names one, and only one: `w_0.log`, `w_1.log`."""
    alike: dict[str, dict[str, int]] = defaultdict(dict)
    for name in heard:
        if last := LAST_NUMBER.search(name):
            alike[f"{name[: last.start(1)]}#{name[last.end(1) :]}"][name] = int(last[1])
    for numbers in alike.values():
        told = {name: number for name, number in numbers.items() if heard[name]}
        fits = all(heard[name] == {number} for name, number in told.items())
        fewest = FEWEST_OF_ALL if sorted(numbers.values()) == list(range(len(numbers))) else FEWEST_TOLD
        if fits and len(told) >= max(fewest, len(numbers) // 2) and len(set(numbers.values())) == len(numbers):
            places.source_rank.update(numbers)


def _is_one_process(path: PathIdentity) -> bool:
    """Whether the name says that one process wrote the file."""
    return path.local_rank is not None or path.pid is not None or path.worker_id is not None or path.task is not None


def _share_folder_ranks(places: Places, sources: Sequence[SourceEvents]) -> None:
    """torchrun writes stdout, stderr and error.json of one process into one folder: what one tells holds for all."""
    by_folder: dict[str, set[int]] = defaultdict(set)
    for source in sources:
        if source.name in places.source_rank and places.by_source[source.name].kind == "torchrun":
            by_folder[source.name.rpartition("/")[0]].add(places.source_rank[source.name])
    for source in sources:
        known = by_folder.get(source.name.rpartition("/")[0], set())
        if len(known) == 1 and places.by_source[source.name].kind == "torchrun":
            places.source_rank.setdefault(source.name, next(iter(known)))
    _count_on_in_attempts(places, sources)


def _count_on_in_attempts(places: Places, sources: Sequence[SourceEvents]) -> None:
    """One agent numbers the folders of an attempt by local rank: global ranks are as much higher in all of them."""
    paths = {s.name: places.by_source[s.name] for s in sources}
    folders = {name: p for name, p in paths.items() if p.kind == "torchrun" and p.local_rank is not None}
    firsts: dict[str, set[int]] = defaultdict(set)
    for name, path in folders.items():
        if name in places.source_rank and path.local_rank is not None:
            firsts[_attempt_folder(name)].add(places.source_rank[name] - path.local_rank)
    for name, path in folders.items():
        first = firsts.get(_attempt_folder(name), set())
        if len(first) == 1 and path.local_rank is not None:
            places.source_rank.setdefault(name, next(iter(first)) + path.local_rank)


def _attempt_folder(name: str) -> str:
    return name.rsplit("/", 2)[0]
