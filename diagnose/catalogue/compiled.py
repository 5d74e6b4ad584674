"""A checked catalogue as plain JSON rows and back, so that a run parses no YAML.

A row holds the values of a dataclass in the order of its fields; the names of these stand in front, so that rows of
another version are not taken for this one's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, NamedTuple

from .rule import Cause, Explains, Form, Remedy, Rule, Table, TableRef

KINDS = (Rule, Form, TableRef, Cause, Explains, Remedy, Table)
_LAYOUT = [[f.name for f in fields(kind)] for kind in KINDS]
_NAMES = dict(zip(KINDS, _LAYOUT, strict=True))
_FORMS, _COUNTER, _TABLE = (_LAYOUT[0].index(name) for name in ("forms", "counter_examples", "table"))
_LISTS = [_LAYOUT[0].index(name) for name in ("references", "undoes", "blames")]
_LITERALS, _EXAMPLES = (_LAYOUT[1].index(name) for name in ("literals", "examples"))


class Compiled(NamedTuple):
    """What a catalogue holds, by id; examples left out, which only tests need."""

    rules: dict[str, Rule]
    causes: dict[str, Cause]
    tables: dict[str, Table]
    sentences: dict[str, dict[str, str]]  # by key, then by language: `en`, `zh`


def to_bytes(compiled: Compiled) -> bytes:
    """Yield the JSON of a catalogue."""
    slim = [
        replace(r, forms=tuple(replace(f, examples=()) for f in r.forms), counter_examples=())
        for r in compiled.rules.values()
    ]
    tables = {k: _row(t) for k, t in compiled.tables.items()}
    content = [_LAYOUT, _rows(slim), _rows(compiled.causes.values()), tables, compiled.sentences]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def from_bytes(data: bytes) -> Compiled | None:
    """Read what `to_bytes` wrote; None where it is damaged or of another version."""
    try:
        layout, rules, causes, tables, sentences = json.loads(data)
        if layout != _LAYOUT:
            return None
        return Compiled(
            {rule.id: rule for rule in map(_rule, rules)},
            {cause.id: cause for cause in map(_cause, causes)},
            {name: Table(key, tuple(rows), *rest) for name, (key, rows, *rest) in tables.items()},
            sentences,
        )
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def _rows(values: Iterable[Any]) -> list[list[Any]]:
    return [_row(value) for value in values]


def _row(value: Any) -> list[Any]:
    return [_plain(getattr(value, name)) for name in _NAMES[type(value)]]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(x) for x in value]
    return _row(value) if isinstance(value, KINDS) else value


def _rule(row: list[Any]) -> Rule:
    row[_FORMS] = tuple([_form(form) for form in row[_FORMS]])
    row[_COUNTER] = ()
    for place in _LISTS:
        row[place] = tuple(row[place])
    if row[_TABLE]:
        row[_TABLE] = TableRef(*row[_TABLE])
    return Rule(*row)


def _form(row: list[Any]) -> Form:
    row[_LITERALS] = tuple(row[_LITERALS])
    row[_EXAMPLES] = ()
    return Form(*row)


def _cause(row: list[Any]) -> Cause:
    named = dict(zip(_LAYOUT[3], row, strict=True))
    lists = {key: tuple(named[key]) for key in ("collect_next_time", "references")}
    remedy = tuple(Remedy(*r) for r in named["remedy"])
    return Cause(**{**named, **lists, "remedy": remedy, "explains": tuple(Explains(*e) for e in named["explains"])})
