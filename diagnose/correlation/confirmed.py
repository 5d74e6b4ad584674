"""What does the kernel say of a process that died?

A kernel line (a crash, a GPU error) proves a cause, but names a process rather than a rank. Where that process is known to
be a rank's, and the rank is known to have failed, the line says why. A line about any other process proves nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from .finding import Exhibit, Finding


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for the first line that tells of a failed rank's own process."""
    earlier = {id(e) for e in job.earlier}
    failed = {e.rank: e for e in reversed(job.failures()) if e.rank is not None}
    for event in job.events:
        rank = _rank_of(job, event) if event.role == "confirmation" and id(event) not in earlier else None
        if rank in failed and event.cause is not None:
            why = f"{_speaker(event)} tells of process {_process(event)}, which was rank {rank}, and rank {rank} failed."
            shown = (Exhibit.of_event(event), Exhibit.of_event(failed[rank]))
            yield Finding(
                event.cause, why, shown, (rank,), onset=event.onset, fields=event.fields, question="confirmed"
            )  # fmt: skip
            return


def _process(event: Event) -> int | None:
    """The main thread has the number of its process."""
    number = event.fields.get("pid", event.fields.get("tid"))
    return number if isinstance(number, int) else None


def _rank_of(job: Job, event: Event) -> int | None:
    pid = _process(event)
    return None if pid is None else job.places.rank_of_pid.get((event.host or "", pid))


def _speaker(event: Event) -> str:
    return f"The log of {event.host}" if event.host else "The log"
