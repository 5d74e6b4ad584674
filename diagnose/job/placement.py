"""Who: fills the identity table from all sources, then gives every event its rank, its host and its process.

Global rank, local rank, rank in a group, task and device index are different things. What one line says about who is
who (an init line, a torchelastic box, a directory's name) is learnt first and then used for all lines of all sources.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain

from ..errors import UsageError
from ..lines.lazy_pattern import lazy
from ..lines.path_identity import PathIdentity, identities_from_paths
from ..lines.record import record
from .event import FAILING, Event, SourceEvents
from .identity_table import HERE, MAX_RANK, OF_ITSELF, Places, as_rank, labelled_rank, learn_hosts, own_rank, pci_address
from .rank import place_all
from .world import learn_world, widen_world

MAX_LEFT = 1 << 16
MAX_ASKED_S = 1.0  # that a user's pattern may take on one name
LAST_NUMBER = lazy(r"(\d{1,6})[^\d/]{0,40}(?:\.[^\d/.]{1,12})?$")
FEWEST_OF_ALL = 2  # where they count from 0 without a gap, as the logs of all ranks do
FEWEST_TOLD = 3  # files that have to name their rank, before the numbers of others are taken for theirs


def place(
    sources: Sequence[SourceEvents],
    world_size: int | None = None,
    rank_from: str | None = None,
    alone: Mapping[str, PathIdentity] | None = None,
) -> Places:
    """Fill in rank, local rank, host and pid of every event in `sources`; yield what was learnt on the way.

    `rank_from`: a pattern whose first group in a name is the rank. `alone`: what each path says by itself, if known.
    """
    places = Places(identities_from_paths([s.name for s in sources], alone))
    for source in sources if rank_from else ():
        if (told := _rank_in(source.name, rank_from or "")) is not None:
            places.source_rank[source.name] = told
    learn_hosts(places, sources)
    learn_world(places, sources, world_size)
    _learn_sources(places, sources)
    _learn_processes(places, sources)
    place_all(places, sources)
    widen_world(places, sources)
    return places


def _rank_in(name: str, pattern: str) -> int | None:
    """What the first group of a user's pattern reads from a source's name. Raises `UsageError` where it takes too long."""
    import regex

    try:
        match = regex.search(pattern, name, timeout=MAX_ASKED_S)
    except (regex.error, TimeoutError) as error:
        raise UsageError(f"--rank-from {pattern}: {error or f'takes too long on {name}'}; write it simpler") from error
    return int(match[1]) if match and match.lastindex and match[1] and match[1].isdecimal() else None


# --- of which job a file is ---------------------------------------------------------------------------------------


@record
class JobApart:
    """A job among the inputs that the verdict is not about."""

    name: str
    files: tuple[str, ...]
    failed: bool


def set_jobs_apart(
    sources: Sequence[SourceEvents], identities: Mapping[str, PathIdentity]
) -> tuple[list[SourceEvents], list[JobApart]]:
    """Yield the sources of the last job of Slurm that failed (of the last one, where none did), and the other jobs.

    Files whose names hold no job's number may tell of any and stay. `identities`: what each path says by itself.
    """
    jobs: dict[int, list[SourceEvents]] = defaultdict(list)
    for source in sources:
        identity = identities[source.name]
        if identity.kind == "slurm" and identity.job is not None and identity.job.isdigit():
            jobs[int(identity.job)].append(source)
    if len(jobs) < 2:
        return list(sources), []
    decisive = max(jobs, key=lambda number: (_failed(jobs[number]), number))
    apart = [(number, of_it) for number, of_it in sorted(jobs.items()) if number != decisive]
    left_out = {s.name for _, of_it in apart for s in of_it}
    others = [JobApart(f"Slurm job {n}", tuple(sorted(s.name for s in of_it)), _failed(of_it)) for n, of_it in apart]
    return [s for s in sources if s.name not in left_out], others


def _failed(sources: Sequence[SourceEvents]) -> bool:
    return any(e.role in FAILING for s in sources for e in s.events)


# --- whose file it is ---------------------------------------------------------------------------------------------


def _learn_sources(places: Places, sources: Sequence[SourceEvents]) -> None:
    heard: dict[str, set[int]] = {}
    for source in sources:
        path = places.by_source[source.name]
        told = chain(source.telling(*OF_ITSELF), chain.from_iterable(source.progress))
        ranks = {r for e in told if (r := own_rank(e, places.world_size)) is not None}
        ranks |= {speaker.rank for speaker in source.speakers if speaker.rank is not None}
        is_of_one = any(x is not None for x in (path.local_rank, path.pid, path.worker_id, path.task))
        if path.rank is not None and path.rank < (places.stated_size or MAX_RANK):
            places.source_rank.setdefault(source.name, path.rank)
        elif is_of_one and len(ranks) == 1:
            places.source_rank.setdefault(source.name, next(iter(ranks)))
        heard[source.name] = ranks
    if not places.source_rank:
        _learn_numbers(places, heard)
    _count_on_in_attempts(places)


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


def _count_on_in_attempts(places: Places) -> None:
    """torchrun numbers the folders of an attempt by local rank: global ranks are as much higher in all of them."""
    folders = {n: p.local_rank for n, p in places.by_source.items() if p.kind == "torchrun" and p.local_rank is not None}
    firsts: dict[str, set[int]] = defaultdict(set)
    for name, local in folders.items():
        if name in places.source_rank:
            firsts[name.rsplit("/", 2)[0]].add(places.source_rank[name] - local)
    for name, local in folders.items():
        first = firsts.get(name.rsplit("/", 2)[0], set())
        if len(first) == 1:
            places.source_rank.setdefault(name, min(first) + local)


# --- which process it is ------------------------------------------------------------------------------------------


def _learn_processes(places: Places, sources: Sequence[SourceEvents]) -> None:
    for source in sources:
        for event in source.telling("identity", "exit"):
            _learn_event(places, event)
        for p in source.speakers:
            if host := places.host(p.host):
                places.hosts_seen.add(host)
            if p.rank is not None:
                places.remember(p.rank, host or places.host(p.pod), p.local_rank, p.pid)
            elif p.pid is not None and (label := labelled_rank(p)) is not None:
                places.remember_process(label, host, p.pid)
        rank, path = places.source_rank.get(source.name), places.by_source[source.name]
        if rank is not None:
            places.remember(rank, places.source_host.get(source.name), path.local_rank, path.pid)
    _forget_relays(places, sources)
    _learn_tasks(places, sources)
    _learn_blocks(places)
    _learn_started(places, sources)
    for source in sources:  # `Xid (PCI:0000:3d:00): 79, pid='<unknown>'`, and a second later `154, pid=2403331`
        for event in (e for e in source.events if e.fields.get("pci") and isinstance(e.fields.get("pid"), int)):
            where = places.host(event.speaker.host) or places.source_host.get(source.name, "")
            _learn_pci(places, event, places.rank_of_pid.get((where, event.fields["pid"])))


def _learn_started(places: Places, sources: Sequence[SourceEvents]) -> None:
    """`process 26811 spawned with command: [… '--local_rank=3' …]`: the kernel may say that it killed that process."""
    for event in (e for s in sources for e in s.telling("identity") if e.fields.get("rank") is None):
        pid, local = event.fields.get("pid"), as_rank(event.fields.get("local_rank"))
        host = places.host(event.speaker.host) or places.source_host.get(event.source, "")
        if isinstance(pid, int) and local is not None:
            rank = local if places.is_one_node else places.rank_of_local.get((host, local)) if host else None
            if rank is not None:
                places.rank_started.setdefault((host, pid), rank)


def _forget_relays(places: Places, sources: Sequence[SourceEvents]) -> None:
    """A process that tells of others' ends is a launcher, and none of the ranks: `n7 train.sh[4711]: [rank3]: …`."""
    for event in (e for s in sources for e in s.telling("exit", "signal-sent") if e.speaker.pid is not None):
        for where in {places.host(event.speaker.host) or "", ""}:
            places.rank_of_pid[where, event.speaker.pid or 0] = None
    ranks = places.rank_of_pid
    own = ((r, p, places.host_of.get(r, "")) for r, p in places.pid_of.items())
    places.pid_of = {r: p for r, p, host in own if ranks.get((host, p), ranks.get(("", p))) == r}


def _learn_event(places: Places, event: Event) -> None:
    fields, speaker = event.fields, event.speaker
    is_own, rank = event.rule.tells == "identity", as_rank(fields.get("rank"))
    if is_own:
        rank = own_rank(event, places.world_size)
        _learn_pci(places, event, rank)
        if rank is None:
            rank = speaker.rank if speaker.rank is not None else places.source_rank.get(event.source)
    if rank is None:
        return
    around, told = places.host(speaker.host) or places.source_host.get(event.source), places.host(fields.get("host"))
    host = around if around and told in HERE else told or around
    pid = fields.get("pid") if isinstance(fields.get("pid"), int) else speaker.pid if is_own else None
    places.remember(rank, host, as_rank(fields.get("local_rank")), pid if isinstance(pid, int) else None)
    device = fields.get("device")
    if is_own and isinstance(device, int):
        places.device_of.setdefault(rank, device)
    if speaker.actor is not None and speaker.pid is not None and pid == speaker.pid:  # not Ray Train's list of its workers
        places.rank_of_actor.setdefault((speaker.actor, speaker.pid, speaker.ip or ""), rank)
    if fields.get("ip") and host:
        places.host_of_ip.setdefault(str(fields["ip"]), host)


def _learn_pci(places: Places, event: Event, rank: int | None) -> None:
    address, device = event.fields.get("pci") or event.fields.get("bus"), event.fields.get("device")
    if not address:
        return
    host, pci = places.host(event.speaker.host) or places.source_host.get(event.source, ""), pci_address(address)
    if rank is not None and host:
        places.hosts_of_pci.setdefault(pci, set()).add(host)
    for where in (host, ""):
        if isinstance(device, int) and places.device_of_pci.setdefault((where, pci), device) != device:
            places.device_of_pci[where, pci] = None  # hosts differ in it
        if rank is not None:
            places.rank_of_pci.setdefault((where, pci), rank)


def _learn_tasks(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Learn whether Slurm's tasks are ranks, and of those that ended their hosts: `srun: error: node7: tasks 8-15: …`.

    They are not where a task bears another rank, where ranks are many more, or where an agent starts one process for each
    GPU: then the tasks are the agents, one a node. One a node is all that may be known of them; then they count for nobody.
    """
    paths = {name: path.task for name, path in places.by_source.items() if path.task is not None}
    both = [(p.task, p.rank) for s in sources for p in s.speakers if p.task is not None and p.rank is not None]
    both += [(task, places.source_rank[name]) for name, task in paths.items() if name in places.source_rank]
    told = [e for s in sources for e in s.telling("exit", "signal-sent")]
    has_agent = any(e.fields.get("local_rank") is not None or isinstance(e.fields.get("pid"), int) for e in told)
    matched = any(task == rank > 0 for task, rank in both)
    named = [e.fields for e in told if e.fields.get("host") and isinstance(e.fields.get("ranks"), list)]
    is_one_each = len({f["host"] for f in named}) > 2 and all(len(f["ranks"]) == 1 for f in named) and not both
    tasks = {*paths.values(), *(p.task for s in sources for p in s.speakers if p.task is not None)}
    world = (places.world_size or 0) if places.is_world_stated else 0
    are_few = bool(tasks) and len(tasks) * 2 <= world and max(tasks) * 2 < world and not matched
    too_many = places.stated_size is not None and max(tasks, default=-1) >= places.stated_size
    are_agents = (has_agent and not matched) or is_one_each or are_few or too_many
    places.tasks_are_ranks = all(task == rank for task, rank in both) and not are_agents
    if not places.tasks_are_ranks:
        return
    if matched:  # `job-77_12.out` of a rank whose words nobody knows
        spoken = {s.name for s in sources if s.speakers}
        places.source_rank = {**{name: task for name, task in paths.items() if name in spoken}, **places.source_rank}
    for fields in named:
        for task in fields["ranks"]:
            if as_rank(task) is not None:
                places.remember(task, places.host(fields["host"]))


def _learn_blocks(places: Places) -> None:
    """Launchers give each host a block of ranks that follow one another, all of the same size: the rest can be told."""
    hosts = sorted(set(places.source_host.values()) | places.hosts_of_ranks | places.hosts_seen)
    world = min(places.world_size or 0, MAX_LEFT)
    size = world // max(len(hosts), 1)
    blocks = {(rank // max(size, 1), host) for rank, host in places.host_of.items()}
    is_apart = len({block for block, _ in blocks}) == len({host for _, host in blocks}) == len(blocks)
    fits = is_apart and all(rank % max(size, 1) == local for rank, local in places.local_of.items())
    if len(hosts) < 2 or not size or size * len(hosts) != world or not places.is_world_stated or not fits:
        return
    for block, host in blocks:
        for local in range(size):
            places.remember(block * size + local, host, local)
