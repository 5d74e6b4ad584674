"""Whether the JSON of a written scan has the shape that `diagnose scan` gives it.

A scan file comes from elsewhere: it may be cut, edited or hostile, and what reads it later compares numbers and looks up
rows without asking what they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Any

MAX_NUMBER = 1 << 62  # bytes, lines and times in ns; more is no count
_VALUE = (str, int, float, bool, NoneType, list)  # what a rule captured; lists hold ranks or what was listed
_HIT = (str, int, int, int, (dict, NoneType))
_SOURCE: dict[str, Any] = {
    "name": str, "kind": str, "bytes": int, "lines": int, "skipped": (str, NoneType), "gaps": list, "ends_line": bool,
    "tallies": list, "progress": list, "windows": dict, "edge": list,
}  # fmt: skip
_WINDOWS: dict[str, Any] = {
    "lines": list, "spans": list, "long": list, "first": list, "last": list, "open": list,
    "opening": (str, NoneType), "is_all_opening": bool,
}  # fmt: skip
_WALK = (int, str, str, int, int, bool, int, int, int, int)
_DUMP: dict[str, Any] = {
    "name": str, "rank": (int, NoneType), "rank_from": (str, NoneType), "backend": str, "is_json": bool,
    "groups": dict, "status": dict, "calls": list, "columns": dict,
}  # fmt: skip
_CALL = (str, str, (list, NoneType), bool, list, list, list, list, str)
_COLUMNS = ("call", "seq", "p2p_seq", "created_ns", "state")  # of one length; `line` may be empty
STATES = 4


def check_shape(raw: dict[str, Any]) -> None:
    """Raise `TypeError` where a written scan is none."""
    _require(isinstance(raw["catalogue"], str) and _all(raw["gaps"], str))
    for source in raw["sources"]:
        _require(_has(source, _SOURCE) and _all(source["gaps"], str) and _is_source(source))
        _require(_has(source["windows"], _WINDOWS) and _is_windows(source["windows"]))
    for dump in raw["dumps"]:
        _require(_has(dump, _DUMP) and _is_dump(dump))


def _is_source(source: dict[str, Any]) -> bool:
    tallies = [row for row in source["tallies"] if _is_row(row, (str, str, str, bool, list, list))]
    signs = [row for row in source["progress"] if _is_row(row, (str, list)) and len(row[1]) == 2]
    hits = [h for row in tallies for part in row[4:] for h in part] + [h for row in signs for h in row[1]]
    whole = len(tallies) == len(source["tallies"]) and len(signs) == len(source["progress"])
    hits += [row[0] for row in source["edge"] if _is_row(row, (list, str, str, bool))]
    whole = whole and all(_is_row(row, (list, str, str, bool)) for row in source["edge"])
    return whole and all(row[4] for row in tallies) and all(map(_is_hit, hits))


def _is_hit(hit: Any) -> bool:
    return _is_row(hit, _HIT) and all(_all([name], str) and _is_value(v) for name, v in (hit[4] or {}).items())


def _is_value(value: Any) -> bool:
    return _is(value, _VALUE) and (not isinstance(value, list) or _all(value, (str, int, float)))


def _is_windows(windows: dict[str, Any]) -> bool:
    pairs = [pair for name in ("lines", "long", "first", "last") for pair in windows[name]]
    spans = all(_is_row(span, (int, str, list)) and _all(span[2], int) for span in windows["spans"])
    walks = all(_is_row(walk, _WALK) for walk in windows["open"])
    return spans and walks and all(_is_row(pair, (int, str)) for pair in pairs)


def _is_dump(dump: dict[str, Any]) -> bool:
    columns = [dump["columns"].get(name) for name in (*_COLUMNS, "line")]
    if not all(isinstance(column, list) and _all(column, int) for column in columns):
        return False
    calls, states, rows = dump["columns"]["call"], dump["columns"]["state"], len(dump["columns"]["call"])
    return (
        all(len(column) == rows for column in columns[:-1]) and len(dump["columns"]["line"]) in (0, rows)
        and all(0 <= n < len(dump["calls"]) for n in calls) and all(0 <= n < STATES for n in states)
        and all(_is_row(group, (str, str)) for group in dump["groups"].values())
        and all(_is_row(numbers, (int, int, int)) for numbers in dump["status"].values())
        and all(map(_is_call, dump["calls"]))
    )  # fmt: skip


def _is_call(call: Any) -> bool:
    if not _is_row(call, _CALL):
        return False
    _, _, peers, _, ins, outs, in_types, out_types, _ = call
    sizes = all(isinstance(dims, list) and _all(dims, int) for dims in (*ins, *outs))
    return sizes and _all((*in_types, *out_types), str) and (peers is None or _is_row(peers, (int, int)))


def _has(value: Any, shape: dict[str, Any]) -> bool:
    return isinstance(value, dict) and all(name in value and _is(value[name], kinds) for name, kinds in shape.items())


def _is_row(value: Any, shape: tuple[Any, ...]) -> bool:
    return isinstance(value, list) and len(value) == len(shape) and all(map(_is, value, shape))


def _all(values: Iterable[Any], kinds: Any) -> bool:
    return all(_is(value, kinds) for value in values)


def _is(value: Any, kinds: Any) -> bool:
    """As `isinstance`; a number is none that JSON allows and nobody counts to, and a truth value is no number."""
    if isinstance(value, bool):
        return kinds is bool or (isinstance(kinds, tuple) and bool in kinds)
    return isinstance(value, kinds) and (not isinstance(value, int) or -MAX_NUMBER < value < MAX_NUMBER)


def _require(is_whole: bool) -> None:
    if not is_whole:
        raise TypeError("not the shape of a written scan")
