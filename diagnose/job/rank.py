"""Gives an event its rank, host and process: the ways from what it says to a rank, the surest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..lines.lazy_pattern import lazy
from ..lines.path_identity import PathIdentity
from .event import Event, SourceEvents, Speaker
from .places import HERE, LOOPBACK, Places, as_rank, as_text, is_default_group, labelled_rank, own_rank, pci_address

WORDS = lazy(r"[\w.-]+")
SPAWNED = lazy(r"-- Process (\d{1,4}) terminated with the following error")
# `2m          Normal    Preempted          pod/sft-worker-1    Preempted by pod 5f3e1c77 on node gpu-node-5`
EVENTS_ROW = lazy(
    r"\S{1,20}(?: \(x\d{1,6} over \S{1,12}\))? {1,20}(?:Normal|Warning) {1,20}\w{1,60} {1,60}pods?/([\w.-]{1,253}) "
)
REMOTE = lazy(r"\(pid=(\d{1,9})[,)]")
# Of two ranks that print at once: `… (GPU 3; 15.98 GiB total capacity; …CUDA out of memory. … (GPU 1; 15.98 GiB …`
GPUS = lazy(r"\bGPU (\d{1,3})(?:;| has a total)")
# torch.distributed.rpc: the caller raises anew what its callee raised; a future does so within a RuntimeError
RPC = lazy(r"(?:[\w.]{1,120}: ['\"]?)?On WorkerInfo\(id=(\d{1,6}), name=")
# Every rank raises it and prints the exceptions of the ranks that failed, in this order, behind `(RANK 3)`.
CHECKPOINT = lazy(r"CheckpointException ranks:dict_keys\(\[([\d, ]{1,8000})\]\)")

OF_SOMEBODY = ("identity", "exit", "killed", "signal-sent")  # what tells of a process, its own or another
WHOSE = frozenset(("rank", "local_rank", "pid", "host", "pci"))  # fields by which a line may tell of whom it is
# Of hardware the address tells whose GPU broke: when a link goes down, the driver ends what each peer's process runs on
# that GPU, and names the peer's process. Of what a program did it is the process that tells.
OF_PROGRAMS = "gpu.illegal-access"
NOTHING_KNOWN = PathIdentity()


def _where_it_speaks(places: Places, event: Event, own_host: str | None) -> str | None:
    """The host of the process: Ray says by its address on which node a worker is whose words the driver's console shows."""
    speaker = event.speaker
    if speaker.ip is not None and speaker.pid is not None and (own_host or speaker.pod):
        return places.host_of_ip.get(speaker.ip)
    pod = places.node_of_pod.get(speaker.pod, speaker.pod) if speaker.pod else None
    return own_host or pod or places.source_host.get(event.source)


def place_all(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Place every event; what a speaker whose rank is known says of nobody is placed as the last such line of its was."""
    for source in sources:
        placed: dict[Speaker, Event] = {}
        for event in source.all_events():
            if event.speaker.rank is None or not _tells_of_nobody(event):
                place_event(places, event)
            elif (like := placed.get(event.speaker)) is None:
                place_event(places, event)
                placed[event.speaker] = event
            else:
                event.rank, event.rank_from, event.local_rank = like.rank, like.rank_from, like.local_rank
                event.host, event.host_from, event.pid = like.host, like.host_from, like.pid


def _tells_of_nobody(event: Event) -> bool:
    """Whether nothing but who says it, and where, tells of whom it is."""
    if event.traceback is not None or event.rule.tells in OF_SOMEBODY or not WHOSE.isdisjoint(event.fields):
        return False
    return event.rule.tells == "progress" or "pod" not in event.raw


def place_event(places: Places, event: Event) -> None:
    fields, speaker = event.fields, event.speaker
    path = places.by_source.get(event.source, NOTHING_KNOWN)
    own_host = speaker.host or _pod_of_row(places, event)
    around = _where_it_speaks(places, event, own_host)
    told = as_text(fields.get("host"))
    event.host = around if told == LOOPBACK or (around and told in HERE) else told or around
    event.host_from = "the line" if told or own_host else "the file's name or content" if event.host else ""
    pid = fields.get("pid")
    own = speaker.pid if speaker.pid is not None else _remote_pid(event)
    event.pid = pid if isinstance(pid, int) else own if own is not None else path.pid
    local = as_rank(fields.get("local_rank"))
    local = speaker.local_rank if local is None else local
    local = path.local_rank if local is None else local
    event.local_rank = _spawned(event) if local is None else local
    if speaker.rank is not None and _tells_of_its_own(event):  # as most lines of a job whose ranks name themselves
        event.rank, event.rank_from = speaker.rank, "the line's prefix"
    else:
        for how, rank in _ranks_of(places, event, path):
            if as_rank(rank) is not None:
                event.rank, event.rank_from = rank, how
                break
    if event.rank is not None:
        event.host = event.host if event.host_from == "the line" else places.host_of.get(event.rank, event.host)
        if event.local_rank is None:
            event.local_rank = places.local_of.get(event.rank)


def _tells_of_its_own(event: Event) -> bool:
    """Whether nothing in the message is about a rank, so that of `_ranks_of` the prefix is the first to tell one."""
    fields, is_stated = event.fields, event.rule.tells in OF_SOMEBODY
    return not is_stated and event.traceback is None and "rank" not in fields and fields.get("pci") is None


def place_kills(places: Places, sources: Sequence[SourceEvents]) -> None:
    """A log of the whole cluster (Slurm's controller, Kubernetes events) names the host of which it tells."""
    hosts = set(places.source_host.values()) | places.hosts_of_ranks | places.hosts_seen
    for event in (e for s in sources for e in s.telling("killed") if e.host is None):
        named = hosts.intersection(WORDS.findall(event.raw))
        if len(named) == 1:
            event.host, event.host_from = named.pop(), "the message"


def _pod_of_row(places: Places, event: Event) -> str | None:
    """A pod is its own host to the job; `kubectl get events` tells of all pods, one a row."""
    if event.rule.tells == "progress":  # its words would have to be read anew
        return None
    match = EVENTS_ROW.match(event.raw) if "pod" in event.raw else None
    return places.node_of_pod.get(match[1], match[1]) if match else None


def _remote_pid(event: Event) -> int | None:
    """Ray's driver prints a worker's exception with the worker's process id: `ray::Trainer.step() (pid=28716, ip=…)`.

    Of tasks that waited for one another, the innermost is named last above what it raised.
    """
    tb = event.traceback
    if tb is None:
        return None
    printed = [(tb.exception_line, tb.message), *((link.exception_line, link.message) for link in tb.links)]
    named = [(number, int(m[1])) for number, text in printed if (m := REMOTE.search(text[:2000]))]
    above = [each for each in named if each[0] <= (event.line or 0)] or named[:1]
    return max(above)[1] if above else None


def _spawned(event: Event) -> int | None:
    """`torch.multiprocessing.spawn` numbers its processes by local rank."""
    match = SPAWNED.search(event.traceback.message) if event.traceback else None
    return int(match[1]) if match else None


def _callee(event: Event) -> int | None:
    """Say on which worker a remote call raised: its number is the rank that the worker gave to `init_rpc`."""
    told = RPC.match(event.traceback.message) if event.traceback is not None else None
    return int(told[1]) if told else None


def _checkpoint_rank(event: Event) -> int | None:
    """Say of which rank an exception is that torch.distributed.checkpoint printed on all of them."""
    if event.traceback is None:
        return None
    if event.traceback.of_rank is not None:
        return event.traceback.of_rank  # a paste that begins inside the exception: its head says `(RANK 2)`
    if "CheckpointException" not in event.traceback.exception:
        return None
    told = CHECKPOINT.match(event.traceback.message)
    ranks = [int(r) for r in told[1].split(",") if r.strip()] if told else []
    if len(ranks) == 1:
        return ranks[0]
    inner = [x.exception_line for x in event.traceback.links if x.relation == "inner" and x.depth == 1]
    return ranks[inner.index(event.line)] if event.line in inner and len(inner) == len(ranks) else None


def _stated(places: Places, event: Event) -> int | None:
    if event.rule.tells == "identity":
        return own_rank(event, places.world_size)
    return as_rank(event.fields.get("rank"))


def _ranks_of(places: Places, event: Event, path: PathIdentity) -> Iterable[tuple[str, int | None]]:
    """The ways to a rank, the surest first."""
    fields, speaker = event.fields, event.speaker
    host = event.host or ""
    yield "the message", _stated(places, event)
    if event.traceback is not None or fields.get("pci") is not None:
        yield "the message", _checkpoint_rank(event)
        yield "the message", _callee(event)
        yield "the GPU's PCI address", _of_hardware(places, event, host)
    about_other = event.rule.tells in ("exit", "killed", "signal-sent") and fields.get("pid") is not None
    pid = event.pid
    if about_other and pid is not None:
        yield "the process id", _with_pid(places, places.rank_of_pid, event, pid)
    if event.rule.tells == "killed" and pid is not None:
        yield "the process id", _with_pid(places, places.rank_started, event, pid)
    local_of_other = event.rule.tells == "exit" and fields.get("local_rank") is not None
    if not about_other and not local_of_other:
        yield "the line's prefix", speaker.rank
        yield "the file", places.source_rank.get(event.source)
    if pid is not None:
        yield from _ranks_of_process(places, event, host, pid)
    if not about_other and path.pid is not None:  # the message may tell of a child of the process whose file this is
        yield "the file's process id", places.rank_of_pid.get((host, path.pid), places.rank_of_pid.get(("", path.pid)))
    if speaker.actor is not None and speaker.pid is not None:
        yield "the actor", places.rank_of_actor.get((speaker.actor, speaker.pid, speaker.ip or ""))
    if about_other and event.rule.tells != "exit":
        return
    yield "the engine's label", labelled_rank(places, speaker)
    yield from _ranks_of_local(places, event, host)
    yield from _ranks_of_gpu(places, event, host)
    tasks = fields.get("ranks")  # of `srun: error: node7: task 3: Killed`
    stated = as_rank(tasks[0] if isinstance(tasks, list) and len(tasks) == 1 else fields.get("task"))
    task = stated if stated is not None else speaker.task if speaker.task is not None else path.task
    if places.tasks_are_ranks:
        yield "the task number", task
    group = as_rank(fields.get("group_rank"))
    of_a_part = places.unnamed_groups_are_parts and fields.get("pg") is None
    yield "the rank in the process group", group if is_default_group(fields) and not of_a_part else None


def _ranks_of_process(places: Places, event: Event, host: str, pid: int) -> Iterable[tuple[str, int | None]]:
    yield "the process id", places.rank_of_pid.get((host, pid))
    if event.speaker.actor is None or event.speaker.ip is None:
        yield "the process id", _with_pid(places, places.rank_of_pid, event, pid)


def _with_pid(places: Places, ranks: Mapping[tuple[str, int], int], event: Event, pid: int) -> int | None:
    """Yield the rank with a process id on the event's host, or on any if it is not known to be on another one.

    Each host counts anew, and so does each container.
    """
    if (event.host or "", pid) in ranks:
        return ranks[(event.host or "", pid)]
    rank = ranks.get(("", pid))
    own = places.host_of.get(rank) if rank is not None else None
    may_be_elsewhere = own is not None or event.fields.get("pci") is not None
    is_elsewhere = may_be_elsewhere and event.host not in (own, None) and event.host in places.hosts_of_ranks
    return None if is_elsewhere else rank


def _ranks_of_local(places: Places, event: Event, host: str) -> Iterable[tuple[str, int | None]]:
    """A local rank leads to a rank where its host is known, or where one node is all there is."""
    if event.rule.tells == "exit" and places.is_one_node and places.local_world == 1 and not event.local_rank:
        yield "the only process", 0
    if event.local_rank is not None:
        yield "the local rank on its host", places.rank_of_local.get((host, event.local_rank)) if host else None
        yield "the other local ranks of its host", _counted_from(places, host, event.local_rank) if host else None
        if event.source in places.first_of_source:
            yield "the launch command", places.first_of_source[event.source] + event.local_rank
        if places.is_one_node:
            yield "the local rank on the only node", event.local_rank
        elif not host:
            yield "the local rank", places.rank_with_local.get(event.local_rank)


def _counted_from(places: Places, host: str, local_rank: int) -> int | None:
    """On one host ranks count on from the first one: another rank there, known with its local rank, tells the first."""
    firsts = places.firsts_of_host.get(host, ())
    first = next(iter(firsts)) if len(firsts) == 1 else -1
    return first + local_rank if first >= 0 else None


def _at_pci(places: Places, host: str, pci: str) -> int | None:
    """Look up the rank at a PCI address: hosts of one kind have the same ones, so another host's tells nothing."""
    if (found := places.rank_of_pci.get((host, pci))) is not None:
        return found
    hosts = places.hosts_of_pci.get(pci, ())
    return places.rank_of_pci.get(("", pci)) if not hosts or (not host and len(hosts) == 1) else None


def _of_hardware(places: Places, event: Event, host: str) -> int | None:
    pci = event.fields.get("pci")
    return _at_pci(places, host, pci_address(pci)) if pci and event.cause != OF_PROGRAMS else None


def _ranks_of_gpu(places: Places, event: Event, host: str) -> Iterable[tuple[str, int | None]]:
    """A GPU's address or index leads to a rank where the logs tie them, or where one node is all there is."""
    fields = event.fields
    if fields.get("pci"):
        pci = pci_address(fields["pci"])
        yield "the GPU's PCI address", _at_pci(places, host, pci)
        devices = places.devices_of_pci.get(pci, ())
        device = places.device_of_pci.get((host, pci), next(iter(devices)) if len(devices) == 1 else None)
    else:
        device = as_rank(fields.get("device"))
    if event.speaker.task is not None and places.tasks_are_ranks and not fields.get("pci"):
        return  # `srun --label` says before each line whose it is: ` 13: RuntimeError: CUDA out of memory. … (GPU 5; …`
    if event.traceback is not None and len(set(GPUS.findall(event.traceback.message))) > 1:
        return
    if _remote_pid(event) is not None:
        return  # Ray shows each of its tasks the GPUs of that task only, counted from 0
    if event.speaker.actor is not None and places.source_rank and event.source not in places.source_rank:
        return  # a server beside the trainer, whose ranks have files of their own, counts its GPUs from 0 too
    if event.traceback is not None and places.signed and event.source not in places.signed:
        return  # so does one whose exceptions do not say their rank, as the ranks' own do
    if device is not None and event.role in ("cause", "confirmation") and not places.has_actors:
        yield "the GPU index on its host", places.rank_of_local.get((host, device)) if host else None
        if event.source in places.first_of_source:
            yield "the launch command", places.first_of_source[event.source] + device
        yield "the GPU index on the only node", device if places.is_one_node and places.has_processes else None
