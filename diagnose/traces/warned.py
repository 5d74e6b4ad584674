"""Which exceptions a logger wrote as a warning: the program caught them and went on, so each is less likely why it died.

    W1120 17:03:21.123000 412 torch/_inductor/cache.py:12] OSError: [Errno 28] No space left on device
    WARNING 11-20 17:03:21 [cache.py:123] Could not write the cache, going on without it.
    Traceback (most recent call last):
      …
    OSError: [Errno 28] No space left on device

Python prints a traceback from the frame that caught it on: one that begins in a module, or where a thread or a process
begins, nobody caught, whatever was logged above it. What is logged as INFO may be a launcher's copy of all that a
process prints, and tells nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from .traceback_lines import WORDS, Frame

_CALM = ("W", "D")
_ANNOUNCES = lazy(WORDS["announces"])
_number = attrgetter("number")


def place_of(lines: Sequence[Line], number: int) -> int:
    """Yield where the first line with this number or a higher one stands."""
    return bisect_left(lines, number, key=_number)


def last_piece(lines: Sequence[Line], number: int) -> Line | None:
    """Yield the last piece of a line, which carriage returns may have cut."""
    at = bisect_right(lines, number, key=_number)
    return lines[at - 1] if at and lines[at - 1].number == number else None


def heads(lines: Sequence[Line], first_lines: Iterable[int]) -> dict[int, Line]:
    """Yield, by number, the lines on which tracebacks begin and those above them."""
    places = ((n, place_of(lines, n)) for n in {n - above for n in first_lines for above in (0, 1)})
    return {n: lines[at] for n, at in places if at < len(lines) and lines[at].number == n}


def is_warned(by_number: Mapping[int, Line], number: int, outermost: Frame | None) -> bool:
    """Whether what begins on this line was logged as a warning, by its own prefix or by the line above."""
    head, above = by_number.get(number), by_number.get(number - 1)
    if head is None:
        return False
    if head.prefix.severity is not None:
        return head.prefix.severity in _CALM
    if above is None or above.prefix.severity not in _CALM or _is_uncaught(outermost):
        return False
    return head.prefix.rank in (None, above.prefix.rank) and _ANNOUNCES.search(above.message) is not None


def record_above(above: Line | None, outermost: Frame | None, *, is_of_a_rank: bool = False) -> Line | None:
    """Yield the record that tells of what was caught, where it stands above: `[ERROR] (r1) augmentation failed`.

    What nobody caught begins in a module, and may stand below any other rank's record.
    """
    if above is None or _is_uncaught(outermost) or not above.message.strip():
        return None
    if is_of_a_rank and above.prefix.rank is None and above.prefix.local_rank is None:
        return None
    is_said = is_of_a_rank and above.prefix.severity is None and _ANNOUNCES.search(above.message) is not None
    return above if is_said or above.prefix.severity in ("W", "E", "F") else None


def _is_uncaught(outermost: Frame | None) -> bool:
    return outermost is None or outermost.function in WORDS["beginnings"]
