"""Which processes had died by themselves under a launcher that nobody told to stop, while launchers elsewhere were told?

Who ends a job from outside tells every launcher. Where one of them found its process dead, and had been told nothing, the
others were told because of it: by the scheduler, or by the launcher of the launchers. Clocks of hosts need not agree on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..job.event import FAILING, Event
from ..job.exit import is_terminated
from ..job.job import Job

LOST = ("peer-lost", "collective-timeout", "collective-status")  # what a process may die of whose peers were told to stop


def died_untold(job: Job) -> list[Event]:
    """Ends of processes that may have come before any launcher was told to stop, on hosts where none was."""
    told = [e for e in job.telling("signal-received") if e.rank is None]
    if not told:
        return []
    hosts, sources = {e.host for e in told}, {e.source for e in told}
    lost = {e.rank for tells in LOST for e in job.telling(tells)}
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and e.rank not in lost]
    elsewhere = [e for e in ends if e.host is not None and e.host not in hosts and None not in hosts]
    alone = [e for e in ends if e.source not in sources and e.host is None]
    return [e for e in (*elsewhere, *alone) if all(_may_be_before(job, e, x) for x in told)]


def _may_be_before(job: Job, end: Event, told: Event) -> bool:
    """Whether the launcher had begun to end the others, or may have, before the other launcher was told."""
    if end.source == told.source:
        return min(_first_lines(job, end)) < (told.line or 0)
    if end.onset is None or told.onset is None:
        return True
    return end.onset < told.onset + job.clocks.uncertainty_s(end, told)


def _first_lines(job: Job, end: Event) -> Sequence[int]:
    """Where, in a console of several hosts, this one's launcher says that it ends the others, and that one had died."""
    sent = [e.line or 0 for e in job.telling("signal-sent") if e.source == end.source and e.host == end.host]
    return [*sent, end.line or 0]
