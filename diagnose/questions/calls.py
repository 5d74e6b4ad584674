"""In which call of the program did a rank wait when it gave up? Gloo's time-outs and lost peers are exceptions."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ..job.event import Event
from ..job.job import Job
from ..traces.library_paths import is_library
from ..traces.traceback import Link

WRAPPERS = ("wrapper", "decorator", "inner", "__call__", "_fn")


class Call(NamedTuple):
    """The operation, and the program's own line that called it."""

    operation: str
    place: str


Waits = dict[int, tuple[Event, Call]]


def find_waits(job: Job, tells: str) -> Waits:
    """Yield for each rank what it says of the kind (a time-out, a lost peer) and the call that it was in."""
    return job.once(_WAITS[tells])


def _waits(job: Job, tells: str) -> Waits:
    return {e.rank: (e, call) for e in job.telling(tells) if e.rank is not None and (call := _call(e)) is not None}


_WAITS = {tells: partial(_waits, tells=tells) for tells in ("collective-timeout", "peer-lost")}  # asked once of a job


def find_who_gave_up(job: Job) -> set[int]:
    """Who lost a peer in the very call in which others waited in vain: it waited with them, until one of them left."""
    places = {call.place for _, call in find_waits(job, "collective-timeout").values()}
    return {rank for rank, (_, call) in find_waits(job, "peer-lost").items() if call.place in places}


def find_elsewhere(job: Job) -> set[int]:
    """Who lost a peer in another operation than all that others waited for in vain: who is late would come to theirs."""
    waited = {call.operation for _, call in find_waits(job, "collective-timeout").values()}
    lost = {rank for rank, (_, call) in find_waits(job, "peer-lost").items() if call.operation not in waited}
    return lost if waited else set()


def _call(event: Event) -> Call | None:
    """The collective that a traceback ends in: the first call of a library below the program's own innermost line."""
    frames = event.traceback.frames if event.traceback is not None else ()
    own = max((n for n, frame in enumerate(frames) if not is_library(frame.file)), default=-1)
    below = [frame.function for frame in frames[own + 1 :] if frame.function not in WRAPPERS]
    if own < 0 or not below:
        return None
    file = frames[own].file.replace("\\", "/").rpartition("/")[2]
    return Call(below[0].rpartition(".")[2], f"{file}:{frames[own].line}")


def find_hidden(job: Job) -> tuple[Event, Link] | None:
    """Yield what the one rank said that gave up while it handled an exception of its own, and that exception."""
    ends = {e.rank: e for e in job.telling("collective-timeout", "peer-lost") if e.rank is not None and e.traceback}
    hidden = [(e, link) for e in ends.values() if (link := _handled(job, e)) is not None]
    if len(hidden) != 1 or len(ends) == 1 or any(e.role == "cause" for e in job.failures()):
        return None
    return hidden[0]


def _handled(job: Job, event: Event) -> Link | None:
    """The exception of the program, known to no rule, during whose handling the last one was raised."""
    link = event.traceback.handled_above(event.line or 0) if event.traceback is not None else None
    if link is None or not link.frames or is_library(link.frames[0].file):
        return None
    known = {e.line for e in job.events if e.source == event.source}
    return link if link.exception_line not in known else None
