"""What does the number in a program's own header count: the ranks of the job, the processes of a node, or none of them?

Steps, batches, epochs and progress (`[3/8]`) grow, or begin anew in the same order each time: ranks that write into one
console do not wait for one another, and what they say stands in no order for long. Threads and process ids do not begin
at 0 without a gap. The workers of a data loader bear numbers as ranks do, and measure no loss. A rank says what the
others say: of numbers that are none, each has texts of its own. The same number on two hosts is one of a node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from ..lines.record import record
from .header_parts import BEHIND, OF_A_NODE, OF_THE_JOB, Head, masked

FEWEST_LINES = 6
FEWEST_SHARED = 2  # texts, digits aside, that several of them said
MOST = 8192  # processes
SHARE = 0.3  # of the lines, where the number is not called a rank
PROCESSES = frozenset(("worker", "trainer", "proc", "process", "learner", "gpu"))
_WORLD = lazy(
    r"(?i)\b(?:world[_ ]?size|nproc_per_node|num_processes|n_?gpus|num_gpus)\b['\"]?[ =:]{1,3}(\d{1,5})\b"
    r"|\b(\d{1,5}) (?:ranks|processes|GPUs)\b"
)
_KNOWN = lazy(r"\[rank(\d{1,6})\]:")
_MEASURED = lazy(r"(?i)\b(?:steps?|iter(?:ation)?s?|epoch|loss|lr|batch)\b[\s\]:=(\[]{0,3}\d")


@record
class Counted:
    """What is counted, as the tables of prefixes call it."""

    tag: str


RANKS, OF_NODE = Counted("rank"), Counted("proc")


def what_is_counted(heads: Sequence[Head], lines: Sequence[str]) -> Counted | None:
    """Yield what the numbers of these heads count; None where it may be no process."""
    numbers, name = [h.number for h in heads], heads[0].name
    size = max(numbers) + 1
    is_rank = name in OF_THE_JOB
    if len(heads) < FEWEST_LINES or len(set(numbers)) < 2 or size > MOST:
        return None
    if len(set(numbers)) < size and not (is_rank and "rank" in name):
        return None
    if not _are_mixed(numbers, size, is_named=name in PROCESSES or (is_rank and _is_header(heads))):
        return None
    worlds = _worlds(lines)
    is_told = size in worlds or heads[0].of == f"/{size}"
    if _contradicts(heads, size, worlds):
        return None
    if not is_rank and any(int(m[1]) >= size for line in lines if (m := _KNOWN.match(line))):
        return None  # torch names ranks beyond them: workers of something else
    fewest = 1 if is_rank and _is_header(heads) else FEWEST_SHARED
    if _shared(heads) < fewest or (_stands_behind(heads[0]) and not _are_processes(heads, lines)):
        return None
    if _on_several_places(heads) or name in OF_A_NODE:
        return OF_NODE if is_rank or name in OF_A_NODE or _are_processes(heads, lines) else None
    if is_rank or (is_told and _are_processes(heads, lines)):
        return RANKS
    return OF_NODE if name in PROCESSES and _are_processes(heads, lines) and _may_be_node(size, worlds) else None


def _worlds(lines: Sequence[str]) -> set[int]:
    found = (int(m[1] or m[2]) for line in lines for m in _WORLD.finditer(line[:1000]))
    return {n for n in found if n > 1}


def _contradicts(heads: Sequence[Head], size: int, worlds: set[int]) -> bool:
    """Whether there are more numbers than processes, or the header counts to several totals."""
    totals = {h.of for h in heads}
    return len(totals) > 1 or any(t and int(t[1:]) < size for t in totals) or (bool(worlds) and size > max(worlds))


def _are_mixed(numbers: Sequence[int], size: int, *, is_named: bool) -> bool:
    """Whether the numbers come in no order that a counter has; where they are called a process, round after round will do.

    A counter grows, and begins anew at 0 at the most: batches within an epoch, progress bars one after the other.
    """
    steps = [b - a for a, b in pairwise(numbers)]
    if all(step >= 0 for step in steps):
        return False
    is_counter = all(step in (0, 1) or (step < 0 and b == 0) for step, b in zip(steps, numbers[1:], strict=True))
    return is_named or not is_counter


def _is_header(heads: Sequence[Head]) -> bool:
    """Whether it stands in a frame or among other parts; `rank 2: 12.3 GiB` may be a row of a table that one prints."""
    return heads[0].is_framed or len(heads[0].shape) > 3


def _stands_behind(head: Head) -> bool:
    """Whether the number ends the line, as whose heartbeat one process heard of may, too."""
    return head.shape[-1].startswith(f"\0{BEHIND}")


def _shared(heads: Sequence[Head]) -> int:
    said: dict[str, set[int]] = defaultdict(set)
    for head in heads:
        said[masked(head.rest)].add(head.number)
    return sum(len(numbers) > 1 for numbers in said.values())


def _on_several_places(heads: Sequence[Head]) -> bool:
    """Whether one number speaks in two containers, or on two hosts."""
    places: dict[int, set[tuple[str | None, ...]]] = defaultdict(set)
    for head in heads:
        told = split_prefix(f"{head.place}[rank0]: x") if head.place else None
        if told is not None:
            places[head.number].add((told.host, told.pod, told.container, told.ip))
    return any(len(names) > 1 for names in places.values())


def _are_processes(heads: Sequence[Head], lines: Sequence[str]) -> bool:
    """Whether they train: several measure steps or a loss, and most of what is said is said by them."""
    measuring = {h.number for h in heads if _MEASURED.search(h.rest)}
    own = sum(not line.startswith((" ", "\t", "Traceback")) for line in lines)
    return len(measuring) > 1 and len(heads) >= SHARE * own


def _may_be_node(size: int, worlds: set[int]) -> bool:
    return not worlds or any(world % size == 0 for world in worlds)
