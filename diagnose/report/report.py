"""The report: what a run of `diagnose` says, its JSON form (the contract, `schema_version` "1") and the schema of that."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from ..advice.statement import Fact, Notice, RemedyStep
from ..lines.lazy_pattern import lazy
from ..lines.rank_ranges import rank_ranges
from ..lines.record import record
from . import parts

SCHEMA_PATH = Path(__file__).with_name("report.schema.json")
SCHEMA_ID = "urn:diagnose:report:1"
POLICY = (
    "Within version 1 keys are only added: none is removed, renamed or given another meaning or type, so ignore what you "
    "do not know. Anything else makes a new version, with another schema_version and $id."
)
TOKENS = 4096  # of JSON text, brackets and values, in one piece
# DEL, C1 (0x9b alone opens a terminal sequence), bidirectional overrides, line separators, lone surrogates:
# legal inside a JSON string, harmful where one is printed.
_UNPRINTABLE = lazy("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@record
class Report:
    """The verdict with its proof; `summary` is the answer in one sentence, in `language` (en, zh) as all texts are.

    `diagnosis` is None when nothing is wrong or what was wrong was survived. `last_lines` and `collect` are filled where
    no cause was found: where each rank stopped, and what to collect now.
    """

    schema_version: str = "1"
    outcome: parts.Outcome = "unfinished"
    summary: str = ""
    diagnosis: parts.Diagnosis | None = None
    chain: tuple[parts.Link, ...] = ()
    alternatives: tuple[parts.Alternative, ...] = ()
    symptoms: tuple[parts.Symptom, ...] = ()
    survived: tuple[parts.Symptom, ...] = ()
    timeline: tuple[parts.TimelineEntry, ...] = ()
    ranks: tuple[parts.RankRow, ...] = ()
    last_lines: tuple[parts.LastLine, ...] = ()
    collect: tuple[RemedyStep, ...] = ()
    collectives: tuple[parts.CollectiveRow, ...] = ()
    stacks: tuple[parts.StackGroup, ...] = ()
    attempts: tuple[parts.Attempt, ...] = ()
    other_jobs: tuple[parts.OtherJob, ...] = ()
    facts: dict[str, Fact] = field(default_factory=dict, hash=False)
    notices: tuple[Notice, ...] = ()
    gaps: tuple[parts.Gap, ...] = ()
    inputs: tuple[parts.InputRow, ...] = ()
    stats: parts.Stats = field(default_factory=parts.Stats)
    time_basis: str = ""
    language: str = "en"

    def __repr__(self) -> str:
        found = self.diagnosis
        who = rank_ranges([c.rank for c in found.culprits if c.rank is not None]) if found else ""
        about = f" {found.cause} ({found.certainty})" if found else ""
        return f"<Report {self.outcome}{about}{f' ranks {who}' if who else ''}>"

    def to_dict(self) -> dict[str, Any]:
        """Yield the report as plain JSON values, keys as in the contract, without secrets."""
        plain: dict[str, Any] = json.loads(self.to_json())
        return plain

    def to_json(self) -> str:
        """Yield the report as JSON text, without secrets."""
        return _rendered(self, "json", full=True)

    def to_markdown(self, *, full: bool = False) -> str:
        """Yield the report as Markdown, without secrets and private data; `full` folds nothing."""
        return _rendered(self, "markdown", full=full)

    def to_html(self, *, full: bool = False) -> str:
        """Yield the report as one HTML page that asks the network for nothing, without secrets and private data."""
        return _rendered(self, "html", full=full)

    def _repr_html_(self) -> str:
        """What a notebook shows: the page in a frame of its own, so that neither styles the other."""
        page = self.to_html().replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="600" style="border:0"></iframe>'


def _rendered(report: Report, form: str, *, full: bool) -> str:
    # Views lay out reports and so stand above this room: it knows them by the package's public name alone.
    page: str = import_module("diagnose").render(report, form, full=full)
    return page


def to_json(report: Report) -> dict[str, Any]:
    """Yield the report as plain JSON values, keys as in the contract."""
    plain = _plain(report)
    assert isinstance(plain, dict)
    return plain


def dumps(report: Report) -> str:
    """Yield the report as JSON text."""
    return "".join(json_pieces(to_json(report)))


def json_pieces(plain: dict[str, Any]) -> Iterator[str]:
    """Yield plain values as JSON text that is safe to print; in pieces, for with many ranks it is what is largest."""
    tokens = json.JSONEncoder(ensure_ascii=False, indent=2, allow_nan=False).iterencode(plain)
    while piece := "".join(islice(tokens, TOKENS)):
        yield _UNPRINTABLE.sub(lambda m: f"\\u{ord(m[0]):04x}", piece)
    yield "\n"


def from_dict(data: Mapping[str, Any]) -> Report:
    """Yield the report that `to_json` wrote; unknown keys are ignored."""
    from pydantic import TypeAdapter

    chain = [{("from_" if k == "from" else k): v for k, v in link.items()} for link in data.get("chain") or ()]
    return TypeAdapter(Report).validate_python({**data, "chain": chain})


def schema() -> dict[str, Any]:
    """Yield the JSON Schema, made from the dataclasses."""
    from pydantic import TypeAdapter

    made = TypeAdapter(Report).json_schema(mode="serialization")
    link = made["$defs"]["Link"]
    link["properties"]["from"] = link["properties"].pop("from_") | {"title": "From"}
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {**made, "$schema": draft, "$id": SCHEMA_ID, "title": "Report of diagnose, version 1", "$comment": POLICY}


def _plain(value: object) -> object:
    if is_dataclass(value):
        return {f.name.rstrip("_"): _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):  # a captured `loss=nan` keeps its meaning as text, since JSON has no NaN
        return {str(k): str(v) if isinstance(v, float) and not math.isfinite(v) else _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
