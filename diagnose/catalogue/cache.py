"""What was built once and is read again: the user's cache folder, and a checked catalogue as JSON in it.

Nothing in the folder is ever needed: what is missing, damaged, of another owner or writable for others is built anew.
Of a catalogue a row holds the values of a record in the order of its fields; the names of these stand in front, so that
rows of another version are not taken for this one's.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .rule import Cause, Explains, Form, Remedy, Rule, Table, TableRef

DIGEST_BYTES = 32
KEPT = 6  # files of a kind: some catalogues and versions side by side
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path | None:
    """The user's cache folder for `diagnose`; it need not exist or be writable. None where the user has no home.

    A container may run as a user that nobody registered, without HOME: `~` would be a folder beside the logs.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "diagnose") if os.path.isabs(base) else None


def can_tell_owner() -> bool:
    """Tell whether this system says whose a file is: without that, nothing that must be trusted is read."""
    return hasattr(os, "geteuid")


def read_own(name: str) -> bytes | None:
    """Yield what `write_own` kept; None where it is not that to the byte, or where others could have written it."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        if not _is_own(os.stat(folder)):
            return None
        descriptor = os.open(folder / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            stored = file.read() if stat.S_ISREG(status.st_mode) and _is_own(status) else b""
    except OSError:
        return None
    data = stored[DIGEST_BYTES:]
    return data if hashlib.sha256(data).digest() == stored[:DIGEST_BYTES] else None


def write_own(name: str, data: bytes) -> None:
    """Keep `data`, behind its digest, for the next run, where that can be done; of files with one first word some stay."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):  # a read-only home costs a rebuild, never the run
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if can_tell_owner() and os.stat(folder).st_uid == os.geteuid():
            os.chmod(folder, 0o700)
        scratch = folder / f"{name}.{os.getpid()}.tmp"
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        scratch.replace(folder / name)
        files = sorted(folder.glob(f"{name.partition('-')[0]}-*"), key=lambda path: path.stat().st_mtime)
        for path in files[:-KEPT]:
            path.unlink()


def _is_own(status: os.stat_result) -> bool:
    return not can_tell_owner() or (status.st_uid == os.geteuid() and not status.st_mode & WRITABLE_BY_OTHERS)


# --- a catalogue as JSON, so that a run parses no YAML ---------------------------------------------------------------

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
