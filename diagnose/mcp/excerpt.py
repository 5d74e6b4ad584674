"""A file and a line number in, the lines around it out, without secrets; also of an archive's member."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..errors import UsageError
from ..report.redaction import redact_plain
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
from ..sources.source import Source, find_sources

MOST_LINES = 100  # on either side of the one that is asked for
MOST_CHARACTERS = 1_000  # of a line
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
    redacted: list[list[Any]] = redact_plain({"lines": rows}, privacy=True)["lines"]
    lines = [{"line": n, "text": text[:MOST_CHARACTERS]} for n, text in redacted if first <= n <= last]
    return {"file": shown, "line": line, "lines": lines}


def _rows(path: str, shown: str, first: int, last: int) -> list[list[Any]]:
    """The numbered lines, read while the archive that holds them is open."""
    for source in find_sources([path], Deadline.after(SECONDS)):
        is_meant = source.name in (path, shown) or shown.endswith(source.name.removeprefix(path))
        if is_meant and source.skipped is not None:
            raise UsageError(f"{shown} is not read: {source.skipped}")
        if is_meant:
            return [[number, text] for number, text in _lines(source, first, last)]
    raise UsageError(f"{shown}: nothing of this name is in {path}")


def _lines(source: Source, first: int, last: int) -> Iterator[tuple[int, str]]:
    """The lines from `first` to `last`, cut where they are long."""
    number, held = 1, b""  # of the line that the last block ended in
    for block in read_blocks(source, deadline=Deadline.after(SECONDS)):
        data = block.data[block.overlap :]
        if number + data.count(b"\n") < first:
            number, held = number + data.count(b"\n"), b""
            continue
        *whole, rest = data.split(b"\n")
        for raw in whole:
            if first <= number <= last:
                yield number, (held + raw)[: 4 * MOST_CHARACTERS].decode("utf-8", "replace")
            number, held = number + 1, b""
        held = (held + rest)[: 4 * MOST_CHARACTERS]
        if number > last:
            return
    if held and first <= number <= last:
        yield number, held.decode("utf-8", "replace")
