"""Where does each rank's stack stand?

In a hang the largest group of equal stacks is the waiting crowd; the rank that stands elsewhere is the one they wait for.
All in one collective: nobody is at fault, the fault lies below (network, GPU). Two collectives: a desync.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Exhibit, Finding

if TYPE_CHECKING:
    from ..stacks import StackDump
    from ..traces.stack_tree import StackTree

Placed = tuple[int | str, str, "StackDump"]  # rank or label, source, dump
SLOW = {"save": "storage.slow-save"}
DEBUGGERS = ("py-spy", "pyspy", "gdb", "pstack", "eu-stack", "pystack", "cuda-gdb")


def placed_stacks(job: Job) -> list[Placed]:
    """Yield every dump of a live process with the rank it belongs to, or a label where no rank is known."""
    found: list[Placed] = []
    for source in job.sources:
        for dump in source.stacks:
            rank = dump.rank if dump.rank is not None else job.places.source_rank.get(source.name)
            if rank is None and dump.pid is not None:
                host = job.places.source_host.get(source.name, "")
                rank = job.places.rank_of_pid.get((host, dump.pid), job.places.rank_of_pid.get(("", dump.pid)))
            found.append((rank if rank is not None else f"{source.name}:{dump.line}", source.name, dump))
    return found


def stack_tree(job: Job) -> StackTree | None:
    """Yield all ranks' stacks merged, if there are any."""
    placed = placed_stacks(job)
    if not placed:
        return None
    from ..traces.stack_tree import merge_stacks

    return merge_stacks((label, dump) for label, _, dump in placed)


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where the stacks of at least two live ranks are at hand."""
    placed = [p for p in placed_stacks(job) if not p[2].reason]  # a reason: the process died there
    if len({label for label, _, _ in placed}) < 2:
        return
    from ..traces.stack_tree import merge_stacks

    tree = merge_stacks((label, dump) for label, _, dump in placed)
    ranks = tuple(sorted(x for x in tree.suspects if isinstance(x, int)))
    crowd = [x for x in tree.crowd if isinstance(x, int)]
    if tree.pattern == "together":
        yield Finding("collective.timeout", _together(tree), _shown(job, placed, tree.crowd[:1]), question="standing")
    elif tree.pattern in ("waiting", "desync") and tree.suspects and len(tree.suspects) <= len(tree.crowd):
        group = next(g for g in tree.groups if tree.suspects[0] in g.ranks)
        cause = (
            "collective.desync" if tree.pattern == "desync" else SLOW.get(group.standing.kind, "collective.straggler")
        )
        frame = group.standing.frame or group.frames[-1]
        own = next((f for f in reversed(group.frames) if not _is_library(f.file)), frame)
        where = f"{own.function} ({own.file}:{own.line})"
        inner = f" ({frame.function})" if frame.function != own.function else ""
        why = f"Ranks {rank_ranges(crowd)} wait in a collective; rank {rank_ranges(ranks) or '?'} stands in {where}{inner}."
        shown = _shown(job, placed, tree.suspects[:2]) + _shown(job, placed, tree.crowd[:1])
        yield Finding(cause, why, shown, ranks, question="standing")


def _is_library(path: str) -> bool:
    from ..traces.library_paths import is_library

    return is_library(path)


def _together(tree: StackTree) -> str:
    group = tree.groups[0]
    frame = group.standing.frame or group.frames[-1]
    where = f"All {len(tree.crowd)} stacks stand in {frame.function}"
    return f"{where}: every rank is in the collective, so the fault lies below it."


def _shown(job: Job, placed: list[Placed], labels: tuple[int | str, ...]) -> tuple[Exhibit, ...]:
    """The innermost frames of these ranks' main threads, at their own lines."""
    from ..traces.stack_tree import main_thread

    found = []
    for label in labels:
        _, source, dump = next(p for p in placed if p[0] == label)
        main = main_thread(dump)
        frame = main.frames[-1] if main else None
        line, text = dump.line, ""
        if frame is not None:
            text = f"{frame.function} ({frame.file}:{frame.line})"
            line, text = _line_of(job, source, dump, frame.function) or (line, text)
        found.append(Exhibit(source, line, text, label if isinstance(label, int) else None))
    return tuple(found)


def _line_of(job: Job, source: str, dump: StackDump, function: str) -> tuple[int, str] | None:
    lines = next(s.lines for s in job.sources if s.name == source)
    inside = (x for x in lines if dump.line <= x.number <= dump.end_line)
    return next(((x.number, x.raw) for x in inside if function in x.message), None)
