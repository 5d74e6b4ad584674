"""A checked catalogue as JSON, so that a run parses no YAML.

A row holds the values of a record in the order of its fields; the names of these stand in front, so that rows of another
version are not taken for this one's.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, NamedTuple

from .rule import Cause, Explains, Form, Remedy, Rule, Table, TableRef

KINDS = (Rule, Form, TableRef, Cause, Explains, Remedy, Table)
_NAMES = {kind: [f.name for f in fields(kind)] for kind in KINDS}


class Compiled(NamedTuple):
    """What a catalogue holds, by id; examples left out, which only tests need."""

    rules: dict[str, Rule]
    causes: dict[str, Cause]
    tables: dict[str, Table]
    sentences: dict[str, dict[str, str]]  # by key, then by language: `en`, `zh`
    key: str  # names this exact content


def to_bytes(compiled: Compiled) -> bytes:
    """Yield the JSON of a catalogue."""
    slim = [
        replace(r, forms=tuple(replace(f, examples=()) for f in r.forms), counter_examples=())
        for r in compiled.rules.values()
    ]
    tables = {name: _plain(table) for name, table in compiled.tables.items()}
    causes = tuple(compiled.causes.values())
    content = [[*_NAMES.values()], _plain(tuple(slim)), _plain(causes), tables, *compiled[3:]]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def from_bytes(data: bytes) -> Compiled | None:
    """Read what `to_bytes` wrote; None where it is damaged or of another version."""
    try:
        layout, rules, causes, tables, sentences, key = json.loads(data)
        if layout != [*_NAMES.values()]:
            return None
        return Compiled(
            {rule.id: rule for rule in (_made(Rule, row) for row in rules)},
            {cause.id: cause for cause in (_made(Cause, row) for row in causes)},
            {name: _made(Table, row) for name, row in tables.items()},
            sentences,
            key,
        )
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, KINDS):
        return [_plain(getattr(value, name)) for name in _NAMES[type(value)]]
    return [_plain(x) for x in value] if isinstance(value, tuple) else value


def _made(kind: Any, row: list[Any]) -> Any:
    for place, read in _READERS[kind]:
        if row[place]:
            row[place] = read(row[place])
        elif row[place] is not None:
            row[place] = ()
    return kind(*row)


def _made_all(kind: Any, rows: list[Any]) -> tuple[Any, ...]:
    return tuple([_made(kind, row) for row in rows])


def _reader(annotation: str) -> Callable[[Any], Any] | None:
    """How a field is read back by its type: `tuple[Form, ...]`, `tuple[str, ...]`, `TableRef | None`."""
    is_tuple = annotation.startswith("tuple[")
    name = annotation.removeprefix("tuple[").removesuffix(", ...]").removesuffix(" | None")
    kind = next((k for k in KINDS if k.__name__ == name), None)
    if kind is None:
        return tuple if is_tuple else None
    return partial(_made_all if is_tuple else _made, kind)


_READERS = {
    kind: [(n, read) for n, f in enumerate(fields(kind)) if (read := _reader(str(f.type))) is not None] for kind in KINDS
}
