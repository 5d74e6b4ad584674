"""In which call of the program did a rank wait when it gave up? Gloo's time-outs and lost peers are exceptions."""

from __future__ import annotations

from typing import NamedTuple

from ..events import Event
from ..job import Job
from ..traces.library_paths import is_library

WRAPPERS = ("wrapper", "decorator", "inner", "__call__", "_fn")


class Call(NamedTuple):
    """The operation, and the program's own line that called it."""

    operation: str
    place: str


Waits = dict[int, tuple[Event, Call]]


def find_waits(job: Job, tells: str) -> Waits:
    """Yield for each rank what it says of the kind (a time-out, a lost peer) and the call that it was in."""
    return {e.rank: (e, call) for e in job.telling(tells) if e.rank is not None and (call := _call(e)) is not None}


def find_who_gave_up(job: Job) -> set[int]:
    """Who lost a peer in the very call in which others waited in vain: it waited with them, until one of them left."""
    places = {call.place for _, call in find_waits(job, "collective-timeout").values()}
    return {rank for rank, (_, call) in find_waits(job, "peer-lost").items() if call.place in places}


def _call(event: Event) -> Call | None:
    """The collective that a traceback ends in: the first call of a library below the program's own innermost line."""
    frames = event.traceback.frames if event.traceback is not None else ()
    own = max((n for n, frame in enumerate(frames) if not is_library(frame.file)), default=-1)
    below = [frame.function for frame in frames[own + 1 :] if frame.function not in WRAPPERS]
    if own < 0 or not below:
        return None
    file = frames[own].file.replace("\\", "/").rpartition("/")[2]
    return Call(below[0].rpartition(".")[2], f"{file}:{frames[own].line}")
