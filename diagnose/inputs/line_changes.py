"""Changes the few lines of a buffer that a pattern, or a text, is found in, at the cost of looking for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence


def change_lines(pattern: re.Pattern[bytes], data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Yield `data` with each line in which `pattern` is found (without its end) as `change` gives it."""
    out: list[bytes] = []
    position = 0
    while (found := pattern.search(data, position)) is not None:
        start = data.rfind(b"\n", position, found.start()) + 1 or position
        end = data.find(b"\n", found.end())
        end = len(data) if end < 0 else end
        out += [data[position:start], change(data[start:end])]
        position = end
    return b"".join([*out, data[position:]]) if out else data


def change_marked_lines(marks: Sequence[bytes], data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Yield `data` with each line that holds one of `marks` (without its end) as `change` gives it."""
    starts: set[int] = set()
    for mark in marks:
        at = data.find(mark)
        while at >= 0:
            starts.add(data.rfind(b"\n", 0, at) + 1)
            end = data.find(b"\n", at)
            at = data.find(mark, end) if end >= 0 else -1
    out: list[bytes] = []
    position = 0
    for start in sorted(starts):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        out += [data[position:start], change(data[start:end])]
        position = end
    return b"".join([*out, data[position:]]) if out else data
