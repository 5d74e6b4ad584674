"""Tracebacks in, the lines of their source on which their exceptions and their frames stand out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence

from ..lines.prefix import Line
from .logged_exceptions import quoted_in
from .traceback import Traceback
from .traceback_lines import GRAPH_ERROR
from .warned import place_of

Told = Sequence[tuple[str, str, int]]
MAX_MESSAGE_LINES = 14  # of an exception, on which its traceback is looked up
MAX_FRAME_LINES = 2000  # of one traceback; in a longer one other output stands


def exceptions(tb: Traceback) -> Iterator[tuple[str, str, int]]:
    """Yield exception, message and line of all that the traceback holds, what is quoted in a message included."""
    own = (tb.exception, tb.message, tb.exception_line)
    for exception, message, number in (own, *((x.exception, x.message, x.exception_line) for x in tb.links)):
        yield exception, message, number
        for each in quoted_in(exception, message):
            yield *each, number


def exception_text(exception: str, message: str) -> str:
    """Yield an exception as it is printed."""
    return f"{exception}: {message}" if message else exception


def exception_lines(told: Iterable[tuple[Traceback, Told]]) -> dict[int, list[Traceback]]:
    """Yield the lines on which the exceptions of each traceback stand, further lines of a message included.

    `told`: each with what `exceptions` says of it.
    """
    found: dict[int, list[Traceback]] = {}
    for tb, all_of_it in told:
        for at in _message_lines(tb, all_of_it):
            found.setdefault(at, []).append(tb)
    return found


def _message_lines(tb: Traceback, told: Told) -> set[int]:
    """Yield the lines on which what it raised is told, each once: a chain and a quotation may share them."""
    spans = ((number, _further_lines(tb, message, number)) for _, message, number in told)
    return {at for number, more in spans for at in range(number, number + more + 1)}


def _further_lines(tb: Traceback, message: str, number: int) -> int:
    """Yield how many lines below its first one a message is looked up on."""
    if message.startswith(GRAPH_ERROR):
        return max(0, min(tb.end_line - number, MAX_FRAME_LINES))
    return min(message.count("\n"), MAX_MESSAGE_LINES)


def inside_lines(
    tracebacks: Sequence[Traceback], of_exceptions: Container[int], lines: Sequence[Line], keys: Sequence[str]
) -> set[int]:
    """Yield the lines of frames: source code, in which nothing is an exception that was raised.

    `of_exceptions`: the lines of `exception_lines`. `keys`: who speaks on each line; what others say between the frames
    of one, as woven ranks do, is theirs.
    """
    if not tracebacks:
        return set()
    numbers: dict[str, list[int]] = {}
    first = place_of(lines, min(tb.line for tb in tracebacks))
    stop = place_of(lines, max(tb.exception_line for tb in tracebacks))
    for line, who in zip(lines[first:stop], keys[first:stop], strict=True):
        numbers.setdefault(who, []).append(line.number)
    inside: set[int] = set()
    for tb in tracebacks:
        if tb.end_line - tb.line < MAX_FRAME_LINES:
            inside.update(n for who in {tb.speaker, ""} for n in _between(numbers.get(who, ()), tb.line, tb.exception_line))
    return {n for n in inside if n not in of_exceptions}


def _between(numbers: Sequence[int], first: int, stop: int) -> Sequence[int]:
    return numbers[bisect_left(numbers, first) : bisect_left(numbers, stop)]
