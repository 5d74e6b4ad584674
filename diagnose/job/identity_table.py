"""The identity table: which rank is which process, local rank, GPU and actor, and on which host.

Short and full names, a pod and the node that it has to itself, an address and the host that states it are one host.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..lines.lazy_pattern import lazy
from ..lines.path_identity import PathIdentity
from .event import Event, SourceEvents, Speaker

LOOPBACK = "127.0.0.1"  # an address, which names no host at all
HERE = ("localhost", LOOPBACK)  # every host calls itself so
GIVEN, STATED = "given", "stated in the logs"  # how many ranks there are, by whom
SEPARATORS = lazy(r"[-_.]")
MOST_WORDS = 12  # of a file's name
GUESSED = "highest rank seen"  # how many ranks there are at least, where nobody says it
OF_ITSELF = ("identity", "progress", "activity", "activity-end", "finished")  # what a process tells of itself
MAX_RANK = 1 << 18  # twice what the largest machines hold; larger numbers are no ranks, and no sizes
# An engine of tensor parallelism alone: both engines name PP and DP in the label where these are larger than one.
TENSOR_RANK = lazy(r"(?:Worker_|VllmWorker )?TP(\d{1,5})(?:[_ ]EP\d{1,5})?$")
ADDRESS = lazy(r"[\d.]+$|.*:.*:")


@dataclass(slots=True)
class Places:
    """Who is who, learnt from all sources."""

    by_source: dict[str, PathIdentity] = field(default_factory=dict)
    source_rank: dict[str, int] = field(default_factory=dict)
    source_host: dict[str, str] = field(default_factory=dict)
    alias: dict[str, str] = field(default_factory=dict)  # another name of a host -> the one used for it
    rank_of_pid: dict[tuple[str, int], int | None] = field(default_factory=dict)  # (host or "", pid); None: of several
    rank_started: dict[tuple[str, int], int] = field(default_factory=dict)  # the same, as a launcher says what it starts
    rank_of_local: dict[tuple[str, int], int] = field(default_factory=dict)  # (host or "", local rank)
    rank_with_local: dict[int, int | None] = field(default_factory=dict)  # None where several hosts have such a one
    rank_of_actor: dict[tuple[str, int, str], int] = field(default_factory=dict)  # (actor, pid, ip)
    host_of: dict[int, str] = field(default_factory=dict)
    hosts_of_ranks: set[str] = field(default_factory=set)  # all of these
    local_of: dict[int, int] = field(default_factory=dict)
    pid_of: dict[int, int] = field(default_factory=dict)
    device_of: dict[int, int] = field(default_factory=dict)
    hosts_seen: set[str] = field(default_factory=set)  # that some line's prefix names
    host_of_ip: dict[str, str] = field(default_factory=dict)
    device_of_pci: dict[tuple[str, str], int | None] = field(default_factory=dict)  # (host or "", PCI address) -> index
    rank_of_pci: dict[tuple[str, str], int] = field(default_factory=dict)
    hosts_of_pci: dict[str, set[str]] = field(default_factory=dict)  # with a rank at this address
    tasks_are_ranks: bool = True
    world_size: int | None = None
    world_from: str = ""
    local_world: int | None = None
    is_one_node: bool = False
    has_processes: bool = False  # a kernel log alone tells of GPUs, and not that any of them is a rank
    signed: set[str] = field(default_factory=set)  # sources in which exceptions bear a rank, as torch prints them

    @property
    def is_world_stated(self) -> bool:
        """Whether somebody says how many ranks there are; else there are at least so many."""
        return self.world_size is not None and self.world_from != GUESSED

    @property
    def stated_size(self) -> int | None:
        """How many ranks there are where the caller or a line says it: a number in a name beyond them is no rank."""
        return self.world_size if self.world_from in (GIVEN, STATED) else None

    def host(self, name: object) -> str | None:
        """Yield the one name that is used for a host, however a line calls it."""
        return self.alias.get(str(name), str(name)) if name else None

    def remember(self, rank: int, host: str | None, local: int | None = None, pid: int | None = None) -> None:
        """Take in what one line or one name says of a rank."""
        if host and host not in HERE:
            self.hosts_of_ranks.add(self.host_of.setdefault(rank, host))
        if pid is not None:
            self.remember_process(rank, host, pid)
            self.pid_of[rank] = pid  # of its last life
        if local is not None:
            self.local_of.setdefault(rank, local)
            self.rank_of_local.setdefault((host or "", local), rank)
            if self.rank_with_local.setdefault(local, rank) != rank:
                self.rank_with_local[local] = None

    def remember_process(self, rank: int, host: str | None, pid: int) -> None:
        """Take in whose process it is; one that prints for several ranks passes on what they say, and is none of them."""
        for place in {host or "", ""}:
            if self.rank_of_pid.setdefault((place, pid), rank) != rank:
                self.rank_of_pid[place, pid] = None


def own_rank(event: Event, world_size: int | None) -> int | None:
    """The global rank that an event's text states for its own speaker; in a smaller group it is another number."""
    stated = event.fields.get("world_size")
    if isinstance(stated, int) and world_size is not None and stated != world_size:
        return None
    if event.rule.tells == "identity" and stated is not None and stated == world_size:
        return next((r for name in ("rank", "group_rank") if (r := as_rank(event.fields.get(name))) is not None), None)
    return as_rank(event.fields.get("rank")) if event.rule.tells in OF_ITSELF else None


def as_rank(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_RANK else None


def labelled_rank(speaker: Speaker) -> int | None:
    """Yield the rank in the label of a vLLM or SGLang process: `Worker_TP2`, `TP2 EP2`."""
    label = TENSOR_RANK.match(speaker.actor) if speaker.actor is not None else None
    return int(label[1]) if label else None


def pci_address(text: object) -> str:
    """Yield domain and bus of a PCI address in one form: `0000:9c:00`, `00000000:9C:00.0`, NCCL's `9c000`."""
    parts = str(text).lower().split(":")
    if len(parts) == 1:  # NCCL prints the bus id as one hexadecimal number: bus, device, function
        number = int(parts[0], 16) if re.fullmatch(r"[0-9a-f]{4,12}", parts[0]) else 0
        return f"{number >> 20:x}:{number >> 12 & 0xFF:02x}"
    domain, bus = (parts[0], parts[1]) if len(parts) > 2 else ("0", parts[0])
    return f"{domain.lstrip('0') or '0'}:{bus:>02}"


def is_default_group(fields: dict[str, object]) -> bool:
    return str(fields.get("pg", "0")) in ("0", "default_pg", "0(default_pg)", "None")


def learn_hosts(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Fill in the host of each source, and the names by which else it goes."""
    for source in sources:
        named = {speaker.host for speaker in source.speakers if speaker.host}
        named |= {str(e.fields["host"]) for e in source.telling("identity") if e.fields.get("host")}
        ended = {str(e.fields["host"]) for e in source.telling("exit") if e.fields.get("host")}
        # where launchers of several hosts speak, the one that is named is nobody's own
        content = next(iter(named)) if len(named) == 1 and len(ended) <= 1 else None
        if host := places.by_source[source.name].host or content:
            places.source_host[source.name] = host
    _learn_named_after_hosts(places, sources)
    heard = {*places.source_host.values(), *(p.host for s in sources for p in s.speakers if p.host)}
    heard |= {
        str(name) for s in sources for e in s.events for name in (e.fields.get("host"), e.fields.get("peer_host")) if name
    }
    by_label: dict[str, set[str]] = defaultdict(set)  # `n7.cluster.local` is `n7`, where both are heard of
    for name in (n for n in heard if n not in HERE and not ADDRESS.match(n)):
        by_label[name.partition(".")[0]].add(name)
    full = {name: short for short, alike in by_label.items() if short in alike for name in alike - {short}}
    places.alias = {**full, **_nodes_of_pods(places, sources)}
    for name, host in places.source_host.items():
        places.source_host[name] = places.host(host) or host


def _learn_named_after_hosts(places: Places, sources: Sequence[SourceEvents]) -> None:
    """`gpu-b.dmesg`, `lrdn1696/job_x/0/stderr.log`: a word of a name, or a folder, is a host where another file says so."""
    told = (str(e.fields["host"]) for s in sources for e in s.telling("exit") if e.fields.get("host"))
    hosts = (set(places.source_host.values()) | set(told)).difference(HERE)
    for source in (s for s in sources if s.name not in places.source_host):
        *folders, base = source.name.replace("!", "/").split("/")
        ends = [0, *(m.end() for m in SEPARATORS.finditer(base)), len(base) + 1][:MOST_WORDS]
        named = {base[a : b - 1] for n, a in enumerate(ends) for b in ends[n + 1 :]} & hosts
        around = [folder for folder in folders if folder in hosts]
        if named or around:
            places.source_host[source.name] = max(named, key=len) if named else around[-1]


def _nodes_of_pods(places: Places, sources: Sequence[SourceEvents]) -> dict[str, str]:
    """The node on which Kubernetes put each pod, where something is told of it, and no other pod is there.

    Of two pods on one node, each counts its own processes and GPUs from 0.
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
