"""Which rank is which process, local rank, task, GPU, and on which host: learnt from one line, used for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .event import Event, SourceEvents, Speaker
from .places import (
    GUESSED,
    HERE,
    Places,
    as_rank,
    as_text,
    is_default_group,
    labelled_rank,
    own_rank,
    pci_address,
    remember,
    remember_process,
)

MAX_LEFT = 1 << 16
SPAWNED = "process.exit-code/spawn-"  # the rules of what the parent of `mp.spawn` raises
OF_A_LAUNCHER = -1  # no rank tells how processes ended


def learn_maps(places: Places, sources: Sequence[SourceEvents]) -> None:
    mismatched_tasks = matched_tasks = 0
    for source in sources:
        for event in source.telling("identity", "exit"):
            _learn_event(places, event)
        for p in source.speakers:
            if p.host:
                places.hosts_seen.add(p.host)
            if p.task is not None and p.rank is not None:
                mismatched_tasks += p.task != p.rank
                matched_tasks += p.task == p.rank > 0
            _learn_speaker(places, p)
        rank = places.source_rank.get(source.name)
        path = places.by_source[source.name]
        if rank is not None:
            if path.task is not None:
                mismatched_tasks += path.task != rank
                matched_tasks += path.task == rank > 0
            host = places.source_host.get(source.name)
            remember(places, rank, host, path.local_rank, path.pid)
    _forget_relays(places, sources)
    places.unnamed_groups_are_parts = any(
        _contradicts(places, e) for s in sources for e in s.events if "group_rank" in e.fields
    )
    _learn_whether_tasks_are_ranks(places, sources, mismatched_tasks, matched_tasks)
    if places.tasks_are_ranks:
        _learn_tasks(places, sources)
    _count_labels(places, sources)
    _learn_blocks(places)
    _learn_started(places, sources)


def _learn_started(places: Places, sources: Sequence[SourceEvents]) -> None:
    """`process 26811 spawned with command: [… '--local_rank=3' …]`: the kernel may say that it killed that process.

    What the launcher itself says of processes later it says of all that it started: `Killing subprocess 26811`.
    """
    for source in sources:
        for event in (e for e in source.telling("identity") if e.fields.get("rank") is None):
            pid, local = event.fields.get("pid"), as_rank(event.fields.get("local_rank"))
            host = event.speaker.host or places.source_host.get(source.name, "")
            if isinstance(pid, int) and local is not None:
                known = places.rank_of_local.get((host, local)) if host else None
                rank = local if places.is_one_node else known
                if rank is not None:
                    places.rank_started.setdefault((host, pid), rank)


def _contradicts(places: Places, event: Event) -> bool:
    """Where it is known whose line it is, a rank in an unnamed group shows whether that group is the whole job."""
    group = as_rank(event.fields.get("group_rank"))
    if group is None or event.fields.get("pg") is not None or event.rule.tells == "identity":
        return False
    own = event.speaker.rank if event.speaker.rank is not None else places.source_rank.get(event.source)
    return own is not None and own != group


def _learn_whether_tasks_are_ranks(places: Places, sources: Sequence[SourceEvents], mismatched: int, matched: int) -> None:
    """Learn it from where both are told, from how many tasks there are, and from who started the processes."""
    tasks = {p.task for p in places.by_source.values() if p.task is not None}
    tasks |= {p.task for s in sources for p in s.speakers if p.task is not None}
    too_few = bool(tasks) and places.world_size is not None and places.world_from != GUESSED and (
        len(tasks) * 2 <= places.world_size and max(tasks) * 2 < places.world_size
    )  # fmt: skip
    too_many = places.stated_size is not None and max(tasks, default=-1) >= places.stated_size
    is_spawned = len(tasks) > 1 and len(tasks) == _spawned(sources)
    is_agents = _has_agent(sources) and not is_spawned
    places.tasks_are_ranks = not (mismatched or too_many or is_agents) and (not too_few or matched > 0)
    if is_spawned and places.tasks_are_ranks:
        named = {name: path.task for name, path in places.by_source.items() if path.task is not None}
        places.source_rank = {**named, **places.source_rank}
    elif matched and places.tasks_are_ranks:  # `job-77_12.out` of a rank whose words nobody knows
        spoken = {s.name for s in sources if s.speakers}
        named = {name: path.task for name, path in places.by_source.items() if path.task is not None and name in spoken}
        places.source_rank = {**named, **places.source_rank}


def _learn_speaker(places: Places, p: Speaker) -> None:
    if p.rank is not None:
        pod = places.node_of_pod.get(p.pod, p.pod) if p.pod else None
        remember(places, p.rank, p.host or pod, p.local_rank, p.pid)
    elif p.pid is not None and (label := labelled_rank(places, p)) is not None:
        remember_process(places, label, p.host, p.pid)


def _forget_relays(places: Places, sources: Sequence[SourceEvents]) -> None:
    """A process that passes on what several ranks print is none of them.

    journald names for all lines of a unit the one process that opened its output: `n7 train.sh[4711]: [rank3]: …`.
    """
    told: dict[tuple[str, str, int], set[int]] = {}
    for speaker, kind, number in (x for s in sources for x in _numbers(places, s)):
        for place in {speaker.host or speaker.pod or "", ""}:
            told.setdefault((kind, place, speaker.pid or 0), set()).add(number)
    for relay in {(place, pid) for (_, place, pid), numbers in told.items() if len(numbers) > 1}:
        if places.rank_of_pid.pop(relay, None) is not None:
            places.pid_of = {rank: pid for rank, pid in places.pid_of.items() if pid != relay[1]}


def _numbers(places: Places, source: SourceEvents) -> Iterator[tuple[Speaker, str, int]]:
    """Yield each number by which lines that a process id stands before say whose they are."""
    for p in (p for p in source.speakers if p.pid is not None):
        yield from ((p, kind, n) for kind, n in (("rank", p.rank), ("task", p.task)) if n is not None)
    for event in (e for e in source.events if e.speaker.pid is not None):
        group = as_rank(event.fields.get("group_rank"))
        if group is not None and is_default_group(event.fields):
            yield event.speaker, "group", group
        if event.rule.tells == "identity" and (own := own_rank(event, places.world_size)) is not None:
            yield event.speaker, "rank", own
        elif event.rule.tells in ("exit", "signal-sent"):
            yield event.speaker, "rank", OF_A_LAUNCHER


def _learn_tasks(places: Places, sources: Sequence[SourceEvents]) -> None:
    """`srun: error: node7: tasks 8-15: Terminated` tells which ranks node7 holds."""
    for event in (e for s in sources for e in s.telling("exit")):
        host, tasks = as_text(event.fields.get("host")), event.fields.get("ranks")
        for task in tasks if host and isinstance(tasks, list) else ():
            if as_rank(task) is not None:
                remember(places, task, host, None, None)


def _count_labels(places: Places, sources: Sequence[SourceEvents]) -> None:
    """A task of `srun -l`, or of its account of ends, and a label of vLLM's each are a rank that was seen."""
    speakers = [p for s in sources for p in s.speakers]
    seen = {rank for p in speakers if (rank := labelled_rank(places, p)) is not None}
    if places.tasks_are_ranks:
        seen |= {p.task for p in speakers if p.task is not None} | _tasks_that_ended(sources)
    highest = max(seen, default=-1)
    if places.world_size is not None and places.world_from == GUESSED and highest >= places.world_size:
        places.world_size = highest + 1


def _tasks_that_ended(sources: Sequence[SourceEvents]) -> set[int]:
    told = (e.fields.get("ranks") for s in sources for e in s.telling("exit"))
    return {n for tasks in told if isinstance(tasks, list) for n in tasks if as_rank(n) is not None}


def _has_agent(sources: Sequence[SourceEvents]) -> bool:
    """Where an agent (torchrun, DeepSpeed) starts one process for each GPU, Slurm's tasks are the agents, one a node."""
    told = (e for s in sources for e in s.telling("exit", "signal-sent"))
    return any(e.fields.get("local_rank") is not None or isinstance(e.fields.get("pid"), int) for e in told)


def _spawned(sources: Sequence[SourceEvents]) -> int:
    """How many processes `mp.spawn` started, where it alone tells of ends: it numbers them itself, as `proc1.txt` does."""
    raised = [e for s in sources for e in s.events if e.rule.id.startswith(SPAWNED)]
    told = [e for s in sources for e in s.telling("exit", "signal-sent") if e not in raised]
    if not raised or any(e.fields.get("local_rank") is not None or "spawn.py:" not in e.raw for e in told):
        return 0
    return len({e.fields.get("pid") for e in told}) + len({e.fields.get("local_rank") for e in raised})


def _learn_pci(places: Places, event: Event, rank: int | None) -> None:
    fields = event.fields
    address = fields.get("pci") or fields.get("bus")
    if not address:
        return
    host, pci = event.speaker.host or places.source_host.get(event.source, ""), pci_address(address)
    device = fields.get("device")
    if isinstance(device, int):
        places.devices_of_pci.setdefault(pci, set()).add(device)
    if rank is not None and host:
        places.hosts_of_pci.setdefault(pci, set()).add(host)
    for place in (host, ""):
        if isinstance(device, int):
            places.device_of_pci.setdefault((place, pci), device)
        if rank is not None:
            places.rank_of_pci.setdefault((place, pci), rank)


def _learn_blocks(places: Places) -> None:
    """Launchers give each host a block of ranks that follow one another, all of the same size: the rest can be told."""
    hosts = sorted(set(places.source_host.values()) | places.hosts_of_ranks | places.hosts_seen)
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
            remember(places, block * size + local, host, local, None)


def _fit_blocks(places: Places, size: int) -> bool:
    """Whether all that is known of ranks, hosts and local ranks agrees with blocks of this size."""
    blocks = {(rank // size, host) for rank, host in places.host_of.items()}
    alone = len({block for block, _ in blocks}) == len({host for _, host in blocks}) == len(blocks)
    return alone and all(rank % size == local for rank, local in places.local_of.items())


def _learn_event(places: Places, event: Event) -> None:
    fields, speaker = event.fields, event.speaker
    if event.rule.tells == "identity":
        _learn_pci(places, event, own_rank(event, places.world_size))
    rank = own_rank(event, places.world_size) if event.rule.tells == "identity" else as_rank(fields.get("rank"))
    if rank is None and event.rule.tells == "identity":
        rank = speaker.rank if speaker.rank is not None else places.source_rank.get(event.source)
    if rank is None:
        return
    around, told = speaker.host or places.source_host.get(event.source), as_text(fields.get("host"))
    host = around if around and told in HERE else told or around
    own_pid = speaker.pid if event.rule.tells == "identity" else None  # an end is told by another process
    pid = fields.get("pid") if isinstance(fields.get("pid"), int) else own_pid
    local = as_rank(fields.get("local_rank"))
    remember(places, rank, host, local, pid if isinstance(pid, int) else None)
    device = fields.get("device")
    if event.rule.tells == "identity" and isinstance(device, int):
        places.device_of.setdefault(rank, device)
    if speaker.actor is not None and speaker.pid is not None and pid == speaker.pid:  # not Ray Train's list of its workers
        places.rank_of_actor.setdefault((speaker.actor, speaker.pid, speaker.ip or ""), rank)
    ip = as_text(fields.get("ip"))
    if ip and host:
        places.host_of_ip.setdefault(ip, host)
