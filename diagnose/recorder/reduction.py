"""Plain values of a flight-recorder dump, of any version, reduced to what a comparison of ranks needs.

Runs in the child process (`child.py`), so it imports next to nothing of the package. What the entries of a dump
have in common is interned, the rest become columns of numbers; a value of the wrong type skips its entry.
"""

from __future__ import annotations

import contextlib
import re
from array import array
from typing import Any

from ..lines.rank_ranges import rank_ranges

MAX_RANKS_TEXT_CHARS = 16 * 2**20
MAX_VALUES = 2**21  # ranks, sizes and types in what is kept: a pickle refers to one list as often as it likes
TOO_MANY_VALUES = f"expands to more than {MAX_VALUES:,} ranks, sizes and types"
STATES: dict[Any, int] = {"scheduled": 0, "started": 1, "completed": 2}
COLUMNS = ("call", "seq", "p2p_seq", "record", "created_ns", "state")
P2P = re.compile(r"^(send|recv) {1,4}(\d{1,9}) ?(->|<-) ?(\d{1,9})")  # `nccl:send 0->1`, `nccl:recv 1<-0`
# Frames between the user's line and the collective: `.../torch/distributed/c10d_logger.py`, `<frozen runpy>`.
LIBRARY = re.compile(r"/(?:site|dist)-packages/|/torch/distributed/|/lib/python3|^<frozen ")


class BadDumpError(Exception):
    """Says in one line why a dump cannot be read."""


def _entries(top: Any) -> tuple[dict[Any, Any], list[Any]]:
    """Return the head and the entries: 2.2 wrote a bare list of entries, later versions a dict around them."""
    if isinstance(top, dict):
        entries = top.get("entries", [])
        if isinstance(entries, list) and ("version" in top or "pg_config" in top or _is_entry(entries[:1])):
            return top, entries
    elif isinstance(top, list) and _is_entry(top[:1]):
        return {}, top
    raise BadDumpError("not a flight-recorder dump: it has no list of collectives")


def _is_entry(values: list[Any]) -> bool:
    return bool(values) and isinstance(values[0], dict) and "profiling_name" in values[0]


def _int(value: Any) -> int:
    """Return a 64-bit int; -1 for anything else (JSON writes the numbers of `pg_status` as strings)."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value):
        return int(value)
    if isinstance(value, float) and abs(value) < 2**62:
        return int(value)
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else -1


def _text(value: Any) -> str:
    return str(value)[:200] if isinstance(value, (str, int)) else ""


def _ranks(value: Any) -> list[int]:
    """Read `"[0, 1, 2]"`; an empty list means that the dump does not say."""
    if isinstance(value, str) and len(value) < MAX_RANKS_TEXT_CHARS:
        value = re.findall(r"\d{1,9}", value)
    return [int(rank) for rank in value if _int(rank) >= 0] if isinstance(value, list) else []


def _groups(head: dict[Any, Any]) -> dict[str, dict[str, Any]]:
    config = head.get("pg_config")
    found: dict[str, dict[str, Any]] = {}
    values = 0
    for name, about in config.items() if isinstance(config, dict) else ():
        about = about if isinstance(about, dict) else {}  # noqa: PLW2901
        found[_text(name)] = {"desc": _text(about.get("desc")), "ranks": (ranks := _ranks(about.get("ranks")))}
        values += len(ranks)
        if values > MAX_VALUES:
            raise BadDumpError(TOO_MANY_VALUES)
    return found


class _Reduction:
    """Interns what the entries of one dump have in common and keeps the rest as columns of numbers."""

    def __init__(self, head: dict[Any, Any]) -> None:
        self.config = _groups(head)
        self.groups: dict[str, dict[str, Any]] = {}
        self.calls: dict[tuple[Any, ...], int] = {}
        self.shown: list[list[Any]] = []
        self.frames: dict[str, bool] = {}
        self.pg_ids: dict[str, str] = {}
        self.backends: set[str] = set()
        self.last_was_p2p: dict[Any, bool] = {}
        self.rows: list[tuple[Any, ...]] = []
        self.values = 0

    def add(self, entry: Any) -> None:
        with contextlib.suppress(AttributeError, TypeError, ValueError, KeyError, OverflowError, RecursionError):
            self.rows.append((self._call(entry), *_numbers(entry)))

    def _call(self, entry: Any) -> int:
        get = entry.get
        key = (
            get("pg_id"),
            tuple(get("process_group") or ()),
            get("profiling_name"),
            tuple(map(tuple, get("input_sizes") or ())),
            tuple(map(tuple, get("output_sizes") or ())),
            tuple(get("input_dtypes") or ()),
            tuple(get("output_dtypes") or ()),
            self._is_p2p(get("is_p2p"), get("profiling_name"), get("pg_id")),
            self._frame(get("frames")),
        )
        known = self.calls.get(key)
        return self._new_call(key) if known is None else known

    def _is_p2p(self, said: Any, name: Any, pg_id: Any) -> bool:
        """Up to 2.3 the entry does not say; the `coalesced` that closes a batch of sends is one of them."""
        if said is None:
            op = _text(name).rpartition(":")[2]
            said = op.startswith(("send", "recv")) or (op == "coalesced" and self.last_was_p2p.get(pg_id, False))
            self.last_was_p2p[pg_id] = said
        return bool(said)

    def _new_call(self, key: tuple[Any, ...]) -> int:
        pg_id, pair, name, ins, outs, in_types, out_types, is_p2p, frame = key
        self.values += sum(map(len, (ins, outs, in_types, out_types, *ins, *outs)))
        if self.values > MAX_VALUES:
            raise BadDumpError(TOO_MANY_VALUES)
        backend, _, op = _text(name).rpartition(":")
        self.backends.add(backend)
        group = self._group(pg_id, pair)
        op, peers = _peers(op)
        sizes = [[[_int(n) for n in dims] for dims in side] for side in (ins, outs)]
        types = [[_text(t) for t in side] for side in (in_types, out_types)]
        self.calls[key] = call = len(self.shown)
        self.shown.append([group, op, peers, is_p2p, *sizes, *types, frame])
        return call

    def _group(self, pg_id: Any, pair: tuple[Any, ...]) -> str:
        """Name the group as every rank does, and find its ranks (Gloo's `pg_config` has `""` where entries say `0`)."""
        name = _text(pair[0]) if pair else _text(pg_id)
        desc = _text(pair[1]) if len(pair) > 1 else ""
        self.pg_ids[_text(pg_id)] = name
        about = self.config.get(name)
        if about is None:
            unnamed = [c for key, c in self.config.items() if key == "" or (desc and c["desc"] == desc)]
            about = unnamed[0] if len(unnamed) == 1 else {"desc": desc, "ranks": []}
        self.groups.setdefault(name, {"desc": desc or about["desc"], "ranks": about["ranks"]})
        return name

    def _frame(self, frames: Any) -> str:
        """Return the innermost frame outside the libraries, else the innermost, as `function at file:line`."""
        if not isinstance(frames, list) or not frames:
            return ""
        known = self.frames
        for frame in frames:
            file = frame["filename"]
            if file not in known:
                known[file] = bool(LIBRARY.search(_text(file)))
            if not known[file]:
                break
        else:
            frame = frames[0]
        return f"{frame['name']} at {frame['filename']}:{frame['line']}"[:400]

    def columns(self) -> dict[str, list[int]]:
        columns = {}
        for name, values in zip(COLUMNS, zip(*self.rows, strict=True) if self.rows else [()] * len(COLUMNS), strict=True):
            try:
                columns[name] = array("q", values).tolist()
            except (TypeError, OverflowError):
                columns[name] = [_int(value) for value in values]
        return columns


def _numbers(entry: dict[Any, Any]) -> tuple[Any, ...]:
    """Return the values of `COLUMNS` after the call, not yet checked."""
    get = entry.get
    seq, created = get("collective_seq_id"), get("time_created_ns")
    return (
        get("seq_id", -1) if seq is None else seq,  # `seq_id`: 2.2 and 2.3
        get("p2p_seq_id", -1),
        get("record_id", -1),
        _int(get("time_created_us")) * 1000 if created is None else created,  # us: 2.2
        STATES.get(get("state"), 3),
    )


def _peers(op: str) -> tuple[str, list[int] | None]:
    found = P2P.match(op)
    if found is None:
        return op, None
    here, there = int(found[2]), int(found[4])
    return found[1], [here, there] if found[3] == "->" else [there, here]


def _status(head: dict[Any, Any], names: dict[str, str]) -> dict[str, list[int]]:
    """Read how far each group came; keyed by a local id, which names a group only through its entries (0: default)."""
    status = head.get("pg_status")
    found = {}
    for pg_id, about in status.items() if isinstance(status, dict) else ():
        name = names.get(_text(pg_id), "0" if _text(pg_id) == "0" else None)
        if isinstance(about, dict) and name is not None:
            keys = ("last_enqueued_collective", "last_started_collective", "last_completed_collective")
            found[name] = [_int(about.get(key)) for key in keys]
    return found


def _own_rank(head: dict[Any, Any], reduction: _Reduction) -> int | None:
    """Find the rank that wrote the dump: said, or the only member of all its groups, or who its sends come from."""
    for key in ("rank", "global_rank"):
        if _int(head.get(key)) >= 0:
            return _int(head.get(key))
    members = [set(about["ranks"]) for about in reduction.config.values() if about["ranks"]] or [set()]
    if len(shared := set.intersection(*members)) == 1:
        return int(shared.pop())
    for group, op, peers, *_ in reduction.shown:
        ranks = reduction.groups[group]["ranks"]
        here = peers[0 if op == "send" else 1] if peers else len(ranks)
        if here < len(ranks):
            return int(ranks[here])
    return None


def reduce_values(top: Any) -> dict[str, Any]:
    """Return the reduced form of a dump as plain JSON values; raises `BadDumpError` with the reason."""
    head, entries = _entries(top)
    reduction = _Reduction(head)
    for entry in entries:
        reduction.add(entry)
    if entries and not reduction.rows:
        raise BadDumpError("not a flight-recorder dump: none of its entries can be read")
    used = [id(about["ranks"]) for about in reduction.groups.values()]
    for name, about in reduction.config.items():
        if id(about["ranks"]) not in used:
            reduction.groups.setdefault(name, about)
    return {
        "rank": _own_rank(head, reduction),
        "backend": ",".join(sorted(reduction.backends - {""})),
        "groups": {n: [g["desc"], rank_ranges(g["ranks"])] for n, g in sorted(reduction.groups.items())},
        "status": _status(head, reduction.pg_ids),
        "calls": reduction.shown,
        "columns": reduction.columns(),
    }
