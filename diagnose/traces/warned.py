"""Which exceptions a logger wrote as a warning: the program caught them and went on, so each is less likely why it died.

    W1120 17:03:21.123000 412 torch/_inductor/cache.py:12] OSError: [Errno 28] No space left on device
    WARNING 11-20 17:03:21 [cache.py:123] Could not write the cache, going on without it.
    Traceback (most recent call last):
      …
    OSError: [Errno 28] No space left on device

Python prints a traceback from the frame that caught it on: one that begins in a module, or where a thread or a process
begins, nobody caught, whatever was logged above it. What is logged as INFO may be a launcher's copy of all that a
process prints, and tells nothing. In: the lines of a source, and where a traceback begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from .numbered import first_piece
from .traceback_lines import Frame

_CALM = ("W", "D")
# A logger that adds what was raised says above it that something did not work, or what it does instead.
_ANNOUNCES = lazy(
    r"(?i)\b(?:fail\w{0,4}|error|exception|could not|couldn't|cannot|can't|unable|ignor\w{0,5}|skip\w{0,4}"
    r"|fall(?:ing|s)? ?back|continu\w{0,4}|without)\b"
)
_BEGINNINGS = ("<module>", "_bootstrap", "_bootstrap_inner", "_run_module_as_main", "_wrap")


def heads(lines: Sequence[Line], first_lines: Iterable[int]) -> dict[int, Line]:
    """Yield, by number, the lines on which tracebacks begin and those above them."""
    asked = {n - above for n in first_lines for above in (0, 1)}
    return {n: line for n in asked if (line := first_piece(lines, n)) is not None}


def is_warned(by_number: Mapping[int, Line], number: int, outermost: Frame | None) -> bool:
    """Whether what begins on this line was logged as a warning, by its own prefix or by the line above."""
    head, above = by_number.get(number), by_number.get(number - 1)
    if head is None:
        return False
    if head.prefix.severity is not None:
        return head.prefix.severity in _CALM
    if outermost is None or outermost.function in _BEGINNINGS:
        return False
    if above is None or above.prefix.severity not in _CALM or head.prefix.rank not in (None, above.prefix.rank):
        return False
    return _ANNOUNCES.search(above.message) is not None


def record_above(above: Line | None, outermost: Frame | None, *, is_of_a_rank: bool = False) -> Line | None:
    """Yield the record that tells of what was caught, where it stands above: `[ERROR] (r1) augmentation failed`.

    What nobody caught begins in a module, and may stand below any other rank's record.
    """
    if above is None or outermost is None or outermost.function in _BEGINNINGS or not above.message.strip():
        return None
    if is_of_a_rank and above.prefix.rank is None and above.prefix.local_rank is None:
        return None
    is_said = is_of_a_rank and above.prefix.severity is None and _ANNOUNCES.search(above.message) is not None
    return above if is_said or above.prefix.severity in ("W", "E", "F") else None
