"""Whose GPU broke? What the kernel says of GPUs, links and switches, beside what is known of each rank's own GPU."""

from __future__ import annotations

from collections.abc import Sequence

from ..job.event import Event
from ..job.exit import ended_at
from ..job.job import Job
from ..job.places import pci_address
from .suspects import Suspect, names_device

OF_GPUS, LINK, ABORTED = "gpu.", "gpu.nvlink", "process.abort"
OF_PYXIS = "error: pyxis: "
SOON_S = 60.0  # so long at most a process lives on after its GPU broke, where no watchdog had to end it
LEAD_S = 5.0  # by which a process has to have died before those that died alike


def is_of_kernel(event: Event) -> bool:
    """Yield whether the kernel says it of a device, and no process of what it met."""
    return names_device(event) and event.traceback is None


def is_of_host(suspect: Suspect) -> bool:
    """Yield whether all that states it is of a host, and of none of its ranks: a switch, a service, a container's start.

    `22: slurmstepd: error: pyxis:     nvidia-container-cli: …`: task 22 is the one for which its node began to set it up.
    """
    stated = [e for e in suspect.events if e.role == "cause"] or suspect.events
    return bool(stated) and all(e.rule.blame == "host" or OF_PYXIS in e.raw for e in stated)


def without_peers(roots: Sequence[Suspect]) -> Sequence[Suspect]:
    """Yield those whose own device broke, where the kernel tells: other GPUs only felt it.

    When a link goes down, its GPU prints Xid 149, and each GPU that had mapped its memory Xid 145 and 45; all their ranks
    raise `CUDA error: uncorrectable NVLink error`. Of other faults, Xid 45 on a GPU only says that its channels were ended.
    """
    told = [s for s in roots if any(map(is_of_kernel, s.events))]
    if not told or not roots[0].cause.startswith(OF_GPUS):
        return roots
    best = min(map(_remoteness, told))
    kept = [s for s in told if _remoteness(s) == best or (s.cause != LINK and best[0])]
    others = [s for s in roots if s not in told and s.cause != LINK]
    switches = {s.host for s in kept if is_of_host(s)}
    felt = [s for s in kept if not is_of_host(s) and s.host in switches]
    return [*(kept if len(felt) < 2 else [s for s in kept if s not in felt]), *others]


def _remoteness(suspect: Suspect) -> tuple[bool, bool]:
    """How far from the fault the kernel speaks: only of what came of it, at the other end of a link."""
    return min((e.role != "cause", bool(e.fields.get("at_peer"))) for e in suspect.events if is_of_kernel(e))


def is_at_other_end(roots: Sequence[Suspect]) -> bool:
    """Yield whether all GPUs of which the kernel says that a link failed had another GPU, or a switch, at fault for it."""
    told = [s for s in roots if s.cause == LINK and any(map(is_of_kernel, s.events))]
    return bool(told) and min(map(_remoteness, told))[1]


def has_another_device(job: Job, suspect: Suspect, rank: int) -> bool:
    """Yield whether the rank is known to work on other GPUs than the one of which the kernel speaks."""
    told = {pci_address(e.fields["pci"]) for e in suspect.events if is_of_kernel(e)}
    own = {pci for (_, pci), known in job.places.rank_of_pci.items() if known == rank}
    return bool(told and own) and told.isdisjoint(own)


def is_end_of_all(job: Job, suspect: Suspect, end: Event, ends: Sequence[Event]) -> bool:
    """Yield whether a rank ended as all do of which one's GPU broke, or because of another GPU: then it tells nothing.

    Each rank's watchdog ends it when a collective has run out, and which one its launcher finds dead first is chance.
    """
    root = suspect.first
    if root is None or end.rank is None or not is_of_kernel(root):
        return False
    if any(e.rank == end.rank for e in job.telling("collective-timeout")) or has_another_device(job, suspect, end.rank):
        return True
    at = ended_at(end)
    is_late = root.time is not None and at is not None and at > root.time + SOON_S
    return (end.cause == ABORTED and is_late) or any(_is_alike(end, other) for other in ends)


def _is_alike(end: Event, other: Event) -> bool:
    """Whether another rank of the host died in the same way, and not clearly later."""
    if other.rank == end.rank or other.cause != end.cause or other.fields.get("exit_code") != end.fields.get("exit_code"):
        return False
    at, theirs = ended_at(end), ended_at(other)
    return at is None or theirs is None or theirs - at < LEAD_S
