"""Lines that differ in their digits only have one shape, and most rules say the same of all of them.

In: a pattern. Out: the texts with digits that it asks for, such as `errno: 111`. Two lines of one shape in which these
stand at the same places either both match the pattern or both do not, so the second one need not be tried.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

if sys.version_info >= (3, 11):
    from re._parser import parse  # type: ignore[import-not-found]
else:
    from sre_parse import parse

Kind = bytes | tuple[bytes, tuple[tuple[bytes, int], ...]]  # shape, and which digits stand where that patterns ask for

DIGITS = bytes(ord("0") if chr(n) in "123456789" else n for n in range(256))  # for `bytes.translate`
MAX_SHAPE_BYTES = 600  # of a line whose shape is remembered
MAX_SINGLE = 2  # digits that a pattern asks for without any text before them; more would tell each line from the others

_WITHOUT_DIGITS = re.compile(r"(?:\{\d*,?\d*\}|\\[^xuUNpPgk\d]|[^\d\\])*")  # most patterns ask for none
_NUMERALS = frozenset("0123456789")


def digit_marks(pattern: str) -> tuple[bytes, ...] | None:
    """Yield the texts with digits that decide whether `pattern` matches, in lower case; None where it cannot be told."""
    if _WITHOUT_DIGITS.fullmatch(pattern):
        return ()
    marks: set[str] = set()
    try:
        marks.add(_read(parse(pattern), "", marks))
    except (re.error, LookupError, RecursionError, OverflowError):  # what `regex` alone reads, or a reference
        return None
    found = {mark.lower() for mark in marks if not _NUMERALS.isdisjoint(mark)}
    return None if sum(len(mark) == 1 for mark in found) > MAX_SINGLE else tuple(sorted(mark.encode() for mark in found))


def _read(tree: Any, run: str, marks: set[str]) -> str:
    """Collect the runs of plain text in a pattern as `re` parses it; `run` stands right before it. Yield the last one."""
    for op, about in tree:
        if op.name == "LITERAL" and about >= ord(" "):  # a line holds no line end
            run += chr(about)
            continue
        marks.add(run)
        marks.update(run + digit for digit in _asked(op.name, about))
        for part, is_apart in _parts(op.name, about):
            marks.add(_read(part, "" if is_apart else run, marks))
        run = ""
    return run


def _asked(name: str, about: Any) -> frozenset[str]:
    """The particular digits of a class; of one that has most of them, those that it lacks."""
    digits: set[str] = set(chr(about)) & _NUMERALS if name == "NOT_LITERAL" else set()
    for op, of_class in about if name == "IN" else ():
        low, high = of_class if op.name == "RANGE" else (of_class, of_class) if op.name == "LITERAL" else (1, 0)
        inside = {digit for digit in _NUMERALS if low <= ord(digit) <= high}
        digits |= inside if len(inside) < len(_NUMERALS) else set()
    return frozenset(_NUMERALS - digits if len(digits) > len(_NUMERALS) // 2 else digits)


def _parts(name: str, about: Any) -> list[tuple[Any, bool]]:
    """The patterns within a part of one, each with whether it does not begin where the part does, or not only there."""
    if name.startswith("GROUPREF"):
        raise LookupError(name)
    if name == "BRANCH":
        return [(way, False) for way in about[1]]
    if name.endswith("REPEAT"):
        return [(about[2], about[1] > 1)]
    if name.startswith("ASSERT"):
        return [(about[1], about[0] < 0)]  # behind it: what it asks for stands before
    return [(about[-1], False)] if name == "SUBPATTERN" else [(about, False)] if name == "ATOMIC_GROUP" else []


Spots = list[tuple[int, int, bytes]]  # where marks may stand in lines of one shape


def spots_of(marks: tuple[bytes, ...], shape: bytes) -> Spots:
    """Yield where marks can stand in lines of a shape."""
    folded = shape.lower()
    found = ((mark, at) for mark in marks for at in _starts(mark.translate(DIGITS), folded))
    return [(at, at + len(mark), mark) for mark, at in found]


def marks_at(spots: Spots, line: bytes) -> tuple[tuple[bytes, int], ...]:
    """Yield which marks stand in a line, and where."""
    return tuple([(mark, start) for start, end, mark in spots if line[start:end].lower() == mark])


def _starts(text: bytes, line: bytes) -> Iterator[int]:
    at = line.find(text)
    while at >= 0:
        yield at
        at = line.find(text, at + 1)
