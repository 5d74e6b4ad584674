"""The forms of what stands before a line's message: rows of `prefixes.yaml`, and which of them a line is asked for."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from .cache import tables
from .shapes import DIGITS, digit_marks

FORMS = Path(__file__).with_name("prefixes.yaml")
CLASSES = {"<letters>": string.ascii_letters, "<lower>": string.ascii_lowercase, "<digits>": string.digits}
# Severities that are not the first letter of their word.
SEVERITIES = {
    "CRITICAL": "F", "CRIT": "F", "FATAL": "F", "ABORT": "F", "C": "F", "NOTICE": "I", "SUCCESS": "I", "SUCC": "I",
    "VINFO": "I", "VERSION": "I", "CALL": "D", "TRACE": "D", "V": "D",
}  # fmt: skip
_PIECE = re.compile(r"<<(\w+)>>")
_NUMBERS = {"rank", "local_rank", "group_rank", "task", "node_rank", "device", "pid", "tid"}
_INNERMOST = {"pid", "tid", "severity", "origin", "device"}  # the process names itself better than what wraps it does
_RENAMED = {"level": "severity"}

Groups = tuple[tuple[int, str, bool, Callable[[str], int | str]], ...]


class Row:
    """One form of prefix; compiled when a line meets what it needs: compiling all costs more than reading a small log."""

    def __init__(self, form: dict[str, Any]) -> None:
        self.name: str = form["name"]
        self.sample: str = form["sample"]
        self.starts = tuple(_starts(form["starts"]))  # characters that may begin it; pairs for a bracket and what follows
        self.needs: str = form.get("needs", "")  # stands in the line: a cheap test before the pattern
        self.kind: str = form.get("kind", "")  # of the stamp before it: zone, syslog, bracket
        self.outer: bool = form.get("outer", False)  # printed by a launcher around the process
        self.anywhere: bool = form.get("anywhere", False)  # a launcher's, and yet it may stand behind a logger's header
        self.origin: str = form.get("origin", "")  # of a line that names none
        self._source: str = form["pattern"]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, with its pieces filled in."""
        return re.compile(filled(self._source), re.ASCII)

    @cached_property
    def digits(self) -> tuple[bytes, ...]:
        """The texts by which it asks for particular digits, as lines' shapes have them; any digit if it cannot be told."""
        marks = digit_marks(filled(self._source) + re.escape(self.needs))
        return (b"0",) if marks is None else tuple(mark.translate(DIGITS) for mark in marks)

    @cached_property
    def groups(self) -> Groups:
        """For each group: its index, its field, whether the innermost wins, how its text becomes a value."""
        groups: list[tuple[int, str, bool, Callable[[str], int | str]]] = []
        for name, index in sorted(self.pattern.groupindex.items()):
            field = _RENAMED.get(name, name)
            convert = int if field in _NUMBERS else _letter if field == "severity" else str.strip
            groups.append((index, field, field in _INNERMOST, convert))
        return tuple(groups)


class Rows(dict[str, tuple[tuple[str, Row], ...]]):
    """Rows, with what each needs, under each character or pair of these that may begin them; a pair's stand first."""

    def __init__(self, rows: Iterable[Row], *, is_inside: bool = False) -> None:
        super().__init__()
        self._is_inside = is_inside  # behind what a rank or a logger printed: a launcher prints nothing there
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            for start in row.starts:
                self._rows.setdefault(start, []).append(row)

    def __missing__(self, start: str) -> tuple[tuple[str, Row], ...]:
        own = self._rows.get(start, [])
        rows = own + (self._rows.get(start[0], []) if own and len(start) == 2 else [])
        may = (x for x in rows if not (self._is_inside and x.outer) or x.anywhere)
        found = tuple((row.needs, row) for row in may)
        if rows:  # else any two characters of a stranger's lines would be remembered
            self[start] = found
        return found


@lru_cache(maxsize=2)
def rows_of(table: str) -> tuple[Row, ...]:
    """Yield the rows of a table, `leading` or `after_a_stamp`, in the order in which they are asked."""
    return tuple(map(Row, tables(FORMS)[table]))


def piece(name: str) -> str:
    """Yield a piece that several patterns are made of, such as `LEVEL`."""
    return filled(tables(FORMS)["pieces"][name])


def mark(name: str) -> str:
    """Yield the pattern of what is looked for in whole lines, such as `glued`."""
    return "".join(tables(FORMS)["marks"][name])


def filled(pattern: str, pieces: Mapping[str, str] | None = None) -> str:
    """Yield a pattern with its pieces, those of the prefixes where no others are given, in place of their names."""
    own = tables(FORMS)["pieces"] if pieces is None else pieces
    return _PIECE.sub(lambda named: filled(own[named[1]], own), pattern) if "<<" in pattern else pattern


def _starts(given: str | dict[str, str] | list[Any]) -> Iterable[str]:
    for part in given if isinstance(given, list) else [given]:
        if isinstance(part, dict):
            yield from (first + second for first, seconds in part.items() for second in _characters(seconds))
        else:
            yield from _characters(part)


def _characters(text: str) -> str:
    for name, characters in CLASSES.items():
        text = text.replace(name, characters)
    return text


def _letter(level: str) -> str:
    return SEVERITIES.get(level.strip(), level[:1])
