"""The report: what a run of `diagnose` says, and its JSON form (the contract, `schema_version` "1").

In: what the engine found, as the frozen values of `report_parts` (all of them can be imported from here).
Out: `to_json` / `dumps`, and `from_dict` back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from itertools import islice
from typing import Any

from ..advice.statement import CodePlace, Evidence, Fact, FactValue, Notice, Place, RemedyStep, Span, Value, When
from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .parts import (
    Alternative,
    Attempt,
    Certainty,
    CollectiveRow,
    Culprit,
    Diagnosis,
    FirstFailure,
    Gap,
    InputRow,
    Link,
    OtherJob,
    Outcome,
    RankRow,
    StackGroup,
    Stats,
    Symptom,
    TimelineEntry,
)

__all__ = [
    "Alternative",
    "Attempt",
    "Certainty",
    "CodePlace",
    "CollectiveRow",
    "Culprit",
    "Diagnosis",
    "Evidence",
    "Fact",
    "FactValue",
    "FirstFailure",
    "Gap",
    "InputRow",
    "Link",
    "Notice",
    "OtherJob",
    "Outcome",
    "Place",
    "RankRow",
    "RemedyStep",
    "Report",
    "Span",
    "StackGroup",
    "Stats",
    "Symptom",
    "TimelineEntry",
    "Value",
    "When",
    "dumps",
    "from_dict",
    "json_pieces",
    "json_text",
    "to_json",
]

# DEL, C1 (0x9b alone opens a terminal sequence), bidirectional overrides, line separators, lone surrogates:
# legal inside a JSON string, harmful where one is printed.
TOKENS = 4096  # of JSON text, brackets and values, in one piece
_UNPRINTABLE = lazy("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@record
class Report:
    """The verdict with its proof. `diagnosis` is None when nothing is wrong or what was wrong was survived."""

    schema_version: str = "1"
    outcome: Outcome = "unfinished"
    diagnosis: Diagnosis | None = None
    chain: tuple[Link, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    survived: tuple[Symptom, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    ranks: tuple[RankRow, ...] = ()
    collectives: tuple[CollectiveRow, ...] = ()
    stacks: tuple[StackGroup, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    other_jobs: tuple[OtherJob, ...] = ()
    facts: dict[str, Fact] = field(default_factory=dict, hash=False)
    notices: tuple[Notice, ...] = ()
    gaps: tuple[Gap, ...] = ()
    inputs: tuple[InputRow, ...] = ()
    stats: Stats = field(default_factory=Stats)
    time_basis: str = ""


def to_json(report: Report) -> dict[str, Any]:
    """Yield the report as plain JSON values, keys as in the contract."""
    plain = _plain(report)
    assert isinstance(plain, dict)
    return plain


def dumps(report: Report) -> str:
    """Yield the report as JSON text."""
    return json_text(to_json(report))


def json_text(plain: dict[str, Any]) -> str:
    """Yield plain values as JSON text that is also safe to print."""
    return "".join(json_pieces(plain))


def json_pieces(plain: dict[str, Any]) -> Iterator[str]:
    """Yield the same text piece by piece: where ranks are many it is larger than all else that is in memory by then."""
    tokens = json.JSONEncoder(ensure_ascii=False, indent=2, allow_nan=False).iterencode(plain)
    while piece := "".join(islice(tokens, TOKENS)):
        yield _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", piece)
    yield "\n"


def from_dict(data: Mapping[str, Any]) -> Report:
    """Yield the report that `to_json` wrote; unknown keys are ignored."""
    from pydantic import TypeAdapter

    chain = [{("from_" if k == "from" else k): v for k, v in link.items()} for link in data.get("chain") or ()]
    return TypeAdapter(Report).validate_python({**data, "chain": chain})


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {f.name.rstrip("_"): _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(k): _plain_value(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _plain_value(value: object) -> object:
    """A captured `loss=nan` keeps its meaning as text, since JSON has no NaN."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else _plain(value)
