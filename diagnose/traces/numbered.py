"""Lines of a source by their number: found in it, since few are asked for and thousands of sources are read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import attrgetter

from ..lines.prefix import Line

_number = attrgetter("number")


def place_of(lines: Sequence[Line], number: int) -> int:
    """Yield where the first line with this number or a higher one stands."""
    return bisect_left(lines, number, key=_number)


def first_piece(lines: Sequence[Line], number: int) -> Line | None:
    """Yield the first piece of a line, which carriage returns may have cut."""
    at = place_of(lines, number)
    return lines[at] if at < len(lines) and lines[at].number == number else None


def last_piece(lines: Sequence[Line], number: int) -> Line | None:
    """Yield its last piece."""
    at = bisect_right(lines, number, key=_number)
    return lines[at - 1] if at and lines[at - 1].number == number else None
