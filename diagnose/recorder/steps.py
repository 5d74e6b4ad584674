"""The steps of one process group: where ranks called different things, and where the last of them stand.

In: the tracks of a group's ranks. Out: `mismatches` in program order, by majority; `tail_of`, where they all ended.
Ranks that agree entirely are compared once, so that the work does not grow with the number of ranks.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Literal

from ..lines.record import record
from .tracks import Shapes, Track

MAX_DIVERGENCES = 10  # per group; after that the ranks run different programs
LOOK_AHEAD = 12  # steps by which an extra or a skipped collective is told from a different one


@record
class Mismatch:
    """Ranks called different things at one sequence number; each minority is ranks that agree among themselves."""

    kind: Literal["op", "size", "dtype", "missing", "extra"]
    seq: int
    majority: tuple[int, ...]
    minorities: tuple[tuple[int, ...], ...]
    detail: str
    is_tie: bool
    is_shift: bool  # from here on the sequence numbers of the ranks no longer mean the same


@record
class Tail:
    """The first step that not every rank has finished, and who is not where the others are."""

    seq: int
    kind: Literal["missing", "extra", "state"] | None
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    waiting: tuple[int, ...]  # all ranks that have issued the step and not finished it
    is_ambiguous: bool
    knows_completion: bool


def mismatches(of_group: dict[int, Track], shapes: Shapes) -> list[Mismatch]:
    """Returns where ranks of a group called different things, until their numbering no longer agrees."""
    alike = _alike(of_group)
    votes: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for track, ranks in alike:
        for seq, shape in zip(track.seqs, track.shapes, strict=True):
            if seq >= track.low:
                votes[seq][shape] += len(ranks)
    found: list[Mismatch] = []
    for seq in sorted(seq for seq, of_seq in votes.items() if len(of_seq) > 1):
        mismatch = _mismatch(seq, alike, shapes)
        if not found or (mismatch.kind, mismatch.minorities) != (found[-1].kind, found[-1].minorities):
            found.append(mismatch)
        if mismatch.is_shift or len(found) >= MAX_DIVERGENCES:
            break
    return found


def _alike(of_group: dict[int, Track]) -> list[tuple[Track, list[int]]]:
    """Group the ranks that recorded exactly the same steps."""
    found: dict[tuple[bytes, bytes, int], tuple[Track, list[int]]] = {}
    for rank, track in sorted(of_group.items()):
        key = (track.seqs.tobytes(), track.shapes.tobytes(), track.low)
        found.setdefault(key, (track, []))[1].append(rank)
    return list(found.values())


def _mismatch(seq: int, alike: list[tuple[Track, list[int]]], shapes: Shapes) -> Mismatch:
    ranks_of: dict[int, list[int]] = defaultdict(list)
    track_of: dict[int, Track] = {}
    for track, ranks in alike:
        shape = track.shape(seq) if seq >= track.low else -1
        if shape >= 0:
            ranks_of[shape] += ranks
            if shape not in track_of or track.high > track_of[shape].high:
                track_of[shape] = track
    order = sorted(ranks_of, key=lambda shape: (-len(ranks_of[shape]), min(ranks_of[shape])))
    usual, unusual = order[0], order[1]
    kind = _kind(shapes, usual, unusual)
    shift, detail = _shift(track_of[usual], track_of[unusual], seq)
    return Mismatch(
        kind=shift or kind,
        seq=seq,
        majority=tuple(sorted(ranks_of[usual])),
        minorities=tuple(tuple(sorted(ranks_of[shape])) for shape in order[1:]),
        detail=detail,
        is_tie=len(ranks_of[usual]) == len(ranks_of[unusual]),
        is_shift=shift is not None or kind == "op",
    )


def _kind(shapes: Shapes, usual: int, unusual: int) -> Literal["op", "size", "dtype"]:
    if shapes.ops(usual) != shapes.ops(unusual):
        return "op"
    return "size" if shapes.sizes(usual) != shapes.sizes(unusual) else "dtype"


def _shift(usual: Track, unusual: Track, seq: int) -> tuple[Literal["missing", "extra"] | None, str]:
    """Tell a step too many or too few from a different one, by what follows on both sides."""
    ours, theirs = _ahead(usual, seq), _ahead(unusual, seq)
    if len(ours) > 1 and len(theirs) > 1:
        if ours[:2] == theirs[1::-1]:
            return None, "swapped"
        if ours[1] == theirs[1] and _same(ours[2:], theirs[2:]) >= 0:
            return None, ""
    extra, skipped = _same(ours, theirs[1:]), _same(ours[1:], theirs)
    if max(extra, skipped) < 1:
        return None, ""
    return ("extra", "") if extra >= skipped else ("missing", "skipped")


def _ahead(track: Track, seq: int) -> list[int]:
    found = track.at(seq)
    return list(track.shapes[found : found + LOOK_AHEAD])


def _same(ours: list[int], theirs: list[int]) -> int:
    """Return for how many steps two sides agree as far as both go; -1 where they do not."""
    length = min(len(ours), len(theirs))
    return length if ours[:length] == theirs[:length] else -1


def tail_of(of_group: dict[int, Track], held: frozenset[int] = frozenset()) -> Tail:
    """Returns the first step that not every rank has finished; `held` ranks wait in another group.

    A rank that is further ahead is no divergence.
    """
    known = {rank: track for rank, track in of_group.items() if track.low <= track.high + 1}
    knows_completion = all(track.knows_completion for track in known.values())
    if not known:
        return Tail(0, None, (), (), (), False, False)
    seq = 1 + min(track.done if knows_completion else track.high for track in known.values())
    absent, waiting, past = [], [], []
    for rank, track in sorted(known.items()):
        if track.high < seq:
            absent.append(rank)
        elif knows_completion and track.done >= seq:
            past.append(rank)
        else:
            waiting.append(rank)
    kind, ranks = _fault(absent, waiting, past, held)
    others = tuple(sorted({*absent, *waiting, *past} - set(ranks)))
    is_ambiguous = len(ranks) == len(others) > 1 or (not knows_completion and kind == "extra")
    return Tail(seq, kind, tuple(ranks), others, tuple(waiting), is_ambiguous, knows_completion)


def _fault(
    absent: list[int], waiting: list[int], past: list[int], held: frozenset[int]
) -> tuple[Literal["missing", "extra", "state"] | None, list[int]]:
    issued = sorted([*waiting, *past])
    if absent and issued:
        is_missing = len(absent) <= len(issued) or not held.isdisjoint(absent)
        return ("missing", absent) if is_missing else ("extra", issued)
    if waiting and past and len(waiting) < len(past):
        return "state", waiting
    return None, []
