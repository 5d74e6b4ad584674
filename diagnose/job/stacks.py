"""Every dumped stack with the rank it belongs to, and all of them merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..traces.traceback_lines import is_library
from .identity_table import Places
from .job import Job

if TYPE_CHECKING:
    from ..traces.stack_forms import StackDump
    from ..traces.stack_tree import StackGroup, StackTree


class Placed(NamedTuple):
    """A dump with its rank, or a label where no rank is known."""

    label: int | str
    source: str
    dump: StackDump


def placed_stacks(job: Job) -> list[Placed]:
    """Yield every dump of a live process."""
    found = []
    for source in job.sources:
        # the one rank that a file's lines name, or that its place tells, where all its dumps are of one process
        ranks = {*(x.rank for x in source.speakers), *(e.rank for e in source.events)} - {None} if source.stacks else {None}
        only = ranks.pop() if len(ranks) == 1 == len({_process(dump) for dump in source.stacks}) else None
        for dump in source.stacks:
            rank = _rank_of(job.places, source.name, dump)
            rank = rank if rank is not None else only
            found.append(Placed(rank if rank is not None else f"{source.name}:{_process(dump)}", source.name, dump))
    return found


def stack_tree(job: Job) -> StackTree | None:
    """Yield all ranks' stacks merged, if there are any."""
    placed = placed_stacks(job)
    return merged(placed) if placed else None


def merged(placed: list[Placed]) -> StackTree:
    """Yield these stacks merged."""
    from ..traces.stack_tree import merge_stacks

    return merge_stacks((each.label, each.dump) for each in placed)


def innermost_line(job: Job, placed: Placed) -> tuple[int, str]:
    """Yield where the main thread's innermost frame is printed, and the words there."""
    from ..traces.stack_tree import main_thread

    main = main_thread(placed.dump)
    frame = main.frames[-1] if main else None
    if frame is None:
        return placed.dump.line, ""
    lines = next(s.lines() for s in job.sources if s.name == placed.source)
    lines = [x for x in lines if placed.dump.line <= x.number <= placed.dump.end_line]
    head = next((x.number for x in lines if main and main.thread_id and main.thread_id in x.message), 0)
    inside = [x for x in lines if frame.function in x.message and x.number > head]
    exact = (x for x in inside if frame.line is None or str(frame.line) in x.message)
    told = (placed.dump.line, f"{frame.function} ({frame.file}:{frame.line})")
    return next(((x.number, x.raw) for x in (*exact, *inside)), told)


def where(group: StackGroup) -> str:
    """Yield the program's own innermost line, and the call that it stands in: `step (train.py:9) (all_reduce)`."""
    frame = group.standing.frame or group.frames[-1]
    own = next((f for f in reversed(group.frames) if not is_library(f.file)), frame)
    inner = f" ({frame.function})" if frame.function != own.function else ""
    place = f" ({own.file}{f':{own.line}' if own.line else ''})" if own.file else ""
    return f"{own.function}{place}{inner}"


def _rank_of(places: Places, source: str, dump: StackDump) -> int | None:
    """Find whose dump it is: said above it, by its file, by its pid, or by a local rank on a host that is known."""
    if dump.rank is not None:
        return dump.rank
    host, rank = places.source_host.get(source, ""), places.source_rank.get(source)
    if rank is None and dump.pid is not None:
        rank = places.rank_of_pid.get((host, dump.pid), places.rank_of_pid.get(("", dump.pid)))
    if rank is None and dump.local_rank is not None and host:
        rank = places.rank_of_local.get((host, dump.local_rank))
    return rank


def _process(dump: StackDump) -> str:
    """Name a process without a rank, the same in each of its dumps: main threads with other ids are other processes."""
    if dump.pid is not None:
        return f"pid {dump.pid}"
    main = next((t.thread_id for t in dump.threads if t.is_main and t.thread_id), "")
    return f"thread {main}" if main else f"line {dump.line}"
