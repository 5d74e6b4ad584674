"""Counts line ends: what line numbers cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

LINE_END = b"\n"
ONES = bytes(byte == LINE_END[0] for byte in range(256))  # what each byte counts

WORTH_A_SAMPLE = 32 << 10  # bytes: of so many …
SAMPLE_BYTES = 1 << 10  # … the first tell whether lines are short …
SAMPLE_LINES = 32  # … as they are where there are more; then to add up ones is quicker than to look for each line end

Count = Callable[[bytes, int, int], int]  # (data, start, stop)


@cache
def counter() -> Count:
    """Yield the fastest counter that is installed.

    Vector instructions look for one line end after the other, which takes a fifth of the time of `bytes.count` where
    lines are long; to make ones of line ends and add them up takes a third, however short they are.
    """
    try:
        from stringzilla import bytesum, count, translate
    except ImportError:
        return lambda data, start, stop: data.count(LINE_END, start, stop)

    def line_ends(data: bytes, start: int, stop: int) -> int:
        if stop - start > WORTH_A_SAMPLE and data.count(LINE_END, start, start + SAMPLE_BYTES) > SAMPLE_LINES:
            found: int = bytesum(translate(data, ONES, start=start, end=stop))
        else:
            found = count(data, LINE_END, start, stop)
        return found

    return line_ends
