"""What does the number in a program's own header count: the ranks of the job, the processes of a node, or none of them?

Steps, batches, epochs and progress (`[3/8]`) grow, or begin anew in the same order each time: ranks that write into one
console do not wait for one another, and what they say stands in no order for long. Threads and process ids do not begin
at 0 without a gap. The workers of a data loader bear numbers as ranks do, and measure no loss. A rank says what the
others say: of numbers that are none, each has texts of its own. The same number on two hosts is one of a node. Where it
stands in a frame and is called a rank, or several lines say the same rank themselves (`(w2) rank=2 ready`), it is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix

FEWEST_LINES = 6
FEWEST_SHARED = 2  # texts, digits aside, that several of them said
MOST = 8192  # processes
SHARE = 0.3  # of the lines, where the number is not called a rank
RANKS, OF_NODE = "rank", "proc"  # as the tables of prefixes call them
OF_THE_JOB = frozenset(("rank", "globalrank", "grank", "worldrank", "r", "rk"))
OF_A_NODE = frozenset(("localrank", "lrank"))
PROCESSES = frozenset(("worker", "trainer", "proc", "process", "learner", "gpu"))
_WORLD, _KNOWN, _OWN_RANK, _MEASURED, _DIGITS = map(lazy, patterns(__file__, "counted"))


class Head(NamedTuple):
    """What stands at the head of one line."""

    parts: tuple[Any, ...]  # in order, as `own_headers` reads them
    number: int
    name: str  # how the number is called, in lower case without blanks and lines; '' where it is bare
    is_framed: bool
    of: str  # `/8`
    place: str  # what stands before it, digits included
    rest: str  # what was said
    is_behind: bool  # the number ends the line, as that of a process whose heartbeat another heard may, too


def what_is_counted(heads: Sequence[Head], lines: Sequence[str]) -> str | None:
    """Yield what the numbers of these heads count; None where it may be no process."""
    numbers, name = [h.number for h in heads], heads[0].name
    size, is_rank = max(numbers) + 1, name in OF_THE_JOB
    if len(set(numbers)) < 2 or size > MOST:
        return None
    if _say_so(heads) or (is_rank and "rank" in name and heads[0].is_framed and not heads[0].is_behind):
        return OF_NODE if _on_several_places(heads) else RANKS
    if len(heads) < FEWEST_LINES:
        return None
    is_header = heads[0].is_framed or len(heads[0].parts) > 3  # `rank 2: 12.3 GiB` may be a row of a table
    is_named = name in PROCESSES or (is_rank and is_header)
    if (len(set(numbers)) < size and not (is_rank and "rank" in name)) or not _are_mixed(numbers, is_named=is_named):
        return None
    worlds = {int(m[1] or m[2]) for line in lines for m in _WORLD.finditer(line[:1000])} - {0, 1}
    knows_more = any(int(m[1]) >= size for line in lines if (m := _KNOWN.match(line)))  # torch: then they are no ranks
    if _contradicts(heads, size, worlds) or (not is_rank and knows_more):
        return None
    are_processes = _are_processes(heads, lines)
    if _shared(heads) < (1 if is_rank and is_header else FEWEST_SHARED) or (heads[0].is_behind and not are_processes):
        return None
    if _on_several_places(heads) or name in OF_A_NODE:
        is_node = is_rank or name in OF_A_NODE or are_processes
    elif is_rank or (are_processes and (size in worlds or heads[0].of == f"/{size}")):
        return RANKS
    else:
        is_node = name in PROCESSES and are_processes and (not worlds or any(world % size == 0 for world in worlds))
    return OF_NODE if is_node else None


def _say_so(heads: Sequence[Head]) -> bool:
    """Whether what several of them say names their own number as its rank, and never another."""
    told = {(head.number, int(found[1])) for head in heads if (found := _OWN_RANK.match(head.rest))}
    return not heads[0].is_behind and len(told) > 1 and all(number == rank for number, rank in told)


def _contradicts(heads: Sequence[Head], size: int, worlds: set[int]) -> bool:
    """Whether there are more numbers than processes, or the header counts to several totals."""
    totals = {h.of for h in heads}
    return len(totals) > 1 or any(t and int(t[1:]) < size for t in totals) or (bool(worlds) and size > max(worlds))


def _are_mixed(numbers: Sequence[int], *, is_named: bool) -> bool:
    """Whether the numbers come in no order that a counter has; where they are called a process, round after round will do.
    A counter grows, and begins anew at 0 at the most: batches within an epoch, progress bars one after the other."""
    steps = [b - a for a, b in pairwise(numbers)]
    if all(step >= 0 for step in steps):
        return False
    is_counter = all(step in (0, 1) or (step < 0 and b == 0) for step, b in zip(steps, numbers[1:], strict=True))
    return is_named or not is_counter


def _shared(heads: Sequence[Head]) -> int:
    """How many texts, their numbers aside, several of them said."""
    said: dict[str, set[int]] = defaultdict(set)
    for head in heads:
        said[_DIGITS.sub("0", head.rest.strip())[:200]].add(head.number)
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
