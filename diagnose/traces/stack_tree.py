"""All ranks' stacks as one: groups of ranks that stand alike, largest first, and who the crowd waits for.

Where a stack stands (in a collective, a save, the data loader, a lock) is told by the rows of `stacks.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Literal

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .stack_forms import FORMS, StackDump, StackFrame, StackThread
from .traceback_lines import is_library

Label = int | str  # a global rank, or what is known instead (`pid 6889 on gpu-07`)
Pattern = Literal["none", "waiting", "backward", "desync", "together", "apart"]

_BACKWARD = lazy(r"run_backward$")


StandingKind = Literal[
    "collective", "save", "load", "data", "eval", "compile", "lock", "sleep", "io", "compute", "idle", "unknown"
]


@record
class Standing:
    """What a thread is doing, and the frame that says so (None when none does)."""

    kind: StandingKind
    frame: StackFrame | None


_STANDINGS: list[tuple[re.Pattern[str], re.Pattern[str], StandingKind, bool]] = [
    (lazy(r["function"]), lazy(r.get("file", "")), r["kind"], r.get("weak", False)) for r in tables(FORMS)["standings"]
]


def classify(frames: Sequence[StackFrame]) -> Standing:
    """Say where a stack stands; frames are outermost first, and the innermost that names a purpose decides."""
    weak: Standing | None = None  # says how it waits, not for what: a caller that says for what is preferred
    for frame in reversed(frames):
        kind, is_weak = _standing_in(frame.function, frame.file)
        if kind is not None and not is_weak:
            return Standing(kind, frame)
        weak = weak or (Standing(kind, frame) if kind else None)
    return weak or Standing("unknown", frames[-1] if frames else None)


@lru_cache(maxsize=8192)  # 10,000 ranks stand in a few hundred functions
def _standing_in(function: str, file: str) -> tuple[StandingKind | None, bool]:
    name = function.rpartition(".")[2] if "<" not in function else function
    for of_function, of_file, kind, is_weak in _STANDINGS:
        if (of_function.search(name) or of_function.search(function)) and of_file.search(file):
            return kind, is_weak
    return None, False


@record
class StackGroup:
    """Ranks whose main threads stand at the same place."""

    ranks: tuple[Label, ...]
    frames: tuple[StackFrame, ...]
    standing: Standing


@record
class StackTree:
    """The merged view.

    `pattern`: `waiting` (a crowd in a collective, suspects elsewhere), `backward` (the same in a backward pass, in which
    DDP reduces gradients), `desync` (suspects are the minority), `together`, `apart` (in none), `none`.
    """

    groups: tuple[StackGroup, ...]
    pattern: Pattern
    crowd: tuple[Label, ...]
    suspects: tuple[Label, ...]
    moving: tuple[Label, ...]
    stuck: tuple[Label, ...]


def merge_stacks(dumps: Iterable[tuple[Label, StackDump]]) -> StackTree:
    """Merge the dumps of all ranks; of several dumps of one rank the last counts, and tells whether it moved."""
    seen: dict[Label, list[tuple[StackFrame, ...]]] = {}
    last: dict[Label, tuple[StackFrame, ...]] = {}
    for label, dump in dumps:
        main = main_thread(dump)
        if main is None:
            continue
        last[label] = main.frames
        seen.setdefault(label, []).append(_place(last[label]))
    groups = _group(last)
    pattern, crowd, suspects = _read_pattern(groups)
    twice = {label: places for label, places in seen.items() if len(places) > 1}
    moving = _sorted(label for label, places in twice.items() if len(set(places)) > 1)
    stuck = _sorted(label for label, places in twice.items() if len(set(places)) == 1)
    return StackTree(groups, pattern, crowd, suspects, moving, stuck)


def main_thread(dump: StackDump) -> StackThread | None:
    """Yield the thread that runs the training loop: the main one, else the one that dumped the stacks, else the first."""
    threads = [t for t in dump.threads if t.frames]
    main = (t for t in threads if t.is_main or t.name == "MainThread")
    current = (t for t in threads if t.state == "current")
    return next(chain(main, current, threads), None)


def _sorted(labels: Iterable[Label]) -> tuple[Label, ...]:
    return tuple(sorted(labels, key=_order))


def _order(label: Label) -> tuple[int, int, str]:
    return (0, label, "") if isinstance(label, int) else (1, 0, label)


def _place(frames: tuple[StackFrame, ...]) -> tuple[StackFrame, ...]:
    """Leave out the line of an innermost library frame: a polling loop is at another one each time."""
    innermost = frames[-1]
    if innermost.line is not None and is_library(innermost.file):
        return (*frames[:-1], StackFrame(innermost.function, innermost.file))
    return frames


def _group(last: dict[Label, tuple[StackFrame, ...]]) -> tuple[StackGroup, ...]:
    members: dict[tuple[StackFrame, ...], list[Label]] = {}
    for label in _sorted(last):
        members.setdefault(_place(last[label]), []).append(label)
    groups = [StackGroup(tuple(of), last[of[0]], classify(last[of[0]])) for of in members.values()]
    return tuple(sorted(groups, key=lambda group: (-len(group.ranks), _order(group.ranks[0]))))


def _read_pattern(groups: Sequence[StackGroup]) -> tuple[Pattern, tuple[Label, ...], tuple[Label, ...]]:
    waiting: dict[tuple[str, str, int | None], list[Label]] = {}
    others: list[Label] = []
    for group in groups:
        if group.standing.kind == "collective":
            waiting.setdefault(_call(group), []).extend(group.ranks)
        else:
            others.extend(group.ranks)
    if not waiting:
        return _read_backward(groups)
    crowds = sorted(map(_sorted, waiting.values()), key=lambda labels: (-len(labels), _order(labels[0])))
    if others:
        return "waiting", _sorted(label for labels in crowds for label in labels), _sorted(others)
    if len(crowds) == 1:
        return "together", crowds[0], ()
    is_even = len(crowds[0]) == len(crowds[1])
    suspects = () if is_even else _sorted(label for labels in crowds[1:] for label in labels)
    return "desync", crowds[0], suspects


def _read_backward(groups: Sequence[StackGroup]) -> tuple[Pattern, tuple[Label, ...], tuple[Label, ...]]:
    """Of a job at work not all but a few stand at one and the same place, and these few where nothing is computed."""
    others = _sorted(label for group in groups[1:] for label in group.ranks)
    crowd = groups[0] if groups and _BACKWARD.search(getattr(groups[0].standing.frame, "function", "")) else None
    is_at_work = any(group.standing.kind == "compute" for group in groups[1:])
    if crowd is None or is_at_work or not 0 < len(others) < len(crowd.ranks):
        return ("apart" if groups else "none"), (), ()
    return "backward", crowd.ranks, others


def is_of_loader(dump: StackDump) -> bool:
    """Tells whether it is of a process that the data loader started, which is forked and so named as the rank's own."""
    return any(f.function == "_worker_loop" and "utils/data" in f.file for t in dump.threads for f in t.frames)


def _call(group: StackGroup) -> tuple[str, str, int | None]:
    """Name the collective a group is in: the operation, and the user's line that called it."""
    own = next((f for f in reversed(group.frames) if f.file and not is_library(f.file)), None)
    operation = group.standing.frame.function if group.standing.frame else ""
    return operation, own.file if own else "", own.line if own else None
