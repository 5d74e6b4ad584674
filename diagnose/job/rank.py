"""Gives an event its rank, host and process: the ways from what it says to a rank, the surest first."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from ..lines.lazy_pattern import lazy
from ..lines.path_identity import PathIdentity
from .copies import is_repetition
from .event import Event, SourceEvents
from .identity_table import HERE, LOOPBACK, Places, as_rank, is_default_group, labelled_rank, own_rank, pci_address

SPAWNED = lazy(r"-- Process (\d{1,4}) terminated with the following error")
# `2m          Normal    Preempted          pod/sft-worker-1    Preempted by pod 5f3e1c77 on node gpu-node-5`
EVENTS_ROW = lazy(
    r"\S{1,20}(?: \(x\d{1,6} over \S{1,12}\))? {1,20}(?:Normal|Warning) {1,20}\w{1,60} {1,60}pods?/([\w.-]{1,253}) "
)
REMOTE = lazy(r"\(pid=(\d{1,9})[,)]")
# Of hardware the address tells whose GPU broke: when a link goes down, the driver ends what each peer's process runs on
# that GPU, and names the peer's process. Of what a program did it is the process that tells.
OF_PROGRAMS = "gpu.illegal-access"
NOTHING_KNOWN = PathIdentity()


def place_all(places: Places, sources: Sequence[SourceEvents]) -> None:
    """Place every event."""
    for source in sources:
        for event in source.all_events():
            place_event(places, event)
        _place_boxed(source)


def place_event(places: Places, event: Event) -> None:
    """Fill in host, process, local rank and rank; none of what is said of the whole job."""
    if event.rule.teller == "job":
        return
    fields, speaker = event.fields, event.speaker
    path = places.by_source.get(event.source, NOTHING_KNOWN)
    own_host = places.host(speaker.host) or _pod_of_row(places, event)
    around = _where_it_speaks(places, event, own_host)
    told = places.host(fields.get("host"))
    event.host = around if told == LOOPBACK or (around and told in HERE) else told or around
    event.host_from = "the line" if told or own_host else "the file's name or content" if event.host else ""
    own = speaker.pid if speaker.pid is not None else _remote_pid(event)
    event.pid = next((x for x in (fields.get("pid"), own, path.pid) if isinstance(x, int)), None)
    spawned = SPAWNED.search(event.traceback.message) if event.traceback else None  # numbered by local rank
    told_local = (as_rank(fields.get("local_rank")), speaker.local_rank, path.local_rank)
    locals_ = (*told_local, int(spawned[1]) if spawned else None)
    event.local_rank = next((x for x in locals_ if x is not None), None)
    for how, rank in _ranks_of(places, event, path):
        if rank is not None and as_rank(rank) is not None:
            event.rank, event.rank_from = rank, how
            event.host = event.host if event.host_from == "the line" else places.host_of.get(rank, event.host)
            event.local_rank = places.local_of.get(rank) if event.local_rank is None else event.local_rank
            break


def _where_it_speaks(places: Places, event: Event, own_host: str | None) -> str | None:
    """The host of the process: Ray says by its address on which node a worker is whose words the driver's console shows."""
    speaker = event.speaker
    if speaker.ip is not None and speaker.pid is not None and (own_host or speaker.pod):
        return places.host_of_ip.get(speaker.ip)
    return own_host or places.host(speaker.pod) or places.source_host.get(event.source)


def _pod_of_row(places: Places, event: Event) -> str | None:
    """A pod is its own host to the job; `kubectl get events` tells of all pods, one a row."""
    if event.rule.tells == "progress":  # its words would have to be read anew
        return None
    match = EVENTS_ROW.match(event.raw) if "pod" in event.raw else None
    return places.host(match[1]) if match else None


def _place_boxed(source: SourceEvents) -> None:
    """Give what torchrun's summary repeats of an exception the rank of the entry that it stands in."""
    boxed = [e for e in source.events if e.rank is None and e.traceback is not None and is_repetition(e)]
    ends = source.telling("exit") if boxed else ()
    entries = [e for e in ends if e.rank is not None and e.fields.get("time") is not None]
    lines = [e.line or 0 for e in entries]
    for event in boxed:
        begin = event.traceback.line if event.traceback is not None else 0
        at = bisect_left(lines, begin) - 1
        if at >= 0:
            event.rank, event.rank_from = entries[at].rank, "the entry of torchrun's summary"
            event.local_rank, event.pid = entries[at].local_rank, entries[at].pid
            event.host = event.host if entries[at].host in HERE else entries[at].host or event.host


def _remote_pid(event: Event) -> int | None:
    """Ray's driver prints a worker's exception with its pid, the innermost last: `ray::Trainer.step() (pid=28716)`."""
    tb = event.traceback
    if tb is None:
        return None
    printed = [(tb.exception_line, tb.message), *((link.exception_line, link.message) for link in tb.links)]
    named = [(number, int(m[1])) for number, text in printed if (m := REMOTE.search(text[:2000]))]
    above = [each for each in named if each[0] <= (event.line or 0)] or named[:1]
    return max(above)[1] if above else None


def _stated(places: Places, event: Event) -> int | None:
    if event.rule.tells == "identity":
        return own_rank(event, places.world_size)
    told = as_rank(event.fields.get("rank"))
    return event.traceback.of_rank if told is None and event.traceback is not None else told


def _ranks_of(places: Places, event: Event, path: PathIdentity) -> Iterable[tuple[str, int | None]]:
    """The ways to a rank, the surest first."""
    fields, speaker, tells, pid = event.fields, event.speaker, event.rule.tells, event.pid
    host = event.host or ""
    yield "the message", _stated(places, event)
    if fields.get("pci") and event.cause != OF_PROGRAMS:
        yield "the GPU's PCI address", _at_pci(places, host, pci_address(fields["pci"]))
    about_other = tells in ("exit", "killed", "signal-sent") and fields.get("pid") is not None
    if not about_other and not (tells == "exit" and fields.get("local_rank") is not None):
        yield "the line's prefix", speaker.rank
        yield "the file", places.source_rank.get(event.source)
    if pid is not None:
        yield "the process id", _with_pid(places, event, pid)
        yield "the process id", places.rank_started.get((host, pid)) if tells == "killed" else None
    if not about_other and path.pid is not None:  # the message may tell of a child of the process whose file this is
        yield "the file's process id", _with_pid(places, event, path.pid)
    if not about_other and speaker.actor is not None and speaker.pid is not None:
        yield "the actor", places.rank_of_actor.get((speaker.actor, speaker.pid, speaker.ip or ""))
    if about_other and tells != "exit":
        return
    yield "the engine's label", labelled_rank(speaker)
    yield from _ranks_of_local(places, event, host)
    yield from _ranks_of_gpu(places, event, host)
    tasks = fields.get("ranks")  # of `srun: error: node7: task 3: Killed`
    stated = as_rank(tasks[0] if isinstance(tasks, list) and len(tasks) == 1 else fields.get("task"))
    if places.tasks_are_ranks:
        yield "the task number", next((x for x in (stated, speaker.task, path.task) if x is not None), None)
    yield "the rank in the process group", as_rank(fields.get("group_rank")) if is_default_group(fields) else None


def _with_pid(places: Places, event: Event, pid: int) -> int | None:
    """Yield the rank with a process id on the event's host, or on any if it is not known to be on another one."""
    ranks: Mapping[tuple[str, int], int | None] = places.rank_of_pid
    if (event.host or "", pid) in ranks:
        return ranks[event.host or "", pid]
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
        if places.is_one_node:
            yield "the local rank on the only node", event.local_rank
        elif not host:
            yield "the local rank", places.rank_with_local.get(event.local_rank)


def _at_pci(places: Places, host: str, pci: str) -> int | None:
    """Look up the rank at a PCI address: hosts of one kind have the same ones, so another host's tells nothing."""
    if (found := places.rank_of_pci.get((host, pci))) is not None:
        return found
    hosts = places.hosts_of_pci.get(pci, ())
    return places.rank_of_pci.get(("", pci)) if not hosts or (not host and len(hosts) == 1) else None


def _ranks_of_gpu(places: Places, event: Event, host: str) -> Iterable[tuple[str, int | None]]:
    """A GPU's address or index leads to a rank where the logs tie them, or where one node is all there is.

    Ray shows each of its tasks the GPUs of that task only, counted from 0; so does a server beside the trainer see its own.
    """
    pci = pci_address(event.fields["pci"]) if event.fields.get("pci") else None
    of_pci = places.device_of_pci
    device = as_rank(event.fields.get("device")) if pci is None else of_pci.get((host, pci), of_pci.get(("", pci)))
    if pci is not None:
        yield "the GPU's PCI address", _at_pci(places, host, pci)
    elif event.speaker.task is not None or event.speaker.actor is not None or _remote_pid(event) is not None:
        return
    if event.traceback is not None and places.signed and event.source not in places.signed:
        return
    if device is not None and event.role in ("cause", "confirmation"):
        yield "the GPU index on its host", places.rank_of_local.get((host, device)) if host else None
        is_counted = pci is not None and places.is_one_node and places.has_processes  # a process may see some GPUs only
        yield "the GPU index on the only node", device if is_counted else None
