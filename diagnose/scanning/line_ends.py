"""Counts line ends: what line numbers cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import cast

LINE_END = b"\n"

Count = Callable[[bytes, bytes, int, int], int]  # (data, what to count, start, stop)


@cache
def counter() -> Count:
    """Yield the fastest counter that is installed; `bytes.count` takes a cycle or two for each byte."""
    try:
        from stringzilla import count
    except ImportError:
        return bytes.count
    return cast(Count, count)
