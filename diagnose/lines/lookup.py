"""Which rows of the tables of prefixes a line is asked for, by the characters with which it goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from .lazy_pattern import compiled
from .row import SEVERITIES, Row

_NUMBERS = {"rank", "local_rank", "group_rank", "task", "node_rank", "device", "pid", "tid"}
_INNERMOST = {"pid", "tid", "severity", "origin", "device"}  # the process names itself better than what wraps it does
_RENAMED = {"level": "severity"}

Groups = tuple[tuple[int, str, bool, Callable[[str], int | str]], ...]


class Entry:
    """A row, compiled when a line meets what it needs: compiling all costs more than reading a small log."""

    def __init__(self, row: Row) -> None:
        self.row = row

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return compiled(self.row.pattern, re.ASCII)

    @cached_property
    def groups(self) -> Groups:
        return _groups(self.pattern)


def _letter(level: str) -> str:
    return SEVERITIES.get(level.strip(), level[:1])


def _groups(pattern: re.Pattern[str]) -> Groups:
    """For each group of a pattern: its index, its field, whether the innermost wins, how its text becomes a value."""
    groups: list[tuple[int, str, bool, Callable[[str], int | str]]] = []
    for name, index in sorted(pattern.groupindex.items()):
        field = _RENAMED.get(name, name)
        convert = int if field in _NUMBERS else _letter if field == "severity" else str.strip
        groups.append((index, field, field in _INNERMOST, convert))
    return tuple(groups)


class Rows(dict[str, tuple[tuple[str, Entry], ...]]):
    """Rows, with what each needs, under each character or pair of these that may begin them; a pair's stand first."""

    def __init__(self, rows: Iterable[Entry], *, is_inside: bool = False) -> None:
        super().__init__()
        self._is_inside = is_inside  # behind what a rank or a logger printed: a launcher prints nothing there
        self._rows: dict[str, list[Entry]] = {}
        self._same: dict[tuple[tuple[str, Entry], ...], tuple[tuple[str, Entry], ...]] = {}
        for entry in rows:
            for start in entry.row.starts:
                self._rows.setdefault(start, []).append(entry)

    def __missing__(self, start: str) -> tuple[tuple[str, Entry], ...]:
        own = self._rows.get(start, [])
        rows = own + (self._rows.get(start[0], []) if own and len(start) == 2 else [])
        if not rows:
            return ()
        may = (x for x in rows if not (self._is_inside and x.row.outer) or x.row.anywhere)
        found = tuple((entry.row.needs, entry) for entry in may)
        self[start] = self._same.setdefault(found, found)  # the very same for all digits of which no row asks for one
        return self[start]
