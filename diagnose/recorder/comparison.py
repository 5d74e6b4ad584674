"""Compares what all ranks recorded, per process group, and names the first divergence with the ranks at fault.

In: `Dump`s of any number of ranks. Out: one `GroupReport` per group, the one to look at first in front. The reference
is what most ranks did; what a ring buffer has lost, and a rank without a dump, is unknown and never "missing".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

from ..lines.record import record
from .dump import Dump, Entry
from .tracks import GroupKey, OneSide, Recorder, Side, Steps, Track, pairs, recorders, tracks, transfers

MAX_SIDES = 4  # shown of ranks that differ from the others and from each other
MAX_DIVERGENCES = 10  # per group; after that the ranks run different programs

Kind = Literal["missing", "op", "size", "dtype", "state", "p2p", "extra"]
Verdict = Literal["divergent", "stuck", "unknown", "consistent"]


@record
class Divergence:
    """One point where ranks of a group differ: `ranks` are at fault, `found` is what they did instead or last."""

    kind: Kind
    group: str
    seq: int
    ranks: tuple[int, ...]
    expected: Side | None
    found: tuple[Side, ...]
    is_ambiguous: bool = False  # as many ranks on either side, or completion unknown: the fault may be the others'
    is_survived: bool = False  # every rank went past it
    blocked_in: tuple[tuple[int, str, int], ...] = ()  # absent ranks that wait in another group: (rank, group, seq)

    @property
    def is_consequence(self) -> bool:
        """All ranks at fault are held up in another group, so that the cause is to be looked for there."""
        return bool(self.ranks) and {rank for rank, _, _ in self.blocked_in} >= set(self.ranks)

    @property
    def urgency(self) -> tuple[bool, bool, int]:
        """What nothing else explains comes first, and of that the earliest."""
        return self.is_survived, self.is_consequence, self.expected.entry.created_ns if self.expected else 0


@record
class RankProgress:
    """How far one rank came in a group; -1: unknown. `waiting` is its first entry that has not completed."""

    rank: int
    enqueued: int
    completed: int
    waiting: Entry | None


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

    @property
    def first(self) -> Divergence | None:
        """The divergence to look at first."""
        return self.divergences[0] if self.divergences else None


@record
class _Tail:
    """The first step that not every rank has finished, and who is not where the others are."""

    seq: int
    kind: Literal["missing", "extra", "state"] | None
    ranks: tuple[int, ...]
    others: tuple[int, ...]
    is_waited_in: bool  # a rank has issued the step and not finished it
    is_ambiguous: bool
    knows_completion: bool


Blocked = dict[int, list[tuple[int, GroupKey, int]]]  # by rank: when issued, group, seq


def compare(dumps: Iterable[Dump], world_size: int | None = None) -> list[GroupReport]:
    """Returns a report per process group of dumps whose ranks `placed` has told, the one to look at first in front."""
    of_ranks, steps = recorders(dumps), Steps()
    found = sorted(tracks(of_ranks, steps).items())
    blocked = _blocked(found, of_ranks)
    reports = []
    for (name, ranks), of_group in found:
        tail = _tail(of_group, {rank for rank, places in blocked.items() if any(p[1] != (name, ranks) for p in places)})
        descs = [t.recorder.dump.groups[name].desc for t in of_group.values() if name in t.recorder.dump.groups]
        is_default = "default_pg" in descs or name == "0"
        members = ranks or tuple(sorted({*of_group, *(range(world_size or 0) if is_default else ())}))
        divergences = list(_mismatches(name, of_group, steps, tail))
        if tail.kind is not None and all(divergence.is_survived for divergence in divergences):
            divergences.append(_of_tail(name, tail, of_group))
        for of_source, of_target in pairs(name, members, of_ranks):
            divergences += islice(_failing(name, of_source, of_target), 1)  # the first transfer that meets no other
        divergences = [_with_blocked(divergence, (name, ranks), blocked) for divergence in divergences]
        divergences.sort(key=lambda d: (d.urgency, d.seq, d.ranks))
        without = tuple(rank for rank in members if rank not in of_ranks)
        progress = tuple(_progress(rank, track) for rank, track in sorted(of_group.items()))
        verdict = _verdict(divergences, tail, without)
        shown = tuple(divergences[:MAX_DIVERGENCES])
        reports.append(GroupReport(name, next(iter(descs), ""), members, without, progress, shown, verdict))
    nothing = (True, True, 0)
    return sorted(reports, key=lambda r: (not r.first, r.first.urgency if r.first else nothing, r.verdict == "consistent"))


def _blocked(found: Iterable[tuple[GroupKey, dict[int, Track]]], of_ranks: dict[int, Recorder]) -> Blocked:
    """Return where each rank waits, in every group, by what it issued first."""
    blocked: Blocked = {rank: [] for rank in of_ranks}
    for key, of_group in found:
        for rank, track in of_group.items():
            if (waiting := track.waiting) is not None:
                blocked[rank].append((waiting.created_ns, key, waiting.seq))
            dump = track.recorder.dump
            pending = transfers(dump, key[0])[1] if "gloo" not in dump.backend else ()
            if pending:
                entry = dump.entry(min(pending))
                blocked[rank].append((entry.created_ns, key, entry.p2p_seq))
    return {rank: sorted(places) for rank, places in blocked.items()}


def _verdict(divergences: list[Divergence], tail: _Tail, without_dump: tuple[int, ...]) -> Verdict:
    if any(not divergence.is_survived for divergence in divergences):
        return "divergent"
    if tail.is_waited_in:
        return "unknown" if without_dump else "stuck"
    return "consistent"


def _progress(rank: int, track: Track) -> RankProgress:
    is_known = bool(track.seqs) or track.low <= track.high + 1
    completed = track.done if track.knows_completion else -1
    return RankProgress(rank, track.high if is_known else -1, completed, track.waiting)


def _step_side(ranks: Sequence[int], of_group: dict[int, Track], seq: int) -> Side:
    track = of_group[ranks[0]]
    return track.recorder.side(track.rows[track.at(seq)], ranks)


def _mismatches(name: str, of_group: dict[int, Track], steps: Steps, tail: _Tail) -> Iterator[Divergence]:
    """Yield where ranks called different things, by majority, until their numbering no longer means the same."""
    called: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))  # by seq and step, who did it
    for rank, track in of_group.items():
        for seq, step in zip(track.seqs, track.steps, strict=True):
            if seq >= track.low:
                called[seq][step].append(rank)
    before = None
    for seq in sorted(seq for seq, of_seq in called.items() if len(of_seq) > 1):
        sides = sorted(((step, sorted(ranks)) for step, ranks in called[seq].items()), key=lambda s: (-len(s[1]), s[1]))
        (usual, majority), (odd, minority) = sides[:2]
        is_shifted = of_group[majority[0]].is_shifted(of_group[minority[0]], seq)
        kind = "op" if is_shifted else steps.difference(usual, odd)
        at_fault = tuple(sorted(rank for _, ranks in sides[1:] for rank in ranks))
        if (kind, at_fault) != before:
            yield Divergence(
                kind, name, seq, at_fault,
                expected=_step_side(majority, of_group, seq),
                found=tuple(_step_side(ranks, of_group, seq) for _, ranks in sides[1:][:MAX_SIDES]),
                is_ambiguous=len(majority) == len(minority),
                is_survived=tail.knows_completion and seq < tail.seq and kind != "op",
            )  # fmt: skip
        if kind == "op":
            return
        before = kind, at_fault


def _tail(of_group: dict[int, Track], held: set[int]) -> _Tail:
    """Return the first step that not every rank has finished; `held` ranks wait in another group. A rank that is further
    ahead is no divergence."""
    known = {rank: track for rank, track in of_group.items() if track.low <= track.high + 1}
    knows_completion = all(track.knows_completion for track in known.values())
    if not known:
        return _Tail(0, None, (), (), False, False, False)
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
    others = tuple(sorted({*known} - {*ranks}))
    is_ambiguous = len(ranks) == len(others) > 1 or (not knows_completion and kind == "extra")
    return _Tail(seq, kind, tuple(ranks), others, bool(waiting), is_ambiguous, knows_completion)


def _fault(
    absent: list[int], waiting: list[int], past: list[int], held: set[int]
) -> tuple[Literal["missing", "extra", "state"] | None, list[int]]:
    issued = sorted([*waiting, *past])
    if absent and issued:
        return ("missing", absent) if len(absent) <= len(issued) or not held.isdisjoint(absent) else ("extra", issued)
    return ("state", waiting) if 0 < len(waiting) < len(past) else (None, [])


def _of_tail(name: str, tail: _Tail, of_group: dict[int, Track]) -> Divergence:
    assert tail.kind is not None
    shown = tail.ranks[:MAX_SIDES]
    if tail.kind == "missing":
        found = tuple(side for rank in shown for side in of_group[rank].recorder.last())
    else:
        found = tuple(_step_side((r,), of_group, tail.seq) for r in shown if of_group[r].at(tail.seq) >= 0)
    expected = next((r for r in tail.others if of_group[r].at(tail.seq) >= 0), None)
    usual = _step_side((expected,), of_group, tail.seq) if expected is not None else None
    return Divergence(tail.kind, name, tail.seq, tail.ranks, usual, found, tail.is_ambiguous)


def _failing(name: str, of_source: OneSide, of_target: OneSide) -> Iterator[Divergence]:
    """Yield the sends that meet no receive of their size and type, and the other way round."""
    sends, receives = of_source.rows, of_target.rows
    for send, receive in zip(sends, receives, strict=False):
        kind = of_source.recorder.dump.call(send).differs_from(of_target.recorder.dump.call(receive))
        if kind is not None:
            sent, got = of_source.recorder.side(send), of_target.recorder.side(receive)
            yield Divergence(kind, name, _number(got), sent.ranks, got, (sent,), is_ambiguous=True)
    met = min(len(sends), len(receives))
    for side, other in ((of_source, of_target), (of_target, of_source)):
        for row in (row for row in side.rows[met:] if row in side.pending):
            waits = side.recorder.side(row)
            yield Divergence("p2p", name, _number(waits), (other.recorder.rank,), waits, other.recorder.last())


def _number(side: Side) -> int:
    return side.entry.p2p_seq if side.entry.p2p_seq >= 0 else side.entry.seq


def _with_blocked(divergence: Divergence, key: GroupKey, blocked: Blocked) -> Divergence:
    """Name the ranks at fault that wait elsewhere, for what they issued before they could come here."""
    if divergence.kind not in ("missing", "p2p"):
        return divergence
    waits = ((rank, place) for rank in divergence.ranks for place in blocked.get(rank, []))
    elsewhere = [(rank, place) for rank, place in waits if divergence.kind == "p2p" or place[1] != key]
    places = {rank: (rank, group[0], seq) for rank, (_, group, seq) in reversed(elsewhere)}  # the first of each
    at_fault = tuple(rank for rank in divergence.ranks if rank not in places)
    return replace(divergence, ranks=at_fault or divergence.ranks, blocked_in=tuple(sorted(places.values())))
