"""The folders that an assistant may read below: a path in, the same path out, or a refusal that names the folders; and the
lines around a place in a file, without secrets, also of an archive's member.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..lines.record import record
from ..report.redaction import without_secrets
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
from ..sources.paths import expand_pattern, files_below, is_url
from ..sources.source import Source, find_sources

MAX_PATHS = 64  # of one call
MEMBER = "!"  # between an archive and what is in it


@record
class Roots:
    """Folders (or files), with links resolved; paths are shown and taken as from the first of them."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, given: Sequence[str]) -> Roots:
        """Yield the roots that were named. Raises `UsageError` where one is not there."""
        for path in given:
            if not os.path.exists(path):
                raise UsageError(f"{path}: no such folder; name the folders that may be read")
        return cls(tuple(os.path.realpath(path) for path in given))

    @property
    def base(self) -> str:
        """Where relative paths begin."""
        first = self.folders[0]
        return first if os.path.isdir(first) else os.path.dirname(first)

    def files(self, given: Sequence[str]) -> list[str]:
        """Yield what the paths and patterns stand for. Raises `DiagnoseError`."""
        if not 0 < len(given) <= MAX_PATHS:
            raise UsageError(f"give 1 to {MAX_PATHS} paths; a folder stands for all that is in it")
        found = [path for pattern in given for path in expand_pattern(self._absolute(pattern))]
        return [self._shown(file) for path in found for file in self._below(path)]

    def file(self, given: str) -> str:
        """Yield the one file, or archive, that a path names. Raises `DiagnoseError`."""
        path = self._absolute(given if os.path.exists(self._absolute(given)) else given.partition(MEMBER)[0])
        if not self.holds(path) or not os.path.isfile(path):
            raise UsageError(f"{given}: no file below {', '.join(self.folders)}")
        return self._shown(path)

    def holds(self, path: str) -> bool:
        """Tell whether a path, with its links resolved, lies below a root."""
        real = os.path.realpath(path)
        return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self.folders)

    def _absolute(self, given: str) -> str:
        if is_url(given) or given in ("", "-") or "\0" in given:
            raise UsageError(f"{given[:80]!r}: only files below {', '.join(self.folders)} can be read")
        return os.path.join(self.base, given)

    def _below(self, path: str) -> list[str]:
        """The path itself; of a folder with links that lead out of the roots, the files that stay within."""
        if not self.holds(path):
            raise UsageError(f"{path}: not below {', '.join(self.folders)}")
        files = files_below(path, set(), Deadline())[0] if os.path.isdir(path) else [path]
        within = [file for file in files if self.holds(file)]
        return [path] if len(within) == len(files) else within

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.base) if Path(path).is_absolute() else path


# --- the lines around a place ----------------------------------------------------------------------------------------

MOST_LINES = 100  # on either side of the one that is asked for
MOST_CHARACTERS, KEPT_BYTES = 1_000, 4_000  # of a line: shown, and read
KEY_LINES = 60  # read on either side and not shown: a key block begins or ends there
SECONDS = 30.0  # a line far into a compressed file takes all that is before it


def excerpt(path: str, shown: str, line: int, before: int, after: int) -> dict[str, Any]:
    """Yield the lines by number. `shown` is how a report calls the file. Raises `DiagnoseError`."""
    if line < 1 or not 0 <= before <= MOST_LINES or not 0 <= after <= MOST_LINES:
        raise UsageError(f"line counts from 1, and before and after are 0 to {MOST_LINES}")
    first, last = max(1, line - before), line + after
    rows = _rows(path, shown, first - KEY_LINES, last + KEY_LINES)
    if not any(n == line for n, _ in rows):
        raise UsageError(f"{shown} has no line {line}")
    redacted: list[list[Any]] = without_secrets({"lines": rows}, privacy=True)["lines"]
    lines = [{"line": n, "text": text[:MOST_CHARACTERS]} for n, text in redacted if first <= n <= last]
    return {"file": shown, "line": line, "lines": lines}


def _rows(path: str, shown: str, first: int, last: int) -> list[list[Any]]:
    """The numbered lines, read while the archive that holds them is open."""
    for source in find_sources([path], Deadline.after(SECONDS)):
        if source.name not in (path, shown) and not shown.endswith(source.name.removeprefix(path)):
            continue
        if source.skipped is not None:
            raise UsageError(f"{shown} is not read: {source.skipped}")
        near = takewhile(lambda row: row[0] <= last, _lines(source))
        return [[n, raw[:KEPT_BYTES].decode("utf-8", "replace")] for n, raw in near if n >= first]
    raise UsageError(f"{shown}: nothing of this name is in {path}")


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """The lines by number; of a very long one its beginning."""
    number, held = 1, b""  # of the line that the last block ended in
    for block in read_blocks(source, deadline=Deadline.after(SECONDS)):
        *whole, held = (held + block.data[block.overlap :]).split(b"\n")
        yield from enumerate(whole, number)
        number, held = number + len(whole), held[:KEPT_BYTES]
    if held:
        yield number, held
