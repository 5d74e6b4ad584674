"""Compares what all ranks recorded, per process group, and names the first divergence with the ranks at fault.

In: `Dump`s of any number of ranks. Out: one `GroupReport` per group, the one to look at first in front. The reference
is what most ranks did; what a ring buffer has lost, and a rank without a dump, is unknown and never "missing".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from ..lines.record import record
from .dump import Dump, Entry, placed
from .pairs import Unpaired, unpaired, waits
from .steps import MAX_DIVERGENCES, Mismatch, Tail, mismatches, tail_of
from .tracks import GroupKey, Recorder, Shapes, Track, recorders, tracks

MAX_SIDES = 4  # shown of ranks that differ from the others and from each other

Kind = Literal["missing", "op", "size", "dtype", "state", "p2p", "extra"]
Verdict = Literal["divergent", "stuck", "unknown", "consistent"]


@record
class Side:
    """What some ranks did: an entry of the first of them, and the file and line that show it."""

    ranks: tuple[int, ...]
    entry: Entry
    file: str
    line: int

    @property
    def frame(self) -> str:
        """The user's line behind the entry, as `function at file:line`; empty where the dump has none."""
        return self.entry.call.frame

    def said(self, *, is_placed: bool = True) -> str:
        """What was issued, as one reads it: `all_reduce [3] Float (reduce_metrics at train.py:75)`."""
        said = self.entry.call.said
        return f"{said} ({self.frame})" if self.frame and is_placed else said


@record
class Divergence:
    """One point where ranks of a group differ: `ranks` are at fault, `found` is what they did instead or last."""

    kind: Kind
    group: str
    seq: int
    ranks: tuple[int, ...]
    others: tuple[int, ...]  # the ranks that did what was expected
    expected: Side | None
    found: tuple[Side, ...]
    detail: str  # "skipped", "swapped", "ahead", "behind", "send 3->4", or nothing to add
    is_ambiguous: bool  # as many ranks on either side, or completion unknown: the fault may be the others'
    is_survived: bool  # every rank went past it
    blocked_in: tuple[tuple[int, str, int], ...]  # absent ranks that wait in another group: (rank, group, seq)

    @property
    def is_consequence(self) -> bool:
        """All ranks at fault are held up in another group, so that the cause is to be looked for there."""
        return bool(self.ranks) and {rank for rank, _, _ in self.blocked_in} >= set(self.ranks)


@record
class RankProgress:
    """How far one rank came in a group; -1: unknown. `waiting` is its first entry that has not completed."""

    rank: int
    enqueued: int
    completed: int
    waiting: Entry | None
    is_truncated: bool


@record
class GroupReport:
    """One process group: its ranks, how far each came, and where they differ, the point to look at first in front."""

    group: str
    desc: str
    ranks: tuple[int, ...]
    without_dump: tuple[int, ...]
    progress: tuple[RankProgress, ...]
    divergences: tuple[Divergence, ...]
    verdict: Verdict
    suspects: tuple[int, ...]  # without a dump, while all others wait for someone

    @property
    def first(self) -> Divergence | None:
        """The divergence to look at first."""
        return self.divergences[0] if self.divergences else None


def compare(dumps: Iterable[Dump], world_size: int | None = None) -> list[GroupReport]:
    """Returns a report per process group: first the one whose divergence nothing else explains."""
    return compare_placed(placed(list(dumps), world_size), world_size)


def compare_placed(dumps: Iterable[Dump], world_size: int | None = None) -> list[GroupReport]:
    """Returns the same of dumps whose ranks `placed` has told."""
    of_ranks = recorders(dumps)
    shapes = Shapes()
    found = tracks(of_ranks, shapes)
    blocked = _blocked(found, of_ranks)
    reports = [_report(key, of_group, shapes, of_ranks, blocked, world_size) for key, of_group in sorted(found.items())]
    return sorted(reports, key=_order)


def _order(report: GroupReport) -> tuple[bool, bool, bool, int, str, tuple[int, ...]]:
    first = report.first
    if first is None:
        return True, report.verdict == "consistent", True, 0, report.group, report.ranks
    created = first.expected.entry.created_ns if first.expected else 0
    return False, first.is_survived, first.is_consequence, created, report.group, report.ranks


Blocked = dict[int, list[tuple[GroupKey, int, int]]]  # by rank: group, seq, when issued


def _blocked(found: dict[GroupKey, dict[int, Track]], of_ranks: dict[int, Recorder]) -> Blocked:
    """Return where each rank waits, in every group, by what it issued first."""
    blocked: Blocked = {rank: [] for rank in of_ranks}
    for key, of_group in found.items():
        for rank, track in of_group.items():
            waiting = track.entry(track.done + 1) if track.knows_completion else None
            if waiting is not None:
                blocked[rank].append((key, waiting.seq, waiting.created_ns))
            row = waits(key[0], track.recorder.dump)
            if row >= 0:
                entry = track.recorder.dump.entry(row)
                blocked[rank].append((key, entry.p2p_seq, entry.created_ns))
    return {rank: sorted(places, key=lambda place: (place[2], place[0])) for rank, places in blocked.items()}


def _report(
    key: GroupKey,
    of_group: dict[int, Track],
    shapes: Shapes,
    of_ranks: dict[int, Recorder],
    blocked: Blocked,
    world_size: int | None,
) -> GroupReport:
    name, ranks = key
    descs = {t.recorder.dump.groups[name].desc: 0 for t in of_group.values() if name in t.recorder.dump.groups}
    if not ranks:
        is_default = "default_pg" in descs or name == "0"
        ranks = tuple(sorted({*of_group, *(range(world_size or 0) if is_default else ())}))
    found = mismatches(of_group, shapes)
    held = frozenset(rank for rank, places in blocked.items() if any(place[0] != key for place in places))
    tail = tail_of(of_group, held)
    divergences = [_of_mismatch(name, mismatch, of_group, tail) for mismatch in found]
    if tail.kind is not None and all(divergence.is_survived for divergence in divergences):
        divergences.append(_of_tail(name, tail, of_group, of_ranks))
    divergences += [_of_pair(name, pair, of_ranks) for pair in unpaired(name, ranks, of_ranks)]
    divergences = [_with_blocked(divergence, key, blocked) for divergence in divergences]
    divergences.sort(key=_urgency)
    without_dump = tuple(rank for rank in ranks if rank not in of_ranks)
    verdict = _verdict(divergences, tail, without_dump)
    return GroupReport(
        group=name,
        desc=next(iter(descs), ""),
        ranks=ranks,
        without_dump=without_dump,
        progress=tuple(_progress(rank, track) for rank, track in sorted(of_group.items())),
        divergences=tuple(divergences[:MAX_DIVERGENCES]),
        verdict=verdict,
        suspects=without_dump if verdict == "unknown" else (),
    )


def _urgency(divergence: Divergence) -> tuple[bool, bool, int, int, tuple[int, ...]]:
    created = divergence.expected.entry.created_ns if divergence.expected else 0
    return divergence.is_survived, divergence.is_consequence, created, divergence.seq, divergence.ranks


def _verdict(divergences: list[Divergence], tail: Tail, without_dump: tuple[int, ...]) -> Verdict:
    if any(not divergence.is_survived for divergence in divergences):
        return "divergent"
    if tail.waiting:
        return "unknown" if without_dump else "stuck"
    return "consistent"


def _progress(rank: int, track: Track) -> RankProgress:
    completed = track.done if track.knows_completion else -1
    waiting = track.entry(track.done + 1) if track.knows_completion else None
    is_known = bool(track.seqs) or track.low <= track.high + 1
    return RankProgress(rank, track.high if is_known else -1, completed, waiting, track.recorder.is_truncated)


def _side(ranks: Sequence[int], track: Track, seq: int) -> Side | None:
    """Show what the first of some ranks did at a sequence number."""
    at = track.at(seq)
    return _shown(ranks, track.recorder, track.rows[at]) if at >= 0 else None


def _shown(ranks: Sequence[int], recorder: Recorder, row: int) -> Side:
    return Side(tuple(ranks), recorder.dump.entry(row), *recorder.place(row))


def _last(rank: int, recorder: Recorder) -> Side | None:
    """Show the last thing that a rank recorded in any group: where it was when the others waited for it."""
    return _shown((rank,), recorder, len(recorder.dump) - 1) if len(recorder.dump) else None


def _of_mismatch(name: str, mismatch: Mismatch, of_group: dict[int, Track], tail: Tail) -> Divergence:
    sides = [_side(ranks, of_group[ranks[0]], mismatch.seq) for ranks in mismatch.minorities]
    return Divergence(
        kind=mismatch.kind,
        group=name,
        seq=mismatch.seq,
        ranks=tuple(sorted(rank for ranks in mismatch.minorities for rank in ranks)),
        others=mismatch.majority,
        expected=_side(mismatch.majority, of_group[mismatch.majority[0]], mismatch.seq),
        found=tuple(side for side in sides if side)[:MAX_SIDES],
        detail=mismatch.detail,
        is_ambiguous=mismatch.is_tie,
        is_survived=tail.knows_completion and mismatch.seq < tail.seq and not mismatch.is_shift,
        blocked_in=(),
    )


def _of_tail(name: str, tail: Tail, of_group: dict[int, Track], of_ranks: dict[int, Recorder]) -> Divergence:
    assert tail.kind is not None
    if tail.kind == "missing":
        sides = [_last(rank, of_ranks[rank]) for rank in tail.ranks[:MAX_SIDES]]
    else:
        sides = [_side((rank,), of_group[rank], tail.seq) for rank in tail.ranks[:MAX_SIDES]]
    shows = [rank for rank in tail.others if of_group[rank].at(tail.seq) >= 0]
    return Divergence(
        kind=tail.kind,
        group=name,
        seq=tail.seq,
        ranks=tail.ranks,
        others=tail.others,
        expected=_side(tail.others, of_group[shows[0]], tail.seq) if shows else None,
        found=tuple(side for side in sides if side),
        detail={"missing": "behind", "state": "behind", "extra": "ahead"}[tail.kind],
        is_ambiguous=tail.is_ambiguous,
        is_survived=False,
        blocked_in=(),
    )


def _of_pair(name: str, pair: Unpaired, of_ranks: dict[int, Recorder]) -> Divergence:
    absent = pair.source if pair.waiting == pair.target else pair.target
    expected = _shown((pair.waiting,), of_ranks[pair.waiting], pair.row)
    other = of_ranks[absent]
    side = _shown((absent,), other, pair.other_row) if pair.other_row >= 0 else _last(absent, other)
    return Divergence(
        kind=pair.kind,
        group=name,
        seq=max(expected.entry.p2p_seq, expected.entry.seq if expected.entry.p2p_seq < 0 else 0),
        ranks=(absent,),
        others=(pair.waiting,),
        expected=expected,
        found=(side,) if side else (),
        detail=f"{'send' if absent == pair.source else 'recv'} {pair.source}->{pair.target}",
        is_ambiguous=pair.kind != "p2p",
        is_survived=False,
        blocked_in=(),
    )


def _with_blocked(divergence: Divergence, key: GroupKey, blocked: Blocked) -> Divergence:
    """Name the ranks at fault that wait elsewhere, for what they issued before they could come here."""
    if divergence.kind not in ("missing", "p2p"):
        return divergence
    is_elsewhere = (lambda _: True) if divergence.kind == "p2p" else (lambda place: place[0] != key)
    places = [
        (rank, place[0][0], place[1])
        for rank in divergence.ranks
        for place in [next(filter(is_elsewhere, blocked.get(rank, [])), None)]
        if place is not None
    ]
    at_fault = set(divergence.ranks) - {rank for rank, _, _ in places}
    return replace(divergence, ranks=tuple(sorted(at_fault)) or divergence.ranks, blocked_in=tuple(places))
