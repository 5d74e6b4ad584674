"""Per process group and rank, the collectives in order: what `flight_recorder.py` lays side by side.

In: dumps. Out: one `Recorder` per rank, and per group one `Track` per rank, as arrays of small numbers: what was called
is interned over all dumps, so that two ranks agree at a sequence number exactly when two ints are equal.
"""

from __future__ import annotations

import bisect
import itertools
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..lines.record import record
from .dump import Call, Dump, Entry

NOTHING_COVERED = 2**62
SAME_ATTEMPT_NS = 60 * 10**9  # a pickle and a JSON of one rank are written within seconds; a restart takes longer
COMPLETED = 2  # index into STATES

PARTS = 4  # of the shape of one call: operation, input sizes, output sizes, types
Shape = tuple[object, ...]
GroupKey = tuple[str, tuple[int, ...]]


@record
class Recorder:
    """What is known of one rank: its best dump, and the text one of the same moment, which a reader can open."""

    rank: int
    dump: Dump
    text: Dump
    is_truncated: bool  # the ring buffer has lost its oldest entries

    def place(self, row: int) -> tuple[str, int]:
        """Returns the file and line that show an entry; line 1 of a pickle."""
        if self.text is self.dump or len(self.text) != len(self.dump):
            return self.dump.name, self.dump.entry(row).line
        return self.text.name, self.text.entry(row).line


@dataclass(slots=True)
class Track:
    """One rank's collectives in one group, by ascending sequence number; `rows` point into its dump."""

    recorder: Recorder
    seqs: array[int]
    shapes: array[int]
    rows: array[int]
    low: int  # from here on the buffer is complete
    high: int  # last enqueued
    done: int  # last completed
    knows_completion: bool  # Gloo leaves every entry `scheduled`

    def at(self, seq: int) -> int:
        """Returns the position of a sequence number, or -1."""
        found = bisect.bisect_left(self.seqs, seq)
        return found if found < len(self.seqs) and self.seqs[found] == seq else -1

    def shape(self, seq: int) -> int:
        """Returns what was called at a sequence number, as an interned number; -1 for nothing."""
        found = self.at(seq)
        return self.shapes[found] if found >= 0 else -1

    def entry(self, seq: int) -> Entry | None:
        """Returns the entry at a sequence number."""
        found = self.at(seq)
        return self.recorder.dump.entry(self.rows[found]) if found >= 0 else None


class Shapes:
    """Numbers for what was called, over all dumps; a coalesced group is the chain of what it holds."""

    def __init__(self) -> None:
        self.numbers: dict[Shape, int] = {}
        self.shapes: list[Shape] = []
        self.chains: dict[tuple[int, int], int] = {}

    def number(self, shape: Shape) -> int:
        """Returns the number of a shape, a new one for a new shape."""
        known = self.numbers.setdefault(shape, len(self.shapes))
        if known == len(self.shapes):
            self.shapes.append(shape)
        return known

    def chained(self, before: int, last: int) -> int:
        """Returns the number of a coalesced group that goes on with one more call."""
        known = self.chains.get((before, last))
        if known is None:
            known = self.chains[before, last] = len(self.shapes)
            self.shapes.append((*self.shapes[before], *self.shapes[last]))
        return known

    def ops(self, number: int) -> tuple[object, ...]:
        """Returns the operations behind a number: one, or those of a coalesced group in order."""
        return self.shapes[number][::PARTS]

    def sizes(self, number: int) -> tuple[object, ...]:
        """Returns the sizes of the inputs and outputs behind a number."""
        shape = self.shapes[number]
        return tuple(part for n, part in enumerate(shape) if n % PARTS in (1, 2))


def shape_of(call: Call) -> Shape:
    """Returns what every rank of a group must call alike: the root's side of a scatter or gather is its own."""
    op = call.op
    has_equal_sizes = any(word in op for word in ("reduce", "broadcast", "gather", "scatter"))
    has_equal_ins = has_equal_sizes and not op.startswith("scatter")
    has_equal_outs = has_equal_sizes and not op.startswith("gather")
    ins = call.input_sizes if has_equal_ins else None
    outs = call.output_sizes if has_equal_outs else None
    types = (call.input_dtypes if has_equal_ins else None, call.output_dtypes if has_equal_outs else None)
    return op, ins, outs, types


def recorders(dumps: Iterable[Dump]) -> dict[int, Recorder]:
    """Returns one recorder per rank, of the latest attempt, with frames rather than without."""
    by_rank: dict[int, list[Dump]] = defaultdict(list)
    for dump in dumps:
        if dump.rank is not None:
            by_rank[dump.rank].append(dump)
    return {rank: _best(rank, found) for rank, found in sorted(by_rank.items())}


def _best(rank: int, dumps: list[Dump]) -> Recorder:
    ends = [max(dump.columns["created_ns"], default=0) for dump in dumps]
    latest = max(ends)
    same = [dump for dump, end in zip(dumps, ends, strict=True) if latest - end < SAME_ATTEMPT_NS]
    same.sort(key=lambda dump: (not any(c.frame for c in dump.calls[:8]), -len(dump), dump.name))
    text = next((dump for dump in same if dump.is_json), same[0])
    return Recorder(rank, same[0], text, _is_truncated(same[0]))


def _is_truncated(dump: Dump) -> bool:
    records, seqs = dump.columns["record"], dump.columns["seq"]
    if not records:
        return False
    first = min(records)
    return first > 0 if first >= 0 else min(seqs) > 1  # 2.2 numbers no records


def tracks(of_ranks: dict[int, Recorder], shapes: Shapes) -> dict[GroupKey, dict[int, Track]]:
    """Returns each group's tracks by rank; a group is its name and its ranks, since names alone may be reused."""
    found: dict[GroupKey, dict[int, Track]] = defaultdict(dict)
    without_ranks: list[tuple[str, Track]] = []
    for rank, recorder in of_ranks.items():
        for name, track in _tracks_of(recorder, shapes).items():
            ranks = recorder.dump.groups[name].ranks
            if rank in ranks:
                found[name, ranks][rank] = track
            else:
                without_ranks.append((name, track))
    for name, track in without_ranks:
        rank = track.recorder.rank
        fitting = [key for key in found if key[0] == name and (rank in key[1] or not key[1])]
        found[fitting[0] if fitting else (name, ())][rank] = track
    for (_, ranks), of_group in found.items():
        for rank in set(ranks) & set(of_ranks) - set(of_group):  # has not made the group that others wait in
            low = NOTHING_COVERED if of_ranks[rank].is_truncated else 0
            of_group[rank] = Track(of_ranks[rank], array("i"), array("i"), array("i"), low, 0, 0, True)
    return dict(found)


def _tracks_of(recorder: Recorder, shapes: Shapes) -> dict[str, Track]:
    dump = recorder.dump
    numbers = [-1 if call.is_p2p else shapes.number(shape_of(call)) for call in dump.calls]
    rows: dict[str, list[int]] = {name: [] for name in dump.groups}
    lists = [rows[call.group] for call in dump.calls]
    for row, call in enumerate(dump.columns["call"]):
        if numbers[call] >= 0:
            lists[call].append(row)
    return {name: _track(recorder, name, of_group, numbers, shapes) for name, of_group in rows.items()}


def _track(recorder: Recorder, name: str, rows: list[int], numbers: list[int], shapes: Shapes) -> Track:
    columns = recorder.dump.columns
    calls, states = columns["call"], columns["state"]
    seq_of = _seqs(recorder, name, rows)
    track = Track(recorder, array("i"), array("i"), array("i"), 0, 0, 0, True)
    seqs, chain, firsts = track.seqs, track.shapes, track.rows
    last = NOTHING_COVERED
    for row, seq in zip(rows, seq_of, strict=True):
        if seq == last:  # a coalesced group: its parts share a number
            chain[-1] = shapes.chained(chain[-1], numbers[calls[row]])
        else:
            seqs.append(seq)
            chain.append(numbers[calls[row]])
            firsts.append(row)
            last = seq
        if states[row] == COMPLETED and seq > track.done:
            track.done = seq
    _sort(track)
    _bounds(track, name, was_split=len(seq_of) > 1 and seq_of[0] == seq_of[1])
    return track


def _seqs(recorder: Recorder, name: str, rows: list[int]) -> Sequence[int]:
    """Up to 2.3 sends share the counter, so that it differs between ranks; the place among collectives does not."""
    seqs = [recorder.dump.columns["seq"][row] for row in rows]
    if not _counts_sends(recorder.dump, name):
        return seqs
    placed: list[int] = []
    for at, seq in enumerate(seqs):
        placed.append(1 if at == 0 else placed[-1] + (seq != seqs[at - 1]))
    return placed


def _counts_sends(dump: Dump, name: str) -> bool:
    return any(dump.columns["p2p_seq"][:1]) and dump.columns["p2p_seq"][0] < 0 and _has_p2p(dump, name)


def _has_p2p(dump: Dump, name: str) -> bool:
    return any(call.is_p2p and call.group == name for call in dump.calls)


def _sort(track: Track) -> None:
    """Entries of a buffer that wrapped may come newest first."""
    seqs = track.seqs
    if any(a > b for a, b in itertools.pairwise(seqs)):
        order = sorted(range(len(seqs)), key=seqs.__getitem__)
        track.shapes = array("i", [track.shapes[n] for n in order])
        track.rows = array("i", [track.rows[n] for n in order])
        track.seqs = array("i", sorted(seqs))


def _bounds(track: Track, name: str, was_split: bool) -> None:
    dump, is_truncated = track.recorder.dump, track.recorder.is_truncated
    has_p2p = _has_p2p(dump, name)
    enqueued, _, completed = dump.status.get(name, (-1, -1, -1))
    track.knows_completion = track.done > 0 or "gloo" not in dump.backend
    if track.seqs:
        track.low = track.seqs[0] + was_split if is_truncated else 0
        track.high = track.seqs[-1]
    elif enqueued >= 0 and not has_p2p:
        track.high = track.done = enqueued  # all of it has left the buffer
        track.low = enqueued + 1
        track.done = min(completed, enqueued)
    else:
        track.low = NOTHING_COVERED if is_truncated else 0
    if track.knows_completion and not has_p2p and "gloo" not in dump.backend:
        track.done = max(track.done, min(completed, track.high))
    if is_truncated and _counts_sends(dump, name):
        track.low = NOTHING_COVERED  # how many of the numbers that were lost were sends is not known
