"""What is learnt of ranks, hosts and processes, and how the values of fields are read."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..lines.lazy_pattern import lazy
from ..lines.path_identity import PathIdentity
from .event import Event, Speaker

LOOPBACK = "127.0.0.1"  # an address, which names no host at all
HERE = ("localhost", LOOPBACK)  # every host calls itself so
GUESSED = "highest rank seen"  # how many ranks there are, where nobody says it
OF_ITSELF = ("identity", "progress", "activity", "activity-end", "finished")  # what a process tells of itself
MAX_RANK = 1 << 20  # larger numbers are no ranks
# An engine of tensor parallelism alone: both engines name PP and DP in the label where these are larger than one.
TENSOR_RANK = lazy(r"(?:Worker_|VllmWorker )?TP(\d{1,5})(?:[_ ]EP\d{1,5})?$")

# SGLang with data-parallel attention: `DP2 TP2 EP2`. The tensor ranks count through; each attends for one of the DP ranks.
ATTENTION_RANK = lazy(r"DP(\d{1,5}) TP(\d{1,5})(?: EP\d{1,5})?$")


@dataclass(slots=True)
class Places:
    """Who is who, learnt from all sources."""

    by_source: dict[str, PathIdentity] = field(default_factory=dict)
    source_rank: dict[str, int] = field(default_factory=dict)
    source_host: dict[str, str] = field(default_factory=dict)
    rank_of_pid: dict[tuple[str, int], int] = field(default_factory=dict)  # (host or "", pid)
    rank_started: dict[tuple[str, int], int] = field(default_factory=dict)  # by its launcher
    rank_of_local: dict[tuple[str, int], int] = field(default_factory=dict)  # (host or "", local rank)
    firsts_of_host: dict[str, set[int]] = field(default_factory=dict)  # the rank of its local rank 0, if ranks count on
    first_of_source: dict[str, int] = field(default_factory=dict)  # the same, of the node whose launch command a log holds
    rank_with_local: dict[int, int | None] = field(default_factory=dict)  # None where several hosts have such a one
    rank_of_actor: dict[tuple[str, int, str], int] = field(default_factory=dict)  # (actor, pid, ip)
    host_of: dict[int, str] = field(default_factory=dict)
    hosts_of_ranks: set[str] = field(default_factory=set)  # all of these
    local_of: dict[int, int] = field(default_factory=dict)
    pid_of: dict[int, int] = field(default_factory=dict)
    device_of: dict[int, int] = field(default_factory=dict)
    node_of_pod: dict[str, str] = field(default_factory=dict)  # where a pod calls itself by its node's name (hostNetwork)
    hosts_seen: set[str] = field(default_factory=set)  # that some line's prefix names
    host_of_ip: dict[str, str] = field(default_factory=dict)
    device_of_pci: dict[tuple[str, str], int] = field(default_factory=dict)  # (host or "", PCI address) -> GPU index
    rank_of_pci: dict[tuple[str, str], int] = field(default_factory=dict)
    hosts_of_pci: dict[str, set[str]] = field(default_factory=dict)  # with a rank at this address
    devices_of_pci: dict[str, set[int]] = field(default_factory=dict)  # of all hosts
    tasks_are_ranks: bool = True
    unnamed_groups_are_parts: bool = False  # `[Rank 1]` of older PyTorch, which names no group, is not the job's rank 1
    world_size: int | None = None
    world_from: str = ""
    local_world: int | None = None
    is_one_node: bool = False
    has_processes: bool = False  # a kernel log alone tells of GPUs, and not that any of them is a rank
    signed: set[str] = field(default_factory=set)  # sources in which exceptions bear a rank, as torch prints them
    tensor_ranks_count_on: bool = False  # through all DP ranks
    has_actors: bool = False  # Ray gives each actor GPUs of its own, which count from 0 in every one


def own_rank(event: Event, world_size: int | None) -> int | None:
    """The global rank that an event's text states for its own speaker; in a smaller group it is another number."""
    stated = event.fields.get("world_size")
    if isinstance(stated, int) and world_size is not None and stated != world_size:
        return None
    if event.rule.tells == "identity" and stated is not None and stated == world_size:
        return next((r for name in ("rank", "group_rank") if (r := as_rank(event.fields.get(name))) is not None), None)
    if event.rule.tells in OF_ITSELF:
        return as_rank(event.fields.get("rank"))
    return None


def as_rank(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_RANK else None


def labelled_rank(places: Places, speaker: Speaker) -> int | None:
    """Yield the rank in the label of a vLLM or SGLang process: `Worker_TP2`, `TP2 EP2`, where they count on `DP2 TP2`."""
    if speaker.actor is None or places.has_actors:
        return None
    label = TENSOR_RANK.match(speaker.actor)
    label = label or (ATTENTION_RANK.match(speaker.actor) if places.tensor_ranks_count_on else None)
    return int(label[label.re.groups]) if label else None


def as_text(value: object) -> str | None:
    return str(value) if value else None


def remember_process(places: Places, rank: int, host: str | None, pid: int) -> None:
    places.rank_of_pid.setdefault((host or "", pid), rank)
    places.rank_of_pid.setdefault(("", pid), rank)


def remember(places: Places, rank: int, host: str | None, local: int | None, pid: int | None) -> None:
    if host and host not in HERE:
        places.hosts_of_ranks.add(places.host_of.setdefault(rank, host))
    if pid is not None:
        remember_process(places, rank, host, pid)
        places.pid_of.setdefault(rank, pid)
    if local is not None:
        places.local_of.setdefault(rank, local)
        known = places.rank_of_local.setdefault((host or "", local), rank)
        places.firsts_of_host.setdefault(host or "", set()).add(known - local)
        if places.rank_with_local.setdefault(local, rank) != rank:
            places.rank_with_local[local] = None


def pci_address(text: object) -> str:
    """Yield domain and bus of a PCI address in one form: `0000:9c:00`, `00000000:9C:00.0`, NCCL's `9c000`."""
    parts = str(text).lower().split(":")
    if len(parts) == 1:  # NCCL prints the bus id as one hexadecimal number: bus, device, function
        number = int(parts[0], 16) if re.fullmatch(r"[0-9a-f]{4,12}", parts[0]) else 0
        return f"{number >> 20:x}:{number >> 12 & 0xFF:02x}"
    domain, bus = (parts[0], parts[1]) if len(parts) > 2 else ("0", parts[0])
    return f"{domain.lstrip('0') or '0'}:{bus:>02}"


def is_default_group(fields: dict[str, object]) -> bool:
    pg = str(fields.get("pg", "0"))
    return pg in ("0", "default_pg", "0(default_pg)", "None")


def is_same_host(a: str, b: str) -> bool:
    """Whether two names are of one host: the kernel's log calls it `n7`, torchrun's agent `n7.cluster.local`."""
    return a == b or a.startswith(f"{b}.") or b.startswith(f"{a}.")
