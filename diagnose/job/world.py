"""How many ranks and nodes are there? Stated, computed from a collective, or counted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ..lines.lazy_pattern import lazy
from .agents import OF_AGENTS, ONCE, count_on_nodes
from .consoles import count_consoles, count_workers
from .event import Event, SourceEvents, Speaker
from .places import ATTENTION_RANK, GUESSED, MAX_RANK, Places, as_rank, as_text, is_default_group, own_rank


def _highest(event: Event, highest: int) -> int:
    """The highest rank so far, with those that an event tells of."""
    if "rank" not in event.fields and "group_rank" not in event.fields:
        return highest if event.speaker.rank is None else max(highest, event.speaker.rank)
    ended = as_rank(event.fields.get("rank")) if event.rule.tells == "exit" else None
    in_group = as_rank(event.fields.get("group_rank"))  # `[Rank 216] NCCL watchdog thread …`: at least
    for number in (event.speaker.rank, own_rank(event, None), ended, in_group):
        if number is not None and number > highest:
            highest = number
    return highest


def learn_world(places: Places, sources: Sequence[SourceEvents], given: int | None) -> None:
    stated = Counter[int]()
    highest = -1
    local: dict[str, set[int]] = defaultdict(set)
    for source in sources:
        path = places.by_source[source.name]
        highest = max(highest, path.rank if path.rank is not None and path.kind == "rank" else -1)
        if path.local_rank is not None:
            local[places.source_host.get(source.name, "")].add(path.local_rank)
        for event in source.all_events():
            size = event.fields.get("world_size")
            if isinstance(size, int) and 0 < size < MAX_RANK and event.rule.role == "context":
                stated[size] += 1
            highest = _highest(event, highest)
        highest = max([highest, *(p.rank for p in source.speakers if p.rank is not None)])
    if given:
        places.world_size, places.world_from = given, "given"
    elif stated and max(stated) > highest:
        places.world_size, places.world_from = max(stated), "stated in the logs"  # smaller ones are groups
    elif ratios := Counter({n: count for n, count in _gathered(sources).items() if n > highest}):
        places.world_size, places.world_from = max(ratios, key=lambda n: (ratios[n], n)), "stated in the logs"
    elif highest >= 0:
        places.world_size, places.world_from = highest + 1, GUESSED
    hosts = set(places.source_host.values()) | {p.host for s in sources for p in s.speakers if p.host}
    named = {h for s in sources for e in s.telling("exit") if (h := as_text(e.fields.get("host")))}
    hosts |= named if len(named) > 1 else set()  # one name may be another word for the host that is known
    started = _ended_by_launcher(sources)
    counted = started if len(hosts) <= 1 else count_on_nodes(sources)
    if counted > highest + 1:
        _take_counted(places, counted)
    places.has_processes = given is not None or any(_speaks_of_a_job(s) for s in sources)
    places.signed = {s.name for s in sources if any(e.traceback and e.speaker.rank is not None for e in s.events)}
    labelled = {p for s in sources for p in s.speakers if p.actor is not None}
    places.has_actors, places.tensor_ranks_count_on = _has_actors(labelled), _count_on(labelled)
    counts = max((len(v) for v in local.values()), default=0) or started
    places.local_world = counts or None
    addresses = {p.ip for s in sources for p in s.speakers if p.ip}  # pdsh tells of nodes by them
    pods = {p.pod for s in sources for p in s.speakers if p.pod}
    named_nodes = max(count_consoles(places, sources), count_workers(hosts, pods))
    nodes = max(len(hosts), len(addresses), _learn_launches(places, sources), named_nodes)
    is_alone = nodes <= 1 and not any(p.node_rank for p in places.by_source.values()) and not _has_two_agents(sources)
    most = max((p.local_rank + 1 for s in sources for p in s.speakers if p.local_rank is not None), default=0)
    places.is_one_node = is_alone and _fits_one_node(places, counts, most)
    _count_folders(places, max(local.values(), key=len, default=set()), highest)


def _take_counted(places: Places, counted: int) -> None:
    if places.world_from in ("", GUESSED):
        places.world_size, places.world_from = counted, OF_THE_LAUNCHER


def _count_folders(places: Places, local: set[int], highest: int) -> None:
    """Who left without a word has a folder of its own, and no line that names it."""
    is_whole = places.is_one_node and local == set(range(len(local)))
    if is_whole and places.world_from in ("", "highest rank seen") and len(local) > max(highest + 1, 1):
        places.world_size, places.world_from = len(local), "files of the ranks"


# vLLM and SGLang label their processes where Ray has the names of actors: `(Worker_TP2 pid=4711)`, `[… DP0 TP3]`.
ENGINES = lazy(r"APIServer|EngineCore|VllmWorker|Worker_(?:TP|PP|DP|EP)|(?:(?:TP|PP|DP|EP|CP)\d{1,5}(?: |$)){1,5}$")


# What the kernel, too, says of processes, and what is printed of machines and not of a job.
OF_MACHINES = frozenset((None, "", "fact", "killed", "signal-received"))


def _speaks_of_a_job(source: SourceEvents) -> bool:
    """Whether a process of the job, or its launcher, says anything here: without one a GPU's number is nobody's rank."""
    if source.tracebacks or source.stacks or source.progress:
        return True
    if any(p.actor is not None or p.rank is not None or p.local_rank is not None for p in source.speakers):
        return True
    return any(e.traceback is not None or e.rule.tells not in OF_MACHINES for e in source.events)


def _has_actors(speakers: set[Speaker]) -> bool:
    """Whether Ray names actors; vLLM's worker is but `Worker` until it knows its place, and `Worker_TP2` from then on."""
    engines = {p.pid for p in speakers if ENGINES.match(p.actor or "")}
    return any(not ENGINES.match(p.actor or "") and (p.actor != "Worker" or p.pid not in engines) for p in speakers)


def _count_on(speakers: set[Speaker]) -> bool:
    """Whether no tensor rank is one of two DP ranks: replicas that serve apart count theirs from 0 each."""
    found = {(int(m[2]), int(m[1])) for p in speakers if (m := ATTENTION_RANK.match(p.actor or ""))}
    return len({tp for tp, _ in found}) == len(found) and len({dp for _, dp in found}) > 1


OF_THE_LAUNCHER = "processes that the launcher ended"
SPAWNED = "process.exit-code/spawn-"  # by mp.spawn of the one process that it did not have to end: without its pid


def _ended_by_launcher(sources: Sequence[SourceEvents]) -> int:
    """A launcher that cleans up names every process it started: those that it ends, and those that failed."""
    most = 0
    for source in sources:
        ended = {e.fields.get("pid") for e in source.telling("signal-sent")}
        if ended - {None}:
            failed = {e.fields.get("pid") for e in source.telling("exit")}
            failed |= {SPAWNED for e in source.events if e.rule.id.startswith(SPAWNED)}
            most = max(most, len((ended | failed) - {None}) // _starts(source))
        last = (e.fields.get("last_local_rank") for e in source.telling("exit"))  # of the last one started
        most = max([most, *(n + 1 for n in last if isinstance(n, int) and n > 0)])
    return most


# `+ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 train.py`, as a shell prints it (set -x).
_NODES = lazy(r"\s--?(?:nnodes|num_machines)[ =](?:\d{1,5}:)?(?P<number>\d{1,5})\b")
_NODE_RANK = lazy(r"\s--?(?:node|machine)[_-]rank[ =](?P<number>\d{1,5})\b")
_OWN_ORDER = lazy(r"\s--?rdzv[_-](?:backend|endpoint)[ =]")  # the agents agree on an order then, whatever --node_rank says


_OF_LAUNCHES = frozenset(("launcher", "nnodes", "min_nodes", "node_rank"))  # what a command or a launcher tells


def _learn_launches(places: Places, sources: Sequence[SourceEvents]) -> int:
    """The most nodes that a launcher was asked for; where it says which node it starts, that tells the ranks there."""
    most = 1
    for source in sources:
        told = [_launched(e) for e in source.events if e.rule.role == "context" and not _OF_LAUNCHES.isdisjoint(e.fields)]
        most = max([most, *(nodes for nodes, _ in told)])
        firsts = {first for _, first in told if first is not None} | _counted(source)
        most = max(most, 2 if any(firsts) else 1)
        if len(firsts) == 1:
            places.first_of_source[source.name] = firsts.pop()
    return most


def _counted(source: SourceEvents) -> set[int]:
    """The ranks of local rank 0 that follow from what lines say of a process: `rank      : 11 (local_rank: 3)`."""
    told = (e.fields for e in source.telling("exit"))
    both = ((as_rank(fields.get("rank")), as_rank(fields.get("local_rank"))) for fields in told)
    return {rank - local for rank, local in both if rank is not None and local is not None and rank >= local}


def _launched(event: Event) -> tuple[int, int | None]:
    """How many nodes a launcher was asked for, and the rank of the first process that it starts."""
    fields, command = event.fields, event.raw if "launcher" in event.fields else ""
    nodes, own = _NODES.search(command), _NODE_RANK.search(command)
    number = int(nodes["number"]) if nodes else as_rank(fields.get("nnodes", fields.get("min_nodes"))) or 1
    node = int(own["number"]) if own else as_rank(fields.get("node_rank"))
    number = max(number, (node or 0) + 1)
    world = as_rank(fields.get("world_size"))
    size = as_rank(fields.get("gpus_per_node")) if world is None else world // number
    if node is None or size is None or _OWN_ORDER.search(command):
        return number, None
    return number, node * size


def _has_two_agents(sources: Sequence[SourceEvents]) -> bool:
    """Whether agents with two process ids write into one console: each counts the local ranks of its own node."""
    told = ({e.speaker.pid for e in s.telling("exit", "signal-sent") if e.rule.id in OF_AGENTS} for s in sources)
    return any(len(pids - {None}) > 1 for pids in told)


def _starts(source: SourceEvents) -> int:
    """How often a launcher started its processes: a local rank has another process each time, or it says how each ended."""
    pids: dict[object, set[object]] = defaultdict(set)
    ends = source.telling("exit")
    once = {(e.speaker.pid, e.fields.get("pid") or e.line) for e in ends if e.rule.id == ONCE}
    told = Counter(agent for agent, _ in once)  # a logger with two handlers says it twice of the same process
    for event in ends:
        if event.fields.get("pid") and event.fields.get("local_rank") is not None:
            pids[event.fields["local_rank"]].add(event.fields["pid"])
    return max([1, *map(len, pids.values()), *told.values()])


GATHERS = {"ALLGATHER": ("numel_out", "numel_in"), "_ALLGATHER_BASE": ("numel_out", "numel_in"),
           "_REDUCE_SCATTER_BASE": ("numel_in", "numel_out"), "REDUCE_SCATTER": ("numel_in", "numel_out")}  # fmt: skip


def _gathered(sources: Sequence[SourceEvents]) -> Counter[int]:
    """A gather returns as many times its input as the default group has ranks."""
    ratios: Counter[int] = Counter()
    for event in (e for s in sources for e in s.telling("collective-timeout")):
        large, small = (event.fields.get(name) for name in GATHERS.get(str(event.fields.get("op")), ("", "")))
        group = event.fields.get("group_rank")
        if not isinstance(large, int) or not isinstance(small, int) or not 0 < small < large or large % small:
            continue
        if event.speaker.rank in (None, group) and is_default_group(event.fields):
            ratios[large // small] += 1
    return ratios


def _fits_one_node(places: Places, local_count: int, labelled: int) -> bool:
    """Local rank equals global rank only where one node is all there is; few nodes have more than 8 GPUs."""
    if places.world_size is None or places.world_from != "stated in the logs":
        return places.world_size is None or places.world_size <= max(local_count, labelled, 8)
    return places.world_size <= max(local_count, 1) if local_count else places.world_size <= 8
