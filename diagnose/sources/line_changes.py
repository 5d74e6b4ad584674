"""Changes the few lines of a buffer that a pattern, or a text, is found in, at the cost of looking for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


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


def change_lines_at(places: Iterable[int], data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Yield `data` with each line (its end apart) that one of `places`, offsets in order, lies in as `change` gives it."""
    out: list[bytes] = []
    position = 0
    for place in places:
        if place < position or (out and place == position):
            continue
        start = data.rfind(b"\n", position, place) + 1 or position
        end = data.find(b"\n", place)
        end = len(data) if end < 0 else end
        out += [data[position:start], change(data[start:end])]
        position = end
    return b"".join([*out, data[position:]]) if out else data
