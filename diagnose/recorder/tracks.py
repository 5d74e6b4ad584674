"""What each rank did in each process group, in order: what `comparison` lays side by side.

In: dumps. Out: one `Recorder` per rank, and per group one `Track` per rank. A step is the number of what was called,
over all dumps, so that two ranks did the same exactly where two numbers are equal.
"""

from __future__ import annotations

import bisect
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from ..lines.record import record
from .dump import Call, Dump, Entry

NOTHING_COVERED = 2**62
SAME_ATTEMPT_NS = 60 * 10**9  # a pickle and a JSON of one rank are written within seconds; a restart takes longer
COMPLETED = 2  # index into STATES
LOOK_AHEAD = 4  # steps by which a wrong order is told from a step of another size

Shape = tuple[object, ...]  # of one call: operation, input sizes, output sizes, types
GroupKey = tuple[str, tuple[int, ...]]


class Steps(dict[tuple[Shape, ...], int]):
    """The number of each step: of one call, or of the calls of a coalesced group in order."""

    def __missing__(self, step: tuple[Shape, ...]) -> int:
        return self.setdefault(step, len(self))

    def difference(self, usual: int, odd: int) -> Literal["op", "size", "dtype"]:
        """Returns in what two steps differ."""
        shapes = [*self]
        if [shape[0] for shape in shapes[usual]] != [shape[0] for shape in shapes[odd]]:
            return "op"
        return "size" if [shape[1:3] for shape in shapes[usual]] != [shape[1:3] for shape in shapes[odd]] else "dtype"


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
class Recorder:
    """What is known of one rank: its best dump, and the text one of the same moment, which a reader can open."""

    rank: int
    dump: Dump
    text: Dump
    is_truncated: bool  # the ring buffer has lost its oldest entries

    def side(self, row: int, ranks: Sequence[int] = ()) -> Side:
        """Returns what an entry shows of this rank, or of some that did the same; of a pickle all is on line 1."""
        shown = self.text if len(self.text) == len(self.dump) else self.dump
        return Side(tuple(ranks) or (self.rank,), self.dump.entry(row), shown.name, shown.entry(row).line)

    def last(self) -> tuple[Side, ...]:
        """Returns the last thing that it recorded in any group: where it was when the others waited for it."""
        return (self.side(len(self.dump) - 1),) if len(self.dump) else ()


@dataclass(slots=True)
class Track:
    """One rank's collectives in one group, by ascending sequence number; `rows` point into its dump."""

    recorder: Recorder
    low: int = 0  # from here on the buffer is complete
    high: int = 0  # last enqueued
    done: int = 0  # last completed
    knows_completion: bool = True  # Gloo leaves every entry `scheduled`
    seqs: array[int] = field(default_factory=lambda: array("q"))
    steps: array[int] = field(default_factory=lambda: array("q"))
    rows: array[int] = field(default_factory=lambda: array("q"))

    def at(self, seq: int) -> int:
        """Returns the position of a sequence number, or -1."""
        found = bisect.bisect_left(self.seqs, seq)
        return found if found < len(self.seqs) and self.seqs[found] == seq else -1

    @property
    def waiting(self) -> Entry | None:
        """The first entry that has not completed."""
        found = self.at(self.done + 1) if self.knows_completion else -1
        return self.recorder.dump.entry(self.rows[found]) if found >= 0 else None

    def is_shifted(self, odd: Track, seq: int) -> bool:
        """Tells whether one goes on as the other one did a step before, or two steps changed places: the order is wrong."""
        ours, theirs = (track.steps[track.at(seq) :][:LOOK_AHEAD] for track in (self, odd))
        both = ((ours[1:], theirs), (ours, theirs[1:]), (ours[:2], theirs[1::-1] if len(theirs) > 1 else theirs[:0]))
        return any(a and b and all(x == y for x, y in zip(a, b, strict=False)) for a, b in both)


def shape_of(call: Call) -> Shape:
    """Returns what every rank of a group must call alike: the root's side of a scatter or gather is its own."""
    op = call.op
    has_sizes = any(word in op for word in ("reduce", "broadcast", "gather", "scatter"))
    ins = (call.input_sizes, call.input_dtypes) if has_sizes and not op.startswith("scatter") else (None, None)
    outs = (call.output_sizes, call.output_dtypes) if has_sizes and not op.startswith("gather") else (None, None)
    return op, ins[0], outs[0], (ins[1], outs[1])


def recorders(dumps: Iterable[Dump]) -> dict[int, Recorder]:
    """Returns one recorder per rank, of the latest attempt, with frames rather than without."""
    by_rank: dict[int, list[Dump]] = defaultdict(list)
    for dump in dumps:
        if dump.rank is not None:
            by_rank[dump.rank].append(dump)
    return {rank: _best(rank, found) for rank, found in sorted(by_rank.items())}


def _best(rank: int, dumps: list[Dump]) -> Recorder:
    ends = [max(dump.columns["created_ns"], default=0) for dump in dumps]
    same = [dump for dump, end in zip(dumps, ends, strict=True) if max(ends) - end < SAME_ATTEMPT_NS]
    same.sort(key=lambda dump: (not any(c.frame for c in dump.calls[:8]), -len(dump), dump.name))
    text = next((dump for dump in same if dump.is_json), same[0])
    first = min(same[0].columns["record"], default=0)
    is_truncated = first > 0 if first >= 0 else min(same[0].columns["seq"]) > 1  # 2.2 numbers no records
    return Recorder(rank, same[0], text, is_truncated)


def tracks(of_ranks: dict[int, Recorder], steps: Steps) -> dict[GroupKey, dict[int, Track]]:
    """Returns each group's tracks by rank; a group is its name and its ranks, since names alone may be reused."""
    stated: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for recorder in of_ranks.values():
        for name, group in recorder.dump.groups.items():
            if group.ranks not in stated[name]:
                stated[name].append(group.ranks)
    found: dict[GroupKey, dict[int, Track]] = defaultdict(dict)
    for rank, recorder in of_ranks.items():
        for name, track in _tracks_of(recorder, steps).items():
            own = recorder.dump.groups[name].ranks
            ranks = own if rank in own else next((ranks for ranks in stated[name] if rank in ranks), ())
            found[name, ranks][rank] = track
    for (_, ranks), of_group in found.items():
        for rank in {*ranks} & {*of_ranks} - {*of_group}:  # has not made the group that others wait in
            of_group[rank] = Track(of_ranks[rank], NOTHING_COVERED if of_ranks[rank].is_truncated else 0)
    return dict(found)


def _tracks_of(recorder: Recorder, steps: Steps) -> dict[str, Track]:
    dump = recorder.dump
    rows: dict[str, list[int]] = {name: [] for name in dump.groups}
    lists = [None if call.is_p2p else rows[call.group] for call in dump.calls]
    for row, call in enumerate(dump.columns["call"]):
        of_group = lists[call]
        if of_group is not None:
            of_group.append(row)
    known: dict[tuple[int, ...], int] = {}
    return {name: _track(recorder, name, of_group, steps, known) for name, of_group in rows.items()}


def _track(recorder: Recorder, name: str, rows: list[int], steps: Steps, known: dict[tuple[int, ...], int]) -> Track:
    dump, track = recorder.dump, Track(recorder)
    calls, states = dump.columns["call"], dump.columns["state"]
    counts_sends = _has_p2p(dump, name) and any(seq < 0 for seq in dump.columns["p2p_seq"][:1])
    in_order = sorted(rows, key=dump.columns["seq"].__getitem__)  # a buffer that wrapped may come newest first
    for place, (seq, of_step) in enumerate(groupby(in_order, dump.columns["seq"].__getitem__), start=1):
        own = [*of_step]  # those of a coalesced group share a number
        key = tuple([calls[row] for row in own])
        step = known.get(key)
        if step is None:
            step = known[key] = steps[tuple(shape_of(dump.calls[call]) for call in key)]
        # Up to 2.3 sends share the counter, so that it differs between ranks; the place among collectives does not.
        track.seqs.append(place if counts_sends else seq)
        track.steps.append(step)
        track.rows.append(own[0])
        if COMPLETED in [states[row] for row in own]:
            track.done = track.seqs[-1]
    _bound(track, name, counts_sends=counts_sends)
    return track


def _has_p2p(dump: Dump, name: str) -> bool:
    return any(call.is_p2p and call.group == name for call in dump.calls)


def _bound(track: Track, name: str, *, counts_sends: bool) -> None:
    """Say from where to where the track is known, by its entries or by what the dump says of the group."""
    dump, is_truncated = track.recorder.dump, track.recorder.is_truncated
    enqueued, _, completed = (-1, -1, -1) if _has_p2p(dump, name) else dump.status.get(name, (-1, -1, -1))
    track.knows_completion = track.done > 0 or "gloo" not in dump.backend
    if track.seqs:
        track.low = track.seqs[0] + 1 if is_truncated else 0  # of the oldest step a part may be lost
        track.high = track.seqs[-1]
    elif enqueued >= 0:  # all of it has left the buffer
        track.low, track.high, track.done = enqueued + 1, enqueued, min(completed, enqueued)
    else:
        track.low = NOTHING_COVERED if is_truncated else 0
    if "gloo" not in dump.backend:
        track.done = max(track.done, min(completed, track.high))
    if is_truncated and counts_sends:
        track.low = NOTHING_COVERED  # how many of the numbers that were lost were sends is not known


@record
class OneSide:
    """One rank's sends to another, or receives from it: their rows in its dump, and the rows that have not completed."""

    recorder: Recorder
    rows: list[int]
    pending: frozenset[int]


def pairs(name: str, ranks: Sequence[int], of_ranks: dict[int, Recorder]) -> Iterator[tuple[OneSide, OneSide]]:
    """Yields the sends and the receives of every pair of a group's ranks of which both have a dump. Of a buffer that has
    lost its oldest entries only what has not completed must meet; Gloo completes nothing."""
    rows: dict[tuple[int, int, str], list[int]] = defaultdict(list)  # by source, target and operation
    pending: dict[int, frozenset[int]] = {}
    for rank in (r for r in ranks if r in of_ranks):
        dump = of_ranks[rank].dump
        own, pending[rank] = transfers(dump, name)
        for row in own:
            call = dump.call(row)
            if call.peers is not None and max(call.peers) < len(ranks):
                rows[ranks[call.peers[0]], ranks[call.peers[1]], call.op].append(row)
    for source, target in sorted({(source, target) for source, target, _ in rows}):
        both = [of_ranks[r] for r in (source, target) if r in of_ranks]
        is_truncated = any(recorder.is_truncated for recorder in both)
        if len(both) < 2 or (is_truncated and any("gloo" in recorder.dump.backend for recorder in both)):
            continue
        sides = []
        for recorder, op in zip(both, ("send", "recv"), strict=True):
            of_op, waits = rows.get((source, target, op), []), pending[recorder.rank]
            sides.append(OneSide(recorder, [r for r in of_op if r in waits or not is_truncated], waits))
        yield sides[0], sides[1]


def transfers(dump: Dump, name: str) -> tuple[Sequence[int], frozenset[int]]:
    """Returns the rows of a group's sends and receives, and which of them have not completed. Of a batch only the closing
    `coalesced` completes (pytorch#137969); all of a batch share a number."""
    if not _has_p2p(dump, name):
        return (), frozenset()
    column = dump.columns
    rows = [r for r, c in enumerate(column["call"]) if dump.calls[c].is_p2p and dump.calls[c].group == name]
    batch = {r: n if (n := column["p2p_seq"][r]) >= 0 else column["seq"][r] for r in rows}
    done = {batch[r] for r in rows if column["state"][r] == COMPLETED}
    return rows, frozenset(r for r in rows if batch[r] not in done)
