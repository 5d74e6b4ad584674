"""In which call of the program did a rank wait when it gave up? Gloo's time-outs and lost peers are exceptions."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from ..traces.library_paths import is_library
from ..traces.traceback import Link
from .event import Event
from .job import Job

WRAPPERS = ("wrapper", "decorator", "inner", "__call__", "_fn")
WAITS = ("collective-timeout", "peer-lost")


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


_WAITS = {tells: partial(_waits, tells=tells) for tells in WAITS}  # asked once of a job


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


def find_handled(job: Job) -> list[tuple[Event, Link]]:
    """Yield, of each rank that gave up while it handled an exception of its own, what it said and that exception.

    A `finally` that ends in a barrier never comes back: what is printed last is the wait, and above it what began it.
    Where all that gave up handled the same, it is how the program is written, and tells nothing.
    """
    return job.once(_all_handled)


def _all_handled(job: Job) -> list[tuple[Event, Link]]:
    ends = {e.rank: e for e in job.telling(*WAITS) if e.rank is not None and e.traceback}
    found = [(e, link) for e in ends.values() if (link := _handled(job, e)) is not None]
    return found if len(found) < max(len(ends), 2) else []


def _handled(job: Job, event: Event) -> Link | None:
    """The exception of the program, known to no rule, during whose handling the last one was raised."""
    link = event.traceback.handled_above(event.line or 0) if event.traceback is not None else None
    if link is None or not link.frames or is_library(link.frames[0].file):
        return None
    is_known = any(e.line == link.exception_line and e.source == event.source for e in job.events)
    return None if is_known else link
