"""Who: gives every event its global rank, its host and its process, each with how it was inferred.

Global rank, local rank, rank in a group, task and device index are different things. What one line says about who is
who (an init line, a torchelastic box, a directory's name) is learnt first and then used for all lines of all sources.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .events import Event, SourceEvents
from .identity import PathIdentity, identities_from_paths
from .lazy_pattern import lazy
from .prefixes import Prefix

HERE = ("localhost", "127.0.0.1")  # every host calls itself so
NUMBER = lazy(r"\d+")
MAX_LEFT = 1 << 16
MAX_RANK = 1 << 20  # larger numbers are no ranks


@dataclass(slots=True)
class Places:
    """Who is who, learnt from all sources."""

    by_source: dict[str, PathIdentity] = field(default_factory=dict)
    source_rank: dict[str, int] = field(default_factory=dict)
    source_host: dict[str, str] = field(default_factory=dict)
    rank_of_pid: dict[tuple[str, int], int] = field(default_factory=dict)  # (host or "", pid)
    rank_of_local: dict[tuple[str, int], int] = field(default_factory=dict)  # (host or "", local rank)
    rank_of_actor: dict[tuple[str, int, str], int] = field(default_factory=dict)  # (actor, pid, ip)
    host_of: dict[int, str] = field(default_factory=dict)
    local_of: dict[int, int] = field(default_factory=dict)
    pid_of: dict[int, int] = field(default_factory=dict)
    device_of: dict[int, int] = field(default_factory=dict)
    hosts_seen: set[str] = field(default_factory=set)  # that some line's prefix names
    host_of_ip: dict[str, str] = field(default_factory=dict)
    device_of_pci: dict[tuple[str, str], int] = field(default_factory=dict)  # (host or "", PCI address) -> GPU index
    rank_of_pci: dict[tuple[str, str], int] = field(default_factory=dict)
    tasks_are_ranks: bool = True
    world_size: int | None = None
    world_from: str = ""
    local_world: int | None = None
    is_one_node: bool = False
    has_actors: bool = False  # Ray gives each actor GPUs of its own, which count from 0 in every one


def place(sources: Sequence[SourceEvents], world_size: int | None = None, rank_from: str | None = None) -> Places:
    """Fill in rank, local rank, host and pid of every event in `sources`; yield what was learnt on the way."""
    places = Places(identities_from_paths([s.name for s in sources]))
    if rank_from:
        _override(places, rank_from, sources)
    _learn_hosts(places, sources)
    _learn_world(places, sources, world_size)
    _learn_sources(places, sources)
    _learn_maps(places, sources)
    for source in sources:
        for event in _all(source):
            _place(places, event)
    _place_kills(places, sources)
    return places


def _all(source: SourceEvents) -> Iterable[Event]:
    yield from source.events
    for first, last in source.progress.values():
        yield first
        if last is not first:
            yield last


def _override(places: Places, rank_from: str, sources: Sequence[SourceEvents]) -> None:
    """`--rank-from REGEX`: its first group in a source's name is the rank."""
    pattern = re.compile(rank_from)
    for source in sources:
        match = pattern.search(source.name)
        if match and match.lastindex and match[1].isdigit():
            places.source_rank[source.name] = int(match[1])


# --- learning ---------------------------------------------------------------------------------------------------


def _learn_hosts(places: Places, sources: Sequence[SourceEvents]) -> None:
    for source in sources:
        prefixes = [line.prefix for line in source.lines]
        named = places.by_source[source.name].host
        if host := _same_in_content(source, named) or named or _content_host(source, prefixes):
            places.source_host[source.name] = host
    _learn_sister_folders(places, sources)


def _learn_sister_folders(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Folders called like one that bears a known host's name are hosts too: `g0035/`, and therefore `g0062/`."""
    folders = {source.name: source.name.replace("!", "/").split("/")[:-1] for source in sources}
    hosts = {h for name, h in places.source_host.items() if h in folders[name]}
    shapes = {NUMBER.sub("#", host) for host in hosts if NUMBER.search(host)}
    for name, parts in folders.items():
        alike = [part for part in parts if NUMBER.sub("#", part) in shapes]
        if name not in places.source_host and alike:
            places.source_host[name] = alike[-1]


def _learn_sources(places: Places, sources: Sequence[SourceEvents]) -> None:
    for source in sources:
        path = places.by_source[source.name]
        prefixes = [line.prefix for line in source.lines]
        ranks = Counter(r for e in _all(source) if (r := _own_rank(e, places.world_size)) is not None)
        ranks.update(p.rank for p in prefixes if p.rank is not None)
        if path.rank is not None:
            places.source_rank.setdefault(source.name, path.rank)
        elif _is_one_process(path) and len(ranks) == 1:
            places.source_rank.setdefault(source.name, next(iter(ranks)))
    _share_folder_ranks(places, sources)


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


def _same_in_content(source: SourceEvents, named: str | None) -> str | None:
    """A file may be called by its host with a word in front (`train.gpu-07.out`): the file says where the name begins."""
    if named is None:
        return None
    told = {str(e.fields["host"]) for e in source.events if e.fields.get("host")}
    longer = [host for host in told if named != host and named.endswith((f".{host}", f"-{host}", f"_{host}"))]
    return longer[0] if len(longer) == 1 else None


def _content_host(source: SourceEvents, prefixes: Sequence[Prefix]) -> str | None:
    """The one host that a file names; where launchers of several hosts speak, it is nobody's own."""
    hosts = Counter(p.host for p in prefixes if p.host)
    told = [e for e in source.events if e.fields.get("host")]
    hosts.update(str(e.fields["host"]) for e in told if e.rule.tells == "identity")
    ended = {str(e.fields["host"]) for e in told if e.rule.tells == "exit"}
    return next(iter(hosts)) if len(hosts) == 1 and len(ended) <= 1 else None


def _own_rank(event: Event, world_size: int | None) -> int | None:
    """The global rank that an event's text states for its own speaker; in a smaller group it is another number."""
    stated = event.fields.get("world_size")
    if isinstance(stated, int) and world_size is not None and stated != world_size:
        return None
    if event.rule.tells == "identity" and stated is not None and stated == world_size:
        return next((r for name in ("rank", "group_rank") if (r := _rank(event.fields.get(name))) is not None), None)
    if event.rule.tells in ("identity", "progress", "activity", "activity-end", "finished"):
        return _rank(event.fields.get("rank"))
    return None


def _rank(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_RANK else None


def _learn_world(places: Places, sources: Sequence[SourceEvents], given: int | None) -> None:
    stated = Counter[int]()
    highest = -1
    local: dict[str, set[int]] = defaultdict(set)
    for source in sources:
        path = places.by_source[source.name]
        if path.local_rank is not None:
            local[places.source_host.get(source.name, "")].add(path.local_rank)
        for event in _all(source):
            size = event.fields.get("world_size")
            if isinstance(size, int) and 0 < size < MAX_RANK and event.rule.role == "context":
                stated[size] += 1
            highest = max([highest, *(r for r in (event.prefix.rank, _own_rank(event, None)) if r is not None)])
        highest = max([highest, *(x.prefix.rank for x in source.lines if x.prefix.rank is not None)])
    if given:
        places.world_size, places.world_from = given, "given"
    elif stated and max(stated) > highest:
        places.world_size, places.world_from = max(stated), "stated in the logs"  # smaller ones are groups
    elif ratios := _gathered(sources):
        places.world_size, places.world_from = max(ratios, key=lambda n: (ratios[n], n)), "stated in the logs"
    elif highest >= 0:
        places.world_size, places.world_from = highest + 1, "highest rank seen"
    hosts = set(places.source_host.values()) | {x.prefix.host for s in sources for x in s.lines if x.prefix.host}
    named = {h for s in sources for e in s.events if e.rule.tells == "exit" and (h := _text(e.fields.get("host")))}
    hosts |= named if len(named) > 1 else set()  # one name may be another word for the host that is known
    started = _ended_by_launcher(sources)
    if (
        places.world_from in ("", "highest rank seen")
        and started > highest + 1
        and len(hosts) <= 1
    ):
        places.world_size, places.world_from = started, "processes that the launcher ended"
    places.has_actors = any(_is_ray_actor(x.prefix) for s in sources for x in s.lines)
    node_ranks = {p.node_rank for p in places.by_source.values() if p.node_rank}
    counts = max((len(v) for v in local.values()), default=0) or started
    places.local_world = counts or None
    places.is_one_node = len(hosts) <= 1 and not node_ranks and _fits_one_node(places, counts)


VLLM = lazy(r"APIServer|EngineCore|VllmWorker|Worker_(?:TP|PP|DP|EP)")  # vLLM labels its processes as Ray does actors


def _is_ray_actor(prefix: Prefix) -> bool:
    return prefix.actor is not None and not VLLM.match(prefix.actor)


def _ended_by_launcher(sources: Sequence[SourceEvents]) -> int:
    """A launcher that cleans up names every process it started: those that it ends, and those that failed."""
    most = 0
    for source in sources:
        ended = {e.fields.get("pid") for e in source.events if e.rule.tells == "signal-sent"}
        failed = {e.fields.get("pid") for e in source.events if e.rule.tells == "exit"}
        if ended - {None}:
            most = max(most, len((ended | failed) - {None}))
    return most


GATHERS = {"ALLGATHER": ("numel_out", "numel_in"), "_ALLGATHER_BASE": ("numel_out", "numel_in"),
           "_REDUCE_SCATTER_BASE": ("numel_in", "numel_out"), "REDUCE_SCATTER": ("numel_in", "numel_out")}  # fmt: skip


def _gathered(sources: Sequence[SourceEvents]) -> Counter[int]:
    """A gather returns as many times its input as the default group has ranks."""
    ratios: Counter[int] = Counter()
    for event in (e for s in sources for e in s.events if e.rule.tells == "collective-timeout"):
        large, small = (event.fields.get(name) for name in GATHERS.get(str(event.fields.get("op")), ("", "")))
        group = event.fields.get("group_rank")
        if not isinstance(large, int) or not isinstance(small, int) or not 0 < small < large or large % small:
            continue
        if event.prefix.rank in (None, group) and _is_default_group(event.fields):
            ratios[large // small] += 1
    return ratios


def _fits_one_node(places: Places, local_count: int) -> bool:
    """Local rank equals global rank only where one node is all there is."""
    if places.world_size is None or places.world_from != "stated in the logs":
        return places.world_size is None or not local_count or places.world_size <= max(local_count, 8)
    return places.world_size <= max(local_count, 1) if local_count else places.world_size <= 8


def _learn_maps(places: Places, sources: Sequence[SourceEvents]) -> None:
    mismatched_tasks = matched_tasks = 0
    for source in sources:
        for event in source.events:
            _learn_event(places, event)
        for line in source.lines:
            p = line.prefix
            if p.host:
                places.hosts_seen.add(p.host)
            if p.task is not None and p.rank is not None:
                mismatched_tasks += p.task != p.rank
                matched_tasks += p.task == p.rank > 0
            if p.rank is not None:
                _remember(places, p.rank, p.host or p.pod, p.local_rank, p.pid)
        rank = places.source_rank.get(source.name)
        path = places.by_source[source.name]
        if rank is not None:
            if path.task is not None:
                mismatched_tasks += path.task != rank
                matched_tasks += path.task == rank > 0
            host = places.source_host.get(source.name)
            _remember(places, rank, host, path.local_rank, path.pid)
    tasks = {p.task for p in places.by_source.values() if p.task is not None}
    tasks |= {x.prefix.task for s in sources for x in s.lines if x.prefix.task is not None}
    too_few = bool(tasks) and places.world_size is not None and places.world_from != "highest rank seen" and (
        len(tasks) * 2 <= places.world_size and max(tasks) * 2 < places.world_size
    )  # fmt: skip
    places.tasks_are_ranks = not mismatched_tasks and (not too_few or matched_tasks > 0) and not _has_agent(sources)
    if places.tasks_are_ranks:
        _learn_tasks(places, sources)
    _learn_blocks(places)


def _learn_tasks(places: Places, sources: Sequence[SourceEvents]) -> None:
    """`srun: error: node7: tasks 8-15: Terminated` tells which ranks node7 holds."""
    for event in (e for s in sources for e in s.events if e.rule.tells == "exit"):
        host, tasks = _text(event.fields.get("host")), event.fields.get("ranks")
        for task in tasks if host and isinstance(tasks, list) else ():
            if _rank(task) is not None:
                _remember(places, task, host, None, None)


def _has_agent(sources: Sequence[SourceEvents]) -> bool:
    """Where an agent (torchrun, DeepSpeed) starts one process for each GPU, Slurm's tasks are the agents, one a node."""
    told = (e for s in sources for e in s.events if e.rule.tells in ("exit", "signal-sent"))
    return any(e.fields.get("local_rank") is not None or isinstance(e.fields.get("pid"), int) for e in told)


def pci_address(text: object) -> str:
    """Yield domain and bus of a PCI address in one form: `0000:9c:00`, `00000000:9C:00.0`, NCCL's `9c000`."""
    parts = str(text).lower().split(":")
    if len(parts) == 1:  # NCCL prints the bus id as one hexadecimal number: bus, device, function
        number = int(parts[0], 16) if re.fullmatch(r"[0-9a-f]{4,12}", parts[0]) else 0
        return f"{number >> 20:x}:{number >> 12 & 0xFF:02x}"
    domain, bus = (parts[0], parts[1]) if len(parts) > 2 else ("0", parts[0])
    return f"{domain.lstrip('0') or '0'}:{bus:>02}"


def _learn_pci(places: Places, event: Event, rank: int | None) -> None:
    fields = event.fields
    address = fields.get("pci") or fields.get("bus")
    if not address:
        return
    host, pci = event.prefix.host or places.source_host.get(event.source, ""), pci_address(address)
    device = fields.get("device")
    for place in (host, ""):
        if isinstance(device, int):
            places.device_of_pci.setdefault((place, pci), device)
        if rank is not None:
            places.rank_of_pci.setdefault((place, pci), rank)


def _learn_blocks(places: Places) -> None:
    """Launchers give each host a block of ranks that follow one another, all of the same size: the rest can be told."""
    hosts = sorted(set(places.source_host.values()) | set(places.host_of.values()) | places.hosts_seen)
    world = min(places.world_size or 0, MAX_LEFT)
    size = world // max(len(hosts), 1)
    if len(hosts) < 2 or not size or size * len(hosts) != world or not _fit_blocks(places, size):
        return
    block_of = {host: rank // size for rank, host in places.host_of.items()}
    empty, left = set(hosts) - set(block_of), set(range(len(hosts))) - set(block_of.values())
    if len(empty) == 1 and len(left) == 1:
        block_of[empty.pop()] = left.pop()
    for host, block in block_of.items():
        for local in range(size):
            _remember(places, block * size + local, host, local, None)


def _fit_blocks(places: Places, size: int) -> bool:
    """Whether all that is known of ranks, hosts and local ranks agrees with blocks of this size."""
    blocks = {(rank // size, host) for rank, host in places.host_of.items()}
    alone = len({block for block, _ in blocks}) == len({host for _, host in blocks}) == len(blocks)
    return alone and all(rank % size == local for rank, local in places.local_of.items())


def _learn_event(places: Places, event: Event) -> None:
    fields, prefix = event.fields, event.prefix
    if event.rule.tells not in ("identity", "exit"):
        return
    if event.rule.tells == "identity":
        _learn_pci(places, event, _own_rank(event, places.world_size))
    rank = _own_rank(event, places.world_size) if event.rule.tells == "identity" else _rank(fields.get("rank"))
    if rank is None and event.rule.tells == "identity":
        rank = prefix.rank if prefix.rank is not None else places.source_rank.get(event.source)
    if rank is None:
        return
    host = _text(fields.get("host")) or prefix.host or places.source_host.get(event.source)
    pid = fields.get("pid") if isinstance(fields.get("pid"), int) else prefix.pid
    local = _rank(fields.get("local_rank"))
    _remember(places, rank, host, local, pid if isinstance(pid, int) else None)
    device = fields.get("device")
    if event.rule.tells == "identity" and isinstance(device, int):
        places.device_of.setdefault(rank, device)
    if prefix.actor is not None and prefix.pid is not None:
        places.rank_of_actor.setdefault((prefix.actor, prefix.pid, prefix.ip or ""), rank)
    ip = _text(fields.get("ip"))
    if ip and host:
        places.host_of_ip.setdefault(ip, host)


def _remember(places: Places, rank: int, host: str | None, local: int | None, pid: int | None) -> None:
    if host and host not in HERE:
        places.host_of.setdefault(rank, host)
    if pid is not None:
        places.rank_of_pid.setdefault((host or "", pid), rank)
        places.rank_of_pid.setdefault(("", pid), rank)
        places.pid_of.setdefault(rank, pid)
    if local is not None:
        places.local_of.setdefault(rank, local)
        places.rank_of_local.setdefault((host or "", local), rank)


def _text(value: object) -> str | None:
    return str(value) if value else None


# --- placing ----------------------------------------------------------------------------------------------------


def _place(places: Places, event: Event) -> None:
    fields, prefix = event.fields, event.prefix
    path = places.by_source.get(event.source, PathIdentity())
    event.host = _text(fields.get("host")) or prefix.host or prefix.pod or places.source_host.get(event.source)
    event.host_from = (
        "the line" if fields.get("host") or prefix.host else "the file's name or content" if event.host else ""
    )
    pid = fields.get("pid")
    own = prefix.pid if prefix.pid is not None else _remote_pid(event)
    event.pid = pid if isinstance(pid, int) else own if own is not None else path.pid
    local = _rank(fields.get("local_rank"))
    known = (local, prefix.local_rank, path.local_rank, _spawned(event))
    event.local_rank = next((x for x in known if x is not None), None)
    for how, rank in _ranks_of(places, event, path):
        if rank is not None:
            event.rank, event.rank_from = rank, how
            break
    if event.rank is not None:
        event.host = event.host if event.host_from == "the line" else places.host_of.get(event.rank, event.host)
        if event.local_rank is None:
            event.local_rank = places.local_of.get(event.rank)


def _place_kills(places: Places, sources: Sequence[SourceEvents]) -> None:
    """A log of the whole cluster (Slurm's controller, Kubernetes events) names the host of which it tells."""
    hosts = set(places.source_host.values()) | set(places.host_of.values()) | places.hosts_seen
    for event in (e for s in sources for e in s.events if e.rule.tells == "killed" and e.host is None):
        named = hosts.intersection(WORDS.findall(event.raw))
        if len(named) == 1:
            event.host, event.host_from = named.pop(), "the message"


WORDS = lazy(r"[\w.-]+")
SPAWNED = lazy(r"-- Process (\d{1,4}) terminated with the following error")


REMOTE = lazy(r"\(pid=(\d{1,9})[,)]")


def _remote_pid(event: Event) -> int | None:
    """Ray's driver prints a worker's exception with the worker's process id: `ray::Trainer.step() (pid=28716, ip=…)`."""
    if event.traceback is None:
        return None
    links = [event.traceback.message, *(link.message for link in event.traceback.links)]
    return next((int(m[1]) for text in links if (m := REMOTE.search(text[:2000]))), None)


def _spawned(event: Event) -> int | None:
    """`torch.multiprocessing.spawn` numbers its processes by local rank."""
    match = SPAWNED.search(event.traceback.message) if event.traceback else None
    return int(match[1]) if match else None


def _ranks_of(places: Places, event: Event, path: PathIdentity) -> Iterable[tuple[str, int | None]]:
    """The ways to a rank, the surest first."""
    fields, prefix = event.fields, event.prefix
    host = event.host or ""
    own = _own_rank(event, places.world_size) if event.rule.tells == "identity" else _rank(fields.get("rank"))
    yield "the message", own
    about_other = event.rule.tells in ("exit", "killed", "signal-sent") and fields.get("pid") is not None
    pid = event.pid
    if about_other and pid is not None:
        yield "the process id", places.rank_of_pid.get((host, pid), places.rank_of_pid.get(("", pid)))
    local_of_other = event.rule.tells == "exit" and fields.get("local_rank") is not None
    if not about_other and not local_of_other:
        yield "the line's prefix", prefix.rank
        yield "the file", places.source_rank.get(event.source)
    if pid is not None:
        yield "the process id", places.rank_of_pid.get((host, pid))
        if prefix.actor is None or prefix.ip is None:
            yield "the process id", places.rank_of_pid.get(("", pid))
    if not about_other and path.pid is not None:  # the message may tell of a child of the process whose file this is
        yield "the file's process id", places.rank_of_pid.get((host, path.pid), places.rank_of_pid.get(("", path.pid)))
    if prefix.actor is not None and prefix.pid is not None:
        yield "the actor", places.rank_of_actor.get((prefix.actor, prefix.pid, prefix.ip or ""))
    if about_other and event.rule.tells != "exit":
        return
    yield from _ranks_of_local(places, event, host)
    yield from _ranks_of_gpu(places, event, host)
    tasks = fields.get("ranks")  # of `srun: error: node7: task 3: Killed`
    stated = _rank(tasks[0] if isinstance(tasks, list) and len(tasks) == 1 else fields.get("task"))
    task = stated if stated is not None else prefix.task if prefix.task is not None else path.task
    if places.tasks_are_ranks:
        yield "the task number", task
    group = _rank(fields.get("group_rank"))
    yield "the rank in the process group", group if group is not None and _is_default_group(fields) else None


def _ranks_of_local(places: Places, event: Event, host: str) -> Iterable[tuple[str, int | None]]:
    """A local rank leads to a rank where its host is known, or where one node is all there is."""
    if event.rule.tells == "exit" and places.is_one_node and places.local_world == 1:
        yield "the only process", 0
    if event.local_rank is not None:
        yield "the local rank on its host", places.rank_of_local.get((host, event.local_rank)) if host else None
        yield "the other local ranks of its host", _counted_from(places, host, event.local_rank) if host else None
        if places.is_one_node:
            yield "the local rank on the only node", event.local_rank
        elif not host:
            yield "the local rank", places.rank_of_local.get(("", event.local_rank))


def _counted_from(places: Places, host: str, local_rank: int) -> int | None:
    """On one host ranks count on from the first one: another rank there, known with its local rank, tells the first."""
    firsts = {rank - local for (h, local), rank in places.rank_of_local.items() if h == host}
    first = next(iter(firsts)) if len(firsts) == 1 else -1
    return first + local_rank if first >= 0 else None


def _ranks_of_gpu(places: Places, event: Event, host: str) -> Iterable[tuple[str, int | None]]:
    """A GPU's address or index leads to a rank where the logs tie them, or where one node is all there is."""
    fields = event.fields
    if fields.get("pci"):
        pci = pci_address(fields["pci"])
        yield "the GPU's PCI address", places.rank_of_pci.get((host, pci), places.rank_of_pci.get(("", pci)))
        device = places.device_of_pci.get((host, pci), places.device_of_pci.get(("", pci)))
    else:
        device = _rank(fields.get("device"))
    if device is not None and event.role in ("cause", "confirmation") and not places.has_actors:
        yield "the GPU index on its host", places.rank_of_local.get((host, device)) if host else None
        yield "the GPU index on the only node", device if places.is_one_node else None


def _is_default_group(fields: dict[str, object]) -> bool:
    pg = str(fields.get("pg", "0"))
    return pg in ("0", "default_pg", "0(default_pg)", "None")
