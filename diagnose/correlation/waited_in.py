"""In which call did each rank wait when it gave up?

Gloo's time-outs are exceptions, so each rank's traceback shows the collective that it waited in. All must be in the same
one; a rank that waited in another left the common order: it called a barrier too many, or its loop ended earlier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ..events import Event
from ..job import Job
from ..traces.library_paths import is_library
from ..words.ranges import rank_ranges
from .finding import Exhibit, Finding

PAIRED = ("send", "recv")  # the other end is in another call by right
ONE_SIDED = ("broadcast", "scatter", "gather", "reduce")  # who sends is through: whoever still waits need not be wrong
WRAPPERS = ("wrapper", "decorator", "inner", "__call__", "_fn")


class Call(NamedTuple):
    """The operation, and the program's own line that called it."""

    operation: str
    place: str


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where one rank waited in another operation than all others."""
    waits = {e.rank: (e, call) for e in job.telling("collective-timeout") if e.rank is not None and (call := _call(e))}
    by_operation: dict[str, list[int]] = defaultdict(list)
    for rank, (_, call) in sorted(waits.items()):
        by_operation[call.operation].append(rank)
    if len(by_operation) != 2 or any(part in name for name in by_operation for part in PAIRED):
        return
    (_, few), (_, crowd) = sorted(by_operation.items(), key=lambda group: (len(group[1]), group[0]))
    if len(few) > 1 or (job.world_size or 0) > len(waits):
        return
    event, call = waits[few[0]]
    usual = waits[crowd[0]][1]
    others = f"rank{'s' if len(crowd) > 1 else ''} {rank_ranges(crowd)}"
    why = f"Rank {few[0]} waited in {call.operation} ({call.place}), {others} in {usual.operation} ({usual.place})."
    shown = (Exhibit.of_event(event), Exhibit.of_event(waits[crowd[0]][0]))
    onset = min((e.onset for e, _ in waits.values() if e.onset is not None), default=None)
    is_told = len(crowd) > 1 and not any(name.startswith(ONE_SIDED) for name in by_operation)
    ranks = tuple(few) if is_told else ()
    yield Finding("collective.desync", why, shown, ranks, onset=onset, question="waited_in")


def _call(event: Event) -> Call | None:
    """The collective that a traceback ends in: the first call of a library below the program's own innermost line."""
    frames = event.traceback.frames if event.traceback is not None else ()
    own = max((n for n, frame in enumerate(frames) if not is_library(frame.file)), default=-1)
    below = [frame.function for frame in frames[own + 1 :] if frame.function not in WRAPPERS]
    if own < 0 or not below:
        return None
    file = frames[own].file.replace("\\", "/").rpartition("/")[2]
    return Call(below[0].rpartition(".")[2], f"{file}:{frames[own].line}")
