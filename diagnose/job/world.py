"""How many ranks and nodes are there? Stated, computed from a collective, or counted: then there are at least so many."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ..lines.lazy_pattern import lazy
from .event import SourceEvents
from .identity_table import GIVEN, GUESSED, MAX_RANK, STATED, Places, as_rank, is_default_group, own_rank

OF_THE_LAUNCHER = "processes that the launcher ended"
# `llm-worker-3` (PyTorchJob, MPIJob), `llm-worker-0-3-x7k2p` (JobSet), `worker-1` of a host file; not `gpu-node-08`
WORKER = lazy(r"(?:[a-z][a-z0-9.-]{0,200}-)?worker(?:-0)?-(?P<number>0|[1-9]\d{0,2})(?:-[a-z0-9]{5})?$")
# `+ torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 train.py`, as a shell prints it (set -x).
NODES = lazy(r"\s--?(?:nnodes|num_machines)[ =](?:\d{1,5}:)?(?P<number>\d{1,5})\b")
NODE_RANK = lazy(r"\s--?(?:node|machine)[_-]rank[ =](?P<number>\d{1,5})\b")
OF_LAUNCHES = frozenset(("launcher", "nnodes", "min_nodes", "node_rank"))  # what a command or a launcher tells
GATHERS = {"ALLGATHER": ("numel_out", "numel_in"), "_ALLGATHER_BASE": ("numel_out", "numel_in"),
           "_REDUCE_SCATTER_BASE": ("numel_in", "numel_out"), "REDUCE_SCATTER": ("numel_in", "numel_out")}  # fmt: skip
# What the kernel, too, says of processes, and what is printed of machines and not of a job.
OF_MACHINES = frozenset((None, "", "fact", "killed", "signal-received"))


def learn_world(places: Places, sources: Sequence[SourceEvents], given: int | None) -> None:
    """Fill in how many ranks there are, in all and on a node, and whether one node is all there is."""
    speakers = [p for s in sources for p in s.speakers]
    highest = max([-1, *(r for p in speakers if (r := as_rank(p.rank)) is not None), *map(_highest, sources)])
    named = (as_rank(path.rank) for path in places.by_source.values() if path.kind == "rank")
    highest = max([highest, *(rank for rank in named if rank is not None)])
    started = _ended_by_launcher(sources)
    places.world_size, places.world_from = (given, GIVEN) if given else _stated(sources, highest)
    local: dict[str, set[int]] = defaultdict(set)
    for name, path in places.by_source.items():
        if path.local_rank is not None:
            local[places.source_host.get(name, "")].add(path.local_rank)
    hosts = {*places.source_host.values(), *(str(places.host(p.host)) for p in speakers if p.host)}
    if len(hosts) <= 1 and started > highest + 1 and not places.is_world_stated:
        places.world_size, places.world_from = started, OF_THE_LAUNCHER
    places.signed = {s.name for s in sources if any(e.traceback and e.speaker.rank is not None for e in s.events)}
    counts = max((len(v) for v in local.values()), default=0) or started
    places.local_world = counts or None
    pods, addresses = {p.pod for p in speakers if p.pod}, {p.ip for p in speakers if p.ip}  # pdsh tells of nodes by them
    numbered = max((int(m["number"]) + 1 for name in (*hosts, *pods) if (m := WORKER.match(name))), default=0)
    nodes = max([len(hosts), len(addresses), numbered, _agents(places, sources), *map(_nodes_asked_for, sources)])
    most = max((p.local_rank + 1 for p in speakers if p.local_rank is not None), default=0)
    # on nodes behind the first a process has another rank than local rank: `rank : 11 (local_rank: 3)`
    both = [[as_rank(e.fields.get(x)) for x in ("rank", "local_rank")] for s in sources for e in s.telling("exit")]
    is_later_node = any(p.node_rank for p in places.by_source.values())
    is_later_node |= any(None not in pair and pair[0] != pair[1] for pair in both)
    places.has_processes = given is not None or any(map(_speaks_of_a_job, sources))
    # Local rank equals global rank only where one node is all there is; few nodes have more than 8 GPUs.
    largest = (counts or 8) if places.world_from == STATED else max(counts, most, 8)
    fits = places.world_size is None or places.world_size <= largest
    places.is_one_node = nodes <= 1 and not is_later_node and fits


def _speaks_of_a_job(source: SourceEvents) -> bool:
    """Whether a process of the job, or its launcher, says anything here: without one a GPU's number is nobody's rank."""
    is_named = any({p.actor, p.rank, p.local_rank} != {None} for p in source.speakers)
    is_seen = is_named or source.tracebacks or source.stacks or source.progress
    return bool(is_seen) or any(e.rule.tells not in OF_MACHINES for e in source.events)


def widen_world(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Where nobody says how many ranks there are, there are at least those that anything was found to tell of."""
    known = (*places.host_of, *places.local_of, *places.source_rank.values())
    highest = max([-1, *known, *(e.rank for s in sources for e in s.all_events() if e.rank is not None)])
    if places.world_from in ("", GUESSED) and highest >= (places.world_size or 0):
        places.world_size, places.world_from = highest + 1, GUESSED


def _highest(source: SourceEvents) -> int:
    """The highest rank that the messages of a source tell of."""
    told = [(e, e.fields) for e in source.all_events() if "rank" in e.fields or "group_rank" in e.fields]
    own = (own_rank(e, None) for e, _ in told)
    ended = (as_rank(fields.get("rank")) for e, fields in told if e.rule.tells == "exit")
    in_group = (as_rank(fields.get("group_rank")) for _, fields in told)  # `[Rank 216] NCCL watchdog thread …`: at least
    return max((r for ranks in (own, ended, in_group) for r in ranks if r is not None), default=-1)


def _stated(sources: Sequence[SourceEvents], highest: int) -> tuple[int | None, str]:
    told = (e.fields.get("world_size") for s in sources for e in s.all_events() if e.rule.role == "context")
    stated = max((n for n in told if isinstance(n, int) and 0 < n < MAX_RANK), default=0)
    if stated > max(highest, 0):
        return stated, STATED  # smaller ones are groups
    ratios = {n: count for n, count in _gathered(sources).items() if n > highest}
    if ratios:
        return max(ratios, key=lambda n: (ratios[n], n)), STATED
    return (highest + 1, GUESSED) if highest >= 0 else (None, "")


def _ended_by_launcher(sources: Sequence[SourceEvents]) -> int:
    """A launcher that cleans up names every process it started: those that it ends, and those that failed."""
    most = 0
    for source in sources:
        ended = {e.fields.get("pid") for e in source.telling("signal-sent")} - {None}
        if ended:
            failed = {e.fields.get("pid") for e in source.telling("exit")} - {None}
            most = max(most, len(ended | failed) // _starts(source))
        last = (e.fields.get("last_local_rank") for e in source.telling("exit"))  # of the last one started
        most = max([most, *(n + 1 for n in last if isinstance(n, int) and n > 0)])
    return most


def _agents(places: Places, sources: Sequence[SourceEvents]) -> int:
    """How many nodes there are at least: those that launchers name, and the tasks of Slurm where each is an agent."""
    told = [e.fields for s in sources for e in s.telling("exit", "signal-sent")]
    tasks = [as_rank(task) or 0 for f in told if isinstance(f.get("ranks"), list) for task in f["ranks"]]
    has_agent = any(f.get("local_rank") is not None for f in told)
    return max(len({places.host(f["host"]) for f in told if f.get("host")}), max(tasks, default=-1) + 1 if has_agent else 0)


def _starts(source: SourceEvents) -> int:
    """How often a launcher started its processes: a local rank has another process each time."""
    pids: dict[object, set[object]] = defaultdict(set)
    for event in source.telling("exit"):
        if event.fields.get("pid") and event.fields.get("local_rank") is not None:
            pids[event.fields["local_rank"]].add(event.fields["pid"])
    return max([1, *map(len, pids.values())])


def _nodes_asked_for(source: SourceEvents) -> int:
    """The most nodes that a launcher was asked for, or that one says it is not the first of."""
    told = [e for e in source.events if e.rule.role == "context" and not OF_LAUNCHES.isdisjoint(e.fields)]
    numbers = [as_rank(e.fields.get(name)) for e in told for name in ("nnodes", "min_nodes")]
    commands = [e.raw for e in told if "launcher" in e.fields]
    numbers += [int(m["number"]) for command in commands if (m := NODES.search(command))]
    own = [as_rank(e.fields.get("node_rank")) for e in told]
    own += [int(m["number"]) for command in commands if (m := NODE_RANK.search(command))]
    return max([1, *(n for n in numbers if n), *(n + 1 for n in own if n)])


def _gathered(sources: Sequence[SourceEvents]) -> Counter[int]:
    """A gather returns as many times its input as the default group has ranks."""
    ratios: Counter[int] = Counter()
    for event in (e for s in sources for e in s.telling("collective-timeout")):
        large, small = (event.fields.get(name) for name in GATHERS.get(str(event.fields.get("op")), ("", "")))
        if not isinstance(large, int) or not isinstance(small, int) or not is_default_group(event.fields):
            continue
        if 0 < small < large < small * MAX_RANK and large % small == 0:
            ratios[large // small] += 1
    return ratios
