"""Point-to-point pairs of one process group: every send meets a receive of the same size and type, in order.

In: the recorders of a group's ranks. Out: what did not meet (`Unpaired`), and where each rank waits (`waits`). A pair
of which one side has no dump, or whose start has left a ring buffer with nothing to align by, is not judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..lines.record import record
from .dump import Call, Dump
from .tracks import COMPLETED, Recorder


@record
class Unpaired:
    """A send or receive whose other side is absent, or differs in size or type; ranks are global."""

    kind: Literal["p2p", "size", "dtype"]
    source: int
    target: int
    waiting: int  # the rank that did its part
    row: int  # in the dump of the waiting rank
    other_row: int  # in the other's dump; -1: absent


@dataclass(slots=True)
class _Side:
    """One rank's sends to, or receives from, one peer: rows in order, each with the collective before it."""

    rows: list[int]
    anchors: list[int]


def unpaired(name: str, ranks: Sequence[int], of_ranks: dict[int, Recorder]) -> list[Unpaired]:
    """Returns the first mismatch of every pair of ranks of the group."""
    sides: dict[tuple[int, int], dict[str, _Side]] = defaultdict(dict)
    for rank in ranks:
        if rank in of_ranks:
            for (op, source, target), side in _sides(name, ranks, of_ranks[rank].dump).items():
                sides[source, target][op] = side
    found = []
    for (source, target), both in sorted(sides.items()):
        if source in of_ranks and target in of_ranks:
            found += _first_mismatch(name, of_ranks[source], of_ranks[target], both)
    return found


def waits(name: str, dump: Dump) -> int:
    """Returns the row of the first send or receive of the group that has not completed; -1 where none waits."""
    calls = dump.calls
    if "gloo" in dump.backend or not any(call.is_p2p and call.group == name for call in calls):
        return -1
    pending: dict[int, int] = {}
    for row, number in enumerate(dump.columns["call"]):
        call = calls[number]
        if call.is_p2p and call.group == name:
            seq = _batch(dump, row)
            if dump.columns["state"][row] == COMPLETED:
                pending.pop(seq, None)  # of a batch only the closing `coalesced` completes (pytorch#137969)
            else:
                pending.setdefault(seq, row)
    return min(pending.values(), default=-1)


def _sides(name: str, ranks: Sequence[int], dump: Dump) -> dict[tuple[str, int, int], _Side]:
    wanted: list[tuple[str, int, int] | None] = [_peers(call, name, ranks) for call in dump.calls]
    found: dict[tuple[str, int, int], _Side] = {}
    if not any(wanted):
        return found
    for row, number in enumerate(dump.columns["call"]):
        key = wanted[number]
        if key is not None:
            side = found.setdefault(key, _Side([], []))
            side.rows.append(row)
            side.anchors.append(dump.columns["seq"][row])
    return found


def _peers(call: Call, name: str, ranks: Sequence[int]) -> tuple[str, int, int] | None:
    if call.group != name or call.peers is None or max(call.peers) >= len(ranks):
        return None
    return call.op, ranks[call.peers[0]], ranks[call.peers[1]]


def _first_mismatch(name: str, source: Recorder, target: Recorder, both: dict[str, _Side]) -> list[Unpaired]:
    empty = _Side([], [])
    sends, receives = both.get("send", empty), both.get("recv", empty)
    if source.is_truncated or target.is_truncated:
        aligned = _aligned(name, source, target, sends, receives)
        if aligned is None:
            return []
        sends, receives = aligned
    for send, receive in zip(sends.rows, receives.rows, strict=False):
        kind = _difference(source.dump, send, target.dump, receive)
        if kind is not None:
            return [Unpaired(kind, source.rank, target.rank, target.rank, receive, send)]
    return _absent(source, target, sends, receives)


def _absent(source: Recorder, target: Recorder, sends: _Side, receives: _Side) -> list[Unpaired]:
    met = min(len(sends.rows), len(receives.rows))
    for waiting, rows in ((source, sends.rows[met:]), (target, receives.rows[met:])):
        for row in rows:
            if not _has_completed(waiting.dump, row):
                return [Unpaired("p2p", source.rank, target.rank, waiting.rank, row, -1)]
    return []


def _batch(dump: Dump, row: int) -> int:
    """Return what the sends and receives of one batch share; up to 2.3 there is one counter for all."""
    p2p_seq = dump.columns["p2p_seq"][row]
    return p2p_seq if p2p_seq >= 0 else dump.columns["seq"][row]


def _has_completed(dump: Dump, row: int) -> bool:
    if dump.columns["state"][row] == COMPLETED:
        return True
    seq = _batch(dump, row)
    group = dump.calls[dump.columns["call"][row]].group
    for later in range(row + 1, len(dump)):  # the `coalesced` that closes the batch
        call = dump.calls[dump.columns["call"][later]]
        if call.group == group and call.is_p2p and _batch(dump, later) != seq:
            return False
        if call.op == "coalesced" and call.group == group and call.is_p2p:
            return dump.columns["state"][later] == COMPLETED
    return False


def _aligned(name: str, source: Recorder, target: Recorder, sends: _Side, receives: _Side) -> tuple[_Side, _Side] | None:
    """Cut both sides to where both buffers are complete: after a collective that both still hold."""
    firsts = [side.anchors[0] for side in (sends, receives) if side.anchors]
    counts_alone = any(seq >= 0 for seq in source.dump.columns["p2p_seq"][:1])  # else `seq` is not a number of collectives
    if not firsts or not counts_alone or max(*(sends.anchors or [0]), *(receives.anchors or [0])) == min(firsts):
        return _only_waiting(source, target, sends, receives)
    start = max(_first_anchor(recorder, name) for recorder in (source, target))
    return _after(sends, start), _after(receives, start)


def _first_anchor(recorder: Recorder, name: str) -> int:
    dump = recorder.dump
    if not recorder.is_truncated:
        return -1
    of_group = (dump.calls[c].group == name for c in dump.columns["call"])
    return min((s for s, is_of_group in zip(dump.columns["seq"], of_group, strict=True) if is_of_group), default=0)


def _after(side: _Side, start: int) -> _Side:
    kept = [n for n, anchor in enumerate(side.anchors) if anchor > start]
    return _Side([side.rows[n] for n in kept], [side.anchors[n] for n in kept])


def _only_waiting(source: Recorder, target: Recorder, sends: _Side, receives: _Side) -> tuple[_Side, _Side] | None:
    """Without collectives in between, what has not completed on both sides is what must meet."""
    if "gloo" in source.dump.backend:
        return None
    cut = [
        [row for row in side.rows if not _has_completed(recorder.dump, row)]
        for recorder, side in ((source, sends), (target, receives))
    ]
    return _Side(cut[0], []), _Side(cut[1], [])


def _difference(of_send: Dump, send: int, of_receive: Dump, receive: int) -> Literal["size", "dtype"] | None:
    sent, received = (dump.calls[dump.columns["call"][row]] for dump, row in ((of_send, send), (of_receive, receive)))
    if (sent.input_sizes or sent.output_sizes) != (received.output_sizes or received.input_sizes):
        return "size"
    types = (sent.input_dtypes or sent.output_dtypes), (received.output_dtypes or received.input_dtypes)
    return "dtype" if all(types) and types[0] != types[1] else None
