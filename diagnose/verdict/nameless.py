"""Whose was it? An error that names no rank, beside what ranks of its host felt of it, or how they ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..job.event import FAILING, Event
from ..job.exit import CRASHES, ONCE, is_sigkill, is_terminated
from ..job.job import CERTIFICATES, Job
from .devices import has_another_device, is_end_of_all
from .said_alike import is_said_by_several
from .suspects import STATED, Suspect

if TYPE_CHECKING:
    from .decision import Verdict

SILENT = ("absent", "silence")
OF_RAY = ("ray.", "memory.ray-oom")  # told by the raylet, the GCS or the driver


def victims(job: Job, verdict: Verdict) -> set[int]:
    """A cause known by its host alone (a kernel line) fell on the one rank there that says what it felt.

    What a process raises in a file of its own fell on that process, as on a server that the rank only asks.
    """
    hosts = {s.host for s in verdict.roots}
    raised = {s.first.source for s in verdict.roots if s.first is not None and s.first.traceback is not None}
    felt = {
        s.rank
        for s in verdict.suspects
        if s.direct == STATED
        and s.rank is not None
        and (s.host in hosts or hosts == {None})
        and any(t in verdict.roots for t in s.explained_by)
        and (not raised or (s.first is not None and s.first.source in raised))
    }
    fallen = felt or _silent_there(verdict, hosts)
    fallen = {r for r in fallen if not any(has_another_device(job, s, r) for s in verdict.roots)}
    return fallen if len(fallen) == 1 else set()


def _silent_there(verdict: Verdict, hosts: set[str | None]) -> set[int]:
    """The ranks of those hosts that say nothing any more, where that is taken for a consequence: a killed one cannot."""
    silent = (s for s in verdict.suspects if s.finding is not None and s.finding.question in (*SILENT, "certificates"))
    silent = (s for s in silent if s.host is not None and s.host in hosts)
    return {s.rank for s in silent if s.rank is not None and any(t in verdict.roots for t in s.explained_by)}


def first_ended(job: Job, verdict: Verdict) -> set[int]:
    """An error that names no rank is that of the first process which its launcher then finds dead, on the same host.

    Ranks that say, by their number, what they failed of themselves did not say it; the one that is left over did. Not so
    of what Ray tells of a worker: engines, drivers and the ranks of other roles are workers too.
    """
    root = verdict.roots[0].first
    if root is None or root.rule.tells == "exit" or is_said_by_several(verdict) or all(map(only_compares, verdict.roots)):
        return set()
    said = (e for e in job.failures() if e.source == root.source and e.rule.tells not in CERTIFICATES)
    own = {e.rank for e in said if e.rank is not None}
    left = set(range(job.world_size or 0)) - own
    if own and len(left) == 1 and max(own) < (job.world_size or 0) and not (root.cause or "").startswith(OF_RAY):
        return left
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and _may_tell_of(e, root)]
    later = [e for e in ends if e.source != root.source or (e.line or 0) > (root.line or 0)]
    death = "process.abort" if root.cause == "memory.host-alloc" else root.cause  # in C++ nobody may have caught it
    by_signal = [e for e in later if death in CRASHES and e.cause == death]
    later = by_signal or later  # of a crash, who died by its signal
    if root.rule.tells == "killed":
        later = [e for e in later if is_sigkill(e)]  # whoever ended otherwise had not been killed
    elif root.traceback is not None:  # Python leaves with code 1; SIGABRT is what watchdogs end the others with
        later = [e for e in later if e.fields.get("exit_code") == 1] or later
    is_one_host = len({e.host for e in later} | {None}) == 2  # there its agent names one: the first that it found dead
    later.sort(key=lambda e: (is_one_host and e.rule.id != ONCE, e.time is None, int(e.time or 0), e.source, e.line or 0))
    if later and is_end_of_all(job, verdict.roots[0], later[0], later[1:]):
        return set()
    found = {r for e in later[:1] if (r := e.rank) is not None and not _is_one_of_many_alike(e, later)}
    return found - own


def _is_one_of_many_alike(end: Event, ends: list[Event]) -> bool:
    """srun tells without a time, host by host, of all tasks that ended with the same code: any of them may be the first."""
    code = end.fields.get("exit_code")
    alike = [e for e in ends if e.time is None and e.fields.get("exit_code") == code and e.rank != end.rank]
    return end.time is None and isinstance(code, int) and code > 0 and bool(alike)


def _may_tell_of(end: Event, root: Event) -> bool:
    """Whether a process of the host where the error was printed has ended; one console may hold several hosts."""
    if end.host is not None and root.host is not None:
        return end.host == root.host
    return end.source == root.source


def only_compares(suspect: Suspect) -> bool:
    """Whether the rank only found that another one differs from it, which is no more its fault than the other's."""
    return bool(suspect.events) and all(e.rule.tells == "collective-mismatch" for e in suspect.events)
