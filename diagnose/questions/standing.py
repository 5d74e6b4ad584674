"""Where does each rank's stack stand?

In a hang the largest group of equal stacks is the waiting crowd; the rank that stands elsewhere is the one they wait for.
All in one collective: nobody is at fault, the fault lies below (network, GPU). Two collectives: a desync.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..job.job import Job
from ..lines.lazy_pattern import lazy
from ..lines.rank_ranges import rank_ranges
from .finding import Certainty, Exhibit, Finding

if TYPE_CHECKING:
    from ..job.event import SourceEvents
    from ..job.places import Places
    from ..traces.stack_forms import StackFrame
    from ..traces.stack_tree import StackGroup, StackTree
    from ..traces.stacks import StackDump

Placed = tuple[int | str, str, "StackDump"]  # rank or label, source, dump
EXIT_CODE = "process.exit-code"
SLOW = {"save": "storage.slow-save"}
PAIR = lazy(r"send|recv", re.IGNORECASE)


def placed_stacks(job: Job) -> list[Placed]:
    """Yield every dump of a live process with the rank it belongs to, or a label where no rank is known."""
    found: list[Placed] = []
    for source in job.sources:
        only = _only_rank(source) if source.stacks else None
        for dump in source.stacks:
            rank = _rank_of(job.places, source.name, dump)
            rank = rank if rank is not None else only
            found.append((rank if rank is not None else f"{source.name}:{_process(dump)}", source.name, dump))
    return found


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


def _only_rank(source: SourceEvents) -> int | None:
    """Find the one rank that a file's lines name, or that its place tells, where all its dumps are of one process."""
    ranks = {*(speaker.rank for speaker in source.speakers), *(event.rank for event in source.events)} - {None}
    is_one = len(ranks) == 1 == len({_process(dump) for dump in source.stacks})
    return ranks.pop() if is_one else None


def _process(dump: StackDump) -> str:
    """Name a process without a rank: the same in each of its dumps."""
    if dump.pid is not None:
        return f"pid {dump.pid}"
    main = next((t.thread_id for t in dump.threads if t.is_main and t.thread_id), "")
    return f"thread {main}" if main else f"line {dump.line}"


def stack_tree(job: Job) -> StackTree | None:
    """Yield all ranks' stacks merged, if there are any."""
    placed = placed_stacks(job)
    if not placed:
        return None
    from ..traces.stack_tree import merge_stacks

    return merge_stacks((label, dump) for label, _, dump in placed)


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where the stacks of live ranks are at hand, and show no progress."""
    went_on = {s.name: s.last_sign_line or 0 for s in job.sources}
    placed = [p for p in placed_stacks(job) if p[2].is_live and went_on[p[1]] <= p[2].end_line]
    if len({label for label, _, _ in placed}) < 2:
        yield from _alone(job, placed, any(went_on.values()))
        yield from _ended_by_its_timer(job, placed)
        return
    from ..traces.stack_tree import is_of_loader, merge_stacks

    placed = [p for p in placed if not is_of_loader(p[2])] or placed
    tree = merge_stacks((label, dump) for label, _, dump in placed)
    if len(tree.moving) > len(tree.stuck):
        return  # of those that were seen twice, most moved: slow, but no hang
    if tree.pattern == "together":
        yield _together(job, tree, placed)
    elif tree.pattern == "desync" and len(tree.suspects) != 1 and any(_is_pair(group) for group in tree.groups):
        return  # stages of a pipeline wait in sends while others wait in collectives; one alone holds its group up
    elif tree.pattern == "desync" and not tree.suspects:
        yield from _halves(job, tree, placed)
    elif tree.pattern in ("waiting", "backward", "desync") and len(tree.suspects) <= len(tree.crowd):
        yield _elsewhere(job, tree, placed)


def _alone(job: Job, placed: list[Placed], went_on: bool) -> Iterator[Finding]:
    """The stack of one process is all there is: who looks at a live process holds it for hung, and it waits for others."""
    if not placed or went_on or job.failures() or len(job.ranks) > 1:
        return
    from ..traces.stack_tree import merge_stacks

    groups = merge_stacks((label, dump) for label, _, dump in placed).groups
    for group in (g for g in groups[:1] if g.standing.kind == "collective"):
        why = f"The one process whose stack is here waits in {_where(group)}; whom it waits for, the others' stacks tell."
        shown = _shown(job, placed, (placed[-1][0],))
        yield Finding("collective.timeout", why, shown, certainty="possible", question="standing")


def _ended_by_its_timer(job: Job, placed: list[Placed]) -> Iterator[Finding]:
    """The one rank whose timer dumps its stacks and ends it; the others lose it.

    `faulthandler.dump_traceback_later(240, exit=True)` prints `Timeout (0:04:00)!` above where the rank stands.
    """
    own = [p for p in placed if p[2].reason.startswith("Timeout (") and isinstance(p[0], int)]
    said = {e.rank for e in job.failures() if e.rule.tells not in ("exit", "signal-sent") and e.cause != EXIT_CODE}
    if not own or own[0][0] in said or not said or any(e.rule.tells == "collective-timeout" for e in job.failures()):
        return
    from ..traces.stack_tree import merge_stacks

    group = merge_stacks((label, dump) for label, _, dump in own).groups[0]
    if group.standing.kind == "collective" or any(e.role == "cause" for e in job.failures()):
        return
    who = _named(group.ranks, "Rank")
    why = f"{who} stood in {_where(group)} until a timer of its own dumped its stack; the others lost it."
    yield Finding("collective.straggler", why, _shown(job, own, (own[0][0],)), _ranks(group.ranks), question="standing")


def _elsewhere(job: Job, tree: StackTree, placed: list[Placed]) -> Finding:
    """A crowd waits in a collective, the others are not in it."""
    group = next(g for g in tree.groups if tree.suspects[0] in g.ranks)
    is_desync = tree.pattern == "desync"
    cause = "collective.desync" if is_desync else SLOW.get(group.standing.kind, "collective.straggler")
    waits = "wait in a collective" if len(tree.crowd) > 1 else "waits in a collective"
    waits = "stand in one backward pass, in which gradients are reduced" if tree.pattern == "backward" else waits
    where = f"{_where(group)}{_since(tree)}"
    why = f"{_named(tree.crowd, 'Rank')} {waits}; {_named(tree.suspects, 'rank')} stands in {where}."
    shown = _shown(job, placed, tree.suspects[:2]) + _shown(job, placed, tree.crowd[:1])
    shown += _announced(job, placed, tree.suspects[0])
    # Two ranks or more may rightly be in a collective of a group of their own.
    certainty: Certainty = "possible" if is_desync and len(tree.suspects) > 1 else "likely"
    return Finding(cause, why, shown, _ranks(tree.suspects), certainty=certainty, question="standing")


def _since(tree: StackTree) -> str:
    """Say of ranks that were seen more than once whether they are slow or stuck."""
    if set(tree.suspects) <= set(tree.moving):
        return ", elsewhere than before"
    return ", as before" if set(tree.suspects) <= set(tree.stuck) else ""


def _halves(job: Job, tree: StackTree, placed: list[Placed]) -> Iterator[Finding]:
    """As many wait in one collective as in another."""
    first, second = tree.groups[:2]
    if len(tree.groups) > 2:
        return
    crowds = f"{_named(first.ranks, 'Rank')} wait in {_where(first)}, {_named(second.ranks, 'rank')} in {_where(second)}"
    shown = _shown(job, placed, first.ranks[:1]) + _shown(job, placed, second.ranks[:1])
    yield Finding("collective.desync", f"{crowds}: neither can finish.", shown, question="standing")


def _together(job: Job, tree: StackTree, placed: list[Placed]) -> Finding:
    group = tree.groups[0]
    frame = group.standing.frame or group.frames[-1]
    where = f"All {len(tree.crowd)} stacks stand in {frame.function}"
    known = {*job.ranks, *range(max([job.world_size or 0, *job.ranks]))}
    unseen = sorted(known - set(_ranks(tree.crowd))) if _ranks(tree.crowd) else []
    shown = _shown(job, placed, tree.crowd[:1])
    if unseen:
        why = f"{where}; of rank{'s' if len(unseen) > 1 else ''} {rank_ranges(unseen)} there is none."
        return Finding("collective.timeout", why, shown, certainty="possible", question="standing")
    why = f"{where}: every rank is in the collective, so the fault lies below it."
    return Finding("collective.timeout", why, shown, question="standing")


def _is_pair(group: StackGroup) -> bool:
    return group.standing.frame is not None and PAIR.search(group.standing.frame.function) is not None


def _ranks(labels: Sequence[int | str]) -> tuple[int, ...]:
    return tuple(sorted(x for x in labels if isinstance(x, int)))


def _named(labels: Sequence[int | str], word: str) -> str:
    """Name ranks, `Ranks 0-4,6`; what is of no known rank by number or as `pid 6889`."""
    ranks = _ranks(labels)
    if len(ranks) == len(labels):
        return f"{word}{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}"
    if len(labels) > 1:
        return f"{len(labels)} processes"
    process = str(labels[0]).rpartition(":")[2]
    return process if process.startswith("pid ") else "one process"


def _where(group: StackGroup) -> str:
    frame = group.standing.frame or group.frames[-1]
    own = next((f for f in reversed(group.frames) if not _is_library(f.file)), frame)
    inner = f" ({frame.function})" if frame.function != own.function else ""
    return f"{own.function} ({own.file}:{own.line}){inner}"


def _is_library(path: str) -> bool:
    from ..traces.library_paths import is_library

    return is_library(path)


def _shown(job: Job, placed: list[Placed], labels: tuple[int | str, ...]) -> tuple[Exhibit, ...]:
    """The innermost frames of these ranks' main threads, at their own lines."""
    from ..traces.stack_tree import main_thread

    found = []
    for label in labels:
        _, source, dump = next(p for p in reversed(placed) if p[0] == label)
        main = main_thread(dump)
        frame = main.frames[-1] if main else None
        line, text = dump.line, ""
        if frame is not None:
            text = f"{frame.function} ({frame.file}:{frame.line})"
            line, text = _line_of(job, source, dump, frame) or (line, text)
        found.append(Exhibit(source, line, text, label if isinstance(label, int) else None))
    return tuple(found)


def _announced(job: Job, placed: list[Placed], label: int | str) -> tuple[Exhibit, ...]:
    """Why the process dumped its stack, in the words of a watchdog of the program's own right above it."""
    _, source, dump = next(p for p in reversed(placed) if p[0] == label)
    above = next((x for s in job.sources if s.name == source for x in s.lines_at(dump.line - 1)), None)
    if above is None or not (above.is_error or above.prefix.severity == "W"):
        return ()
    return (Exhibit.of_line(source, above, label if isinstance(label, int) else None, None),)


def _line_of(job: Job, source: str, dump: StackDump, frame: StackFrame) -> tuple[int, str] | None:
    lines = next(s.lines() for s in job.sources if s.name == source)
    inside = [x for x in lines if dump.line <= x.number <= dump.end_line and frame.function in x.message]
    exact = (x for x in inside if frame.line is None or str(frame.line) in x.message)
    return next(((x.number, x.raw) for x in (*exact, *inside)), None)
