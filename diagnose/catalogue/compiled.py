"""A checked catalogue as JSON, so that a run parses no YAML."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any, NamedTuple

from .rule import Cause, Explains, Form, Remedy, Rule, Table, TableRef

INSIDE = {"forms": Form, "table": TableRef, "explains": Explains, "remedy": Remedy}  # by field: the records in it
KINDS = (Rule, Cause, Table, *INSIDE.values())
_LAYOUT = [[f.name for f in fields(kind)] for kind in KINDS]  # so that rows of another version are not taken for ours


class Compiled(NamedTuple):
    """What a catalogue holds, by id; examples left out, which only tests need."""

    rules: dict[str, Rule]
    causes: dict[str, Cause]
    tables: dict[str, Table]
    sentences: dict[str, dict[str, str]]  # by key, then by language: `en`, `zh`
    key: str  # names this exact content


def to_bytes(compiled: Compiled) -> bytes:
    """Yield the JSON of a catalogue."""
    slim = {
        name: replace(r, forms=tuple(replace(f, examples=()) for f in r.forms), counter_examples=())
        for name, r in compiled.rules.items()
    }
    return json.dumps([_LAYOUT, slim, *compiled[1:]], default=_told, ensure_ascii=False, separators=(",", ":")).encode()


def _told(record: Any) -> dict[str, Any]:
    """What a record says beyond what it would say by default."""
    return {f.name: value for f in fields(record) if (value := getattr(record, f.name)) != f.default}


def from_bytes(data: bytes) -> Compiled | None:
    """Read what `to_bytes` wrote; None where it is damaged or of another version."""
    try:
        layout, rules, causes, tables, sentences, key = json.loads(data)
        if layout != _LAYOUT:
            return None
        return Compiled(_all(Rule, rules), _all(Cause, causes), _all(Table, tables), sentences, key)
    except (ValueError, TypeError, AttributeError):
        return None


def _all(kind: Any, rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {name: _made(kind, row) for name, row in rows.items()}


def _made(kind: Any, row: dict[str, Any]) -> Any:
    for name, value in row.items():
        if (inside := INSIDE.get(name)) is not None:
            row[name] = _made(inside, value) if isinstance(value, dict) else tuple([_made(inside, x) for x in value])
        elif isinstance(value, list):
            row[name] = tuple(value)
    return kind(**row)
