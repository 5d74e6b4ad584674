"""Does to labelled cases what happens to logs, and asks whether a verdict is still right, and not too sure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from . import alike, losses
from .dresses import DRESSES
from .files import Case, Mutant, changed_log

Alteration = Callable[[Case, Random], Iterator[Mutant]]


def _dressed(dress: Callable[[list[str]], list[str]], case: Case, rng: Random) -> Iterator[Mutant]:
    yield Mutant(case, case.files | {name: changed_log(case, name, dress) for name in case.logs})


def _part(change: Callable[[list[str]], list[str]], case: Case, rng: Random) -> Iterator[Mutant]:
    yield from losses.part_of_console(case, change)


ALIKE: dict[str, Alteration] = {
    f.__name__: f
    for f in (
        alike.shuffled_files, alike.merged_console, alike.split_console, alike.dropped_innocent, alike.shifted_clock,
        alike.doubled_ranks, alike.healthy_lines,
    )
} | {f.__name__: partial(_dressed, f) for f in DRESSES}  # fmt: skip
LOSSES: dict[str, Alteration] = {
    f.__name__: f
    for f in (
        losses.cut_after_failure, losses.without_head, losses.without_tail, losses.lost_lines, losses.lost_clocks,
        losses.joined_files, losses.flattened_names, losses.dropped_file, losses.dropped_proof,
    )
} | {f.__name__: partial(_part, f) for f in losses.PARTS}  # fmt: skip


def mutants(case: Case, name: str) -> Iterator[Mutant]:
    """Yield the altered copies of a case that one alteration makes, the same each time."""
    yield from (ALIKE | LOSSES)[name](case, Random(f"{case.name} {name}"))
