"""One rank's flight recorder, reduced: what `reader` yields and `comparison` compares; and which rank wrote it.

Distinct calls are kept once and shared between dumps; per entry there is one row of numbers, so that a thousand dumps
of two thousand entries take about 150 MB.
"""

from __future__ import annotations

import itertools
import json
from array import array
from collections.abc import Sequence
from dataclasses import astuple, field, replace
from functools import lru_cache
from typing import Any, Literal

from ..lines.path_identity import identities_from_paths
from ..lines.rank_ranges import rank_ranges
from ..lines.record import record

RankFrom = Literal["content", "name", "number"]  # `number`: one in a name that does not call it a rank
State = Literal["scheduled", "started", "completed", "unknown"]
STATES: tuple[State, ...] = ("scheduled", "started", "completed", "unknown")
PLAIN = ("name", "rank", "rank_from", "backend", "is_json")  # of a dump, which JSON holds as they are
MOST_SIZES = 3  # shown of a coalesced call
MAX_RANKS = 2**21  # a saved scan may be hostile: `0-999999999` is short
Sizes = tuple[tuple[int, ...], ...]


@record
class Call:
    """What was called, apart from when: `peers` are group ranks (source, destination); `frame` is the user's line."""

    group: str
    op: str
    peers: tuple[int, int] | None
    is_p2p: bool
    input_sizes: Sizes
    output_sizes: Sizes
    input_dtypes: tuple[str, ...]
    output_dtypes: tuple[str, ...]
    frame: str

    @property
    def way(self) -> str:
        """From whom to whom, `0->1`; empty for what has no peers."""
        return f"{self.peers[0]}->{self.peers[1]}" if self.peers else ""

    @property
    def said(self) -> str:
        """What was issued, as one reads it: `all_reduce [3] Float`."""
        given, got = _shown(self.input_sizes), _shown(self.output_sizes)
        sizes = f"{given} -> {got}" if given and got and given != got else given or got
        return " ".join(filter(None, (self.op, self.way, sizes, ",".join(dict.fromkeys(self.input_dtypes)))))

    def differs_from(self, received: Call) -> Literal["size", "dtype"] | None:
        """In what a send differs from the receive that it should meet."""
        if (self.input_sizes or self.output_sizes) != (received.output_sizes or received.input_sizes):
            return "size"
        types = (self.input_dtypes or self.output_dtypes), (received.output_dtypes or received.input_dtypes)
        return "dtype" if all(types) and types[0] != types[1] else None


def _shown(sizes: Sizes) -> str:
    shown = ", ".join(f"[{','.join(map(str, dims))}]" for dims in sizes[:MOST_SIZES])
    return f"{shown}, …" if len(sizes) > MOST_SIZES else shown


@record
class Entry:
    """One recorded collective; numbers are -1 where the dump does not say, `line` is its line in a JSON dump."""

    call: Call
    seq: int
    p2p_seq: int
    created_ns: int
    state: State
    line: int

    @property
    def text(self) -> str:
        """Writes the entry the way the recorder names things, on one line."""
        call = self.call
        number = f"p2p_seq_id={self.p2p_seq}" if call.is_p2p else f"collective_seq_id={self.seq}"
        given, got = ([list(dims) for dims in side] for side in (call.input_sizes, call.output_sizes))
        types = f"dtypes={','.join(call.input_dtypes)}" if call.input_dtypes else ""
        words = (number, call.op, call.way, f"input_sizes={given}", f"output_sizes={got}", types, f"state={self.state}")
        return " ".join(filter(None, words))


@record
class GroupConfig:
    """A process group as one dump describes it; no ranks: the dump does not say."""

    desc: str
    ranks: tuple[int, ...]


@record
class Dump:
    """One rank's recorder, reduced: distinct calls once, and per entry a row of numbers (`columns`)."""

    name: str
    rank: int | None
    rank_from: RankFrom | None
    backend: str
    is_json: bool
    groups: dict[str, GroupConfig]
    status: dict[str, tuple[int, int, int]]  # last enqueued, started, completed
    calls: tuple[Call, ...]
    columns: dict[str, array[int]] = field(repr=False)

    def __len__(self) -> int:
        return len(self.columns["call"])

    def call(self, row: int) -> Call:
        """Returns what was called."""
        return self.calls[self.columns["call"][row]]

    def entry(self, row: int) -> Entry:
        """Returns one entry with all it says."""
        seq, p2p_seq, created_ns, state = (self.columns[name][row] for name in ("seq", "p2p_seq", "created_ns", "state"))
        line = self.columns["line"][row] if self.columns["line"] else 1
        return Entry(self.call(row), seq, p2p_seq, created_ns, STATES[state], line)

    def to_json(self) -> dict[str, Any]:
        """Returns plain JSON values, from which `from_json` makes an equal dump."""
        return {
            **{key: getattr(self, key) for key in PLAIN},
            "groups": {name: [g.desc, rank_ranges(g.ranks)] for name, g in self.groups.items()},
            "status": {name: list(numbers) for name, numbers in self.status.items()},
            "calls": [list(astuple(call)) for call in self.calls],
            "columns": {name: numbers.tolist() for name, numbers in self.columns.items()},
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> Dump:
        """Returns the dump that `to_json` wrote."""
        return Dump(
            **{key: value[key] for key in PLAIN},
            groups={name: GroupConfig(desc, _ranks(spans)) for name, (desc, spans) in value["groups"].items()},
            status={name: (numbers[0], numbers[1], numbers[2]) for name, numbers in value["status"].items()},
            calls=tuple(_call(json.dumps(call)) for call in value["calls"]),
            columns={name: array("q", numbers) for name, numbers in value["columns"].items()},
        )


@lru_cache(maxsize=4096)
def _ranks(spans: str) -> tuple[int, ...]:
    """Reads `0-3,8`; cached, so that a thousand dumps share one tuple."""
    ends = [span.partition("-") for span in spans.split(",") if span]
    spans_of = [range(int(first), int(last or first) + 1) for first, _, last in ends]
    return tuple(itertools.islice(itertools.chain(*spans_of), MAX_RANKS))


@lru_cache(maxsize=65536)
def _call(text: str) -> Call:
    """Makes a call of its JSON text; cached, so that a thousand dumps share one object."""
    group, op, peers, is_p2p, *sides, in_types, out_types, frame = json.loads(text)
    ins, outs = (tuple(tuple(dims) for dims in side) for side in sides)
    way = (peers[0], peers[1]) if peers else None
    return Call(group, op, way, is_p2p, ins, outs, tuple(in_types), tuple(out_types), frame)


def placed(dumps: Sequence[Dump], world_size: int | None = None) -> list[Dump]:
    """A dump that names no rank is its folder's (`rank_3/dump.pkl`), else the one of its groups that no other claims.
    `world_size`: as the logs or the caller state it. A name's number outside of what is known is no rank."""
    identities = identities_from_paths([dump.name for dump in dumps])
    dumps = [replace(dump, rank=identities[dump.name].rank) if dump.rank is None else dump for dump in dumps]
    dumps = [dump if _may_be_rank(dump, world_size, len(dumps)) else replace(dump, rank=None) for dump in dumps]
    unplaced = [place for place, dump in enumerate(dumps) if dump.rank is None]
    if len(unplaced) == 1:
        only = dumps[unplaced[0]]
        free = {rank for group in only.groups.values() for rank in group.ranks} - {dump.rank for dump in dumps}
        if len(free) == 1:
            dumps[unplaced[0]] = replace(only, rank=free.pop())
    return dumps


def _may_be_rank(dump: Dump, world_size: int | None, count: int) -> bool:
    """Whether the rank lies within its groups, else within the world; a mere number within a job of as many dumps."""
    if dump.rank is None or dump.rank_from == "content":
        return True
    members = {rank for group in dump.groups.values() for rank in group.ranks}
    if members:
        return dump.rank in members
    most = world_size if world_size is not None or dump.rank_from != "number" else count
    return most is None or dump.rank < most
