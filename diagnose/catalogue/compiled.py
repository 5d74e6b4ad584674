"""`Catalogue`: all rules, causes and tables; and it as JSON, so that a run parses no YAML."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

from ..lines.record import record
from .rule import Cause, Explains, Form, Remedy, Rule, Table, TableRef

INSIDE = {"forms": Form, "table": TableRef, "explains": Explains, "remedy": Remedy}  # by field: the records in it
KINDS = (Rule, Cause, Table, *INSIDE.values())
_LAYOUT = [[f.name for f in fields(kind)] for kind in KINDS]  # so that rows of another version are not taken for ours


@record
class Catalogue:
    """All rules, causes and tables by id, sorted. `key` names this exact content."""

    rules: dict[str, Rule]
    causes: dict[str, Cause]
    tables: dict[str, Table]
    sentences: dict[str, dict[str, str]]  # what questions and advice say: by key, then by language (`en`, `zh`)
    key: str

    def row(self, name: str, value: object) -> dict[str, object]:
        """Yield a table's row for a value (empty: there is no such table)."""
        table = self.tables.get(name)
        return table.row(value) if table else {}

    def with_row(self, rule: Rule, fields: dict[str, Any]) -> dict[str, Any]:
        """Yield `fields` joined with the columns of the table row that they name; captured values win."""
        return {**self.row(rule.table_name, fields.get(rule.table.key)), **fields} if rule.table else fields

    def explains(self, cause: str, other: str) -> tuple[Explains, ...]:
        """Yield how `cause` brings about `other` (empty: it does not): by a link, or by the tier of the other."""
        mine = self.causes.get(cause)
        if mine is None or cause == other:
            return ()
        layer = other.partition(".")[0] + ".*"
        links = tuple(e for e in mine.explains if e.cause in (other, layer))
        return links or ((Explains(other, "its tier"),) if self.causes[other].tier != "origin" else ())


def to_bytes(catalogue: Catalogue) -> bytes:
    """Yield the JSON of a catalogue; examples left out, which only tests need."""
    slim = {
        name: replace(r, forms=tuple(replace(f, examples=()) for f in r.forms), counter_examples=())
        for name, r in catalogue.rules.items()
    }
    content = [_LAYOUT, slim, catalogue.causes, catalogue.tables, catalogue.sentences, catalogue.key]
    return json.dumps(content, default=_told, ensure_ascii=False, separators=(",", ":")).encode()


def _told(made: Any) -> dict[str, Any]:
    """What a record says beyond what it would say by default."""
    return {f.name: value for f in fields(made) if (value := getattr(made, f.name)) != f.default}


def from_bytes(data: bytes) -> Catalogue | None:
    """Read what `to_bytes` wrote; None where it is damaged or of another version."""
    try:
        layout, rules, causes, tables, sentences, key = json.loads(data)
        if layout != _LAYOUT:
            return None
        return Catalogue(_all(Rule, rules), _all(Cause, causes), _all(Table, tables), sentences, key)
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
