"""Where does each rank's stack stand?

In a hang the largest group of equal stacks is the waiting crowd; the rank that stands elsewhere is the one they wait for.
All in one collective: nobody is at fault, the fault lies below (network, GPU). Two collectives: a desync.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..job.identity_table import MAX_RANK
from ..job.job import Job
from ..job.stacks import Placed, innermost_line, merged, placed_stacks, where
from .finding import Certainty, Exhibit, Finding, Sentence

if TYPE_CHECKING:
    from ..traces.stack_tree import StackTree

Label = int | str
DESYNC, TIMEOUT, STRAGGLER = "collective.desync", "collective.timeout", "collective.straggler"
SLOW = {"save": "storage.slow-save"}
PAIRED = ("send", "recv")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where the stacks of live ranks are at hand, and show no progress."""
    went_on = {s.name: s.last_sign_line or 0 for s in job.sources}
    placed = [p for p in placed_stacks(job) if p.dump.is_live and went_on[p.source] <= p.dump.end_line]
    if len({p.label for p in placed}) < 2:
        return
    from ..traces.stack_tree import is_of_loader

    placed = [p for p in placed if not is_of_loader(p.dump)] or placed
    tree = merged(placed)
    if len(tree.moving) > len(tree.stuck):
        return  # of those that were seen twice, most moved: slow, but no hang
    calls = [g.standing.frame.function for g in tree.groups if g.standing.frame is not None]
    if tree.pattern == "together":
        yield _together(job, tree, placed)
    elif tree.pattern == "desync" and len(tree.suspects) != 1 and any(part in f for f in calls for part in PAIRED):
        return  # stages of a pipeline wait in sends while others wait in collectives; one alone holds its group up
    elif tree.pattern == "desync" and not tree.suspects:
        yield from _halves(job, tree, placed)
    elif tree.pattern in ("waiting", "backward", "desync") and len(tree.suspects) <= len(tree.crowd):
        yield _elsewhere(job, tree, placed)


def _elsewhere(job: Job, tree: StackTree, placed: list[Placed]) -> Finding:
    """A crowd waits in a collective, the others are not in it."""
    group = next(g for g in tree.groups if tree.suspects[0] in g.ranks)
    is_desync, suspects = tree.pattern == "desync", set(tree.suspects)
    cause = DESYNC if is_desync else SLOW.get(group.standing.kind, STRAGGLER)
    seen = "moved" if suspects <= set(tree.moving) else "stuck" if suspects <= set(tree.stuck) else None
    told = {"crowd": _named(tree.crowd), "suspects": _named(tree.suspects), "where": where(group), "seen": seen}
    says = Sentence("standing.elsewhere", {**told, "is_backward": tree.pattern == "backward"})
    shown = _shown(job, placed, tree.suspects[:2]) + _shown(job, placed, tree.crowd[:1])
    # Two ranks or more may rightly be in a collective of a group of their own.
    certainty: Certainty = "possible" if is_desync and len(suspects) > 1 else "likely"
    pids = {p.dump.pid for p in placed if p.label in suspects}
    fields = {"pid": pids.pop() if len(pids) == 1 else None}
    return Finding("standing", cause, says, shown, _ranks(tree.suspects), certainty=certainty, fields=fields)


def _halves(job: Job, tree: StackTree, placed: list[Placed]) -> Iterator[Finding]:
    """As many wait in one collective as in another."""
    if len(tree.groups) == 2:
        first, second = tree.groups
        told = {"first": _named(first.ranks), "where": where(first), "second": _named(second.ranks)}
        shown = _shown(job, placed, first.ranks[:1]) + _shown(job, placed, second.ranks[:1])
        yield Finding("standing", DESYNC, Sentence("standing.halves", {**told, "elsewhere": where(second)}), shown)


def _together(job: Job, tree: StackTree, placed: list[Placed]) -> Finding:
    group, ranks = tree.groups[0], _ranks(tree.crowd)
    known = {*job.ranks, *range(min(max([job.world_size or 0, *job.ranks]), MAX_RANK))}
    unseen = sorted(known - set(ranks)) if ranks else []
    says = {"count": len(tree.crowd), "where": (group.standing.frame or group.frames[-1]).function, "unseen": unseen}
    certainty: Certainty = "possible" if unseen else "likely"
    return Finding(
        "standing", TIMEOUT, Sentence("standing.together", says), _shown(job, placed, tree.crowd[:1]), certainty=certainty
    )


def _ranks(labels: Sequence[Label]) -> tuple[int, ...]:
    return tuple(sorted(x for x in labels if isinstance(x, int)))


def _named(labels: Sequence[Label]) -> dict[str, Any]:
    """Yield their ranks; of what is of no known rank how many, and of one its `pid 6889`."""
    ranks, process = _ranks(labels), str(labels[0]).rpartition(":")[2]
    is_all = len(ranks) == len(labels)
    return {"ranks": ranks if is_all else (), "count": len(labels), "pid": process if process.startswith("pid ") else None}


def _shown(job: Job, placed: list[Placed], labels: Sequence[Label]) -> tuple[Exhibit, ...]:
    """The innermost frames of these ranks' main threads, at their own lines."""
    last = [next(p for p in reversed(placed) if p.label == label) for label in labels]
    return tuple(Exhibit(p.source, *innermost_line(job, p), p.label if isinstance(p.label, int) else None) for p in last)
