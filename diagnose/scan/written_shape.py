"""The shape that `diagnose scan` gives the JSON of a scan; one from elsewhere may be cut, edited or hostile."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, TypeAdapter
from typing_extensions import TypedDict

MAX_NUMBER = 1 << 62  # bytes, lines and times in ns; more is no count
STATES = 4  # of a collective in a flight recorder's dump
COLUMNS = {"call", "seq", "p2p_seq", "created_ns", "state", "line"}  # of one length, but for `line`, which may be empty
Int: TypeAlias = Annotated[StrictInt, Field(gt=-MAX_NUMBER, lt=MAX_NUMBER)]
Plain: TypeAlias = StrictStr | StrictBool | Int | StrictFloat | None
Captured: TypeAlias = Plain | list[StrictStr | Int | StrictFloat]  # lists hold ranks, or what was listed
Hit: TypeAlias = tuple[StrictStr, Int, Int, Int, dict[StrictStr, Captured] | None]
Tally: TypeAlias = tuple[StrictStr, StrictStr, StrictStr, StrictBool, Annotated[list[Hit], Field(min_length=1)], list[Hit]]
Lines: TypeAlias = list[tuple[Int, StrictStr]]
Sizes: TypeAlias = list[list[Int]]
Names: TypeAlias = list[StrictStr]
Call: TypeAlias = tuple[StrictStr, StrictStr, tuple[Int, Int] | None, StrictBool, Sizes, Sizes, Names, Names, StrictStr]


class _Windows(TypedDict):
    lines: Lines
    spans: list[tuple[Int, StrictStr, list[Int]]]
    long: Lines
    first: Lines
    last: Lines


class _Source(TypedDict):
    name: StrictStr
    kind: StrictStr
    bytes: Int
    lines: Int
    skipped: StrictStr | None
    gaps: Names
    ends_line: StrictBool
    tallies: list[Tally]
    progress: list[tuple[StrictStr, tuple[Hit, Hit]]]
    windows: _Windows


class _Dump(TypedDict):
    name: StrictStr
    rank: Int | None
    rank_from: StrictStr | None
    backend: StrictStr
    is_json: StrictBool
    groups: dict[StrictStr, tuple[StrictStr, StrictStr]]
    status: dict[StrictStr, tuple[Int, Int, Int]]
    calls: list[Call]
    columns: dict[StrictStr, list[Int]]


def _is_even(dump: _Dump) -> _Dump:
    columns, calls = dump["columns"], len(dump["calls"])
    lengths = {len(numbers) for name, numbers in columns.items() if name != "line" or numbers}
    rows = zip(columns["call"], columns["state"], strict=True)
    if not columns.keys() >= COLUMNS or len(lengths) > 1 or not all(0 <= n < calls and 0 <= s < STATES for n, s in rows):
        raise ValueError("columns of several lengths, or a number of no row")
    return dump


class Written(TypedDict):
    """What a scan file holds."""

    catalogue: StrictStr
    gaps: Names
    sources: list[_Source]
    dumps: list[Annotated[_Dump, AfterValidator(_is_even)]]


WRITTEN = TypeAdapter(Written)
