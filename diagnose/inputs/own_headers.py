"""The header that a program gives its own lines, where it says which process speaks in a way that no table knows.

In: a text's first lines and its last ones. Out: an `OwnHeader`, which writes the number in a form that the tables know;
time and level before it stay, names of loggers and source files go. What the number counts is asked in `counted`.

    2026-11-23 03:02:52,375 ERROR [R2] row 17 is malformed       2026-11-23 03:02:52,375 ERROR [rank2]: row 17 is …
    (trainer-3) step 10 loss 2.1                                  [proc3]: step 10 loss 2.1
    2026-11-23 03:02:52 [error    ] row 17 is malformed  rank=2   2026-11-23 03:02:52 [error] [rank2]: row 17 is …

A line that bears no such number stays as it is: an exception that nobody caught has no header, whoever raised it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..lazy_pattern import lazy
from ..prefixes import split_prefix
from .counted import Counted, what_is_counted
from .header_parts import BEHIND, LEVELS, LOWER, MAX_SAID, NAME, NUMBER, TIME, UPPER, Head, read_head
from .normalise import needs_normalising, normalise
from .reader import Reader

SAMPLE_BYTES = 64 << 10  # of each end
MAX_LINES = 600  # of the sample
MAX_FORMS = 8  # in which the header stands: with and without a level, behind several names
# A number at the head of a line, in a manner that may be a label; what the tables read as one is none of ours.
_MAY = lazy(
    rb"(?m)^(?!\[rank\d)[^\n]{0,100}?(?:\b(?i:rank|rk|r|worker|trainer|proc|process|learner|replica|dp|gpu|w|p)"
    rb"[ =:_#\-]{0,3}|[\[(<]|\| |^|:)\d{1,5}(?:/\d{1,5})?[\])>:| ]|^[^\n]{10,400} rank=\d{1,5}(?: |$)"
)
_ONE_BLANK = lazy(r"\[ \\t\]\{1,20\}$")  # behind it the text begins, and a traceback's frame with blanks of its own


@dataclass(frozen=True, slots=True)
class OwnHeader:
    """Patterns of the header's forms, each with what is put in its place."""

    forms: tuple[tuple[str, str], ...]


class Naming(Reader):
    """Writes who speaks as the tables know it, block after block."""

    def __init__(self, header: OwnHeader) -> None:
        self._header = header

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[bytes], bytes]]:
        return [(re.compile(rf"([\n\r]){form}".encode("ascii")), put.encode("ascii")) for form, put in self._header.forms]

    def feed(self, data: bytes) -> bytes:
        """Gives `data` with as many lines."""
        data = b"\n" + data
        for pattern, put in self._patterns:
            data = pattern.sub(put, data)
        return data[1:]


def may_have_header(data: bytes) -> bool:
    """Tells from a few bytes of a text whether a longer sample is worth asking for its header."""
    return len(_MAY.findall(data)) > 1


def header_of(sample: bytes) -> OwnHeader | None:
    """Yield the header of the lines in `sample` that says whose they are; None where none does for certain."""
    if needs_normalising(sample):
        sample = normalise(sample)
    lines = [x for x in sample.decode("utf-8", "replace").replace("\r", "\n").split("\n") if x.strip()][:MAX_LINES]
    groups: dict[tuple[str, str], list[Head]] = defaultdict(list)
    for line in lines:
        if (head := read_head(line)) is not None:
            groups[_label(head), head.name].append(head)
    for _, heads in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        if (counted := what_is_counted(heads, lines)) is not None:
            return _header(heads, counted)
    return None


def _label(head: Head) -> str:
    return next(part for part in head.shape if part.startswith((f"\0{NUMBER}", f"\0{BEHIND}")))


def _header(heads: Sequence[Head], counted: Counted) -> OwnHeader:
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    places: dict[tuple[str, ...], str] = {}
    for head in heads:
        shape = tuple(_general(head.shape))
        seen[shape] += 1
        places.setdefault(shape, head.place)
    shapes = sorted(seen, key=lambda shape: (-seen[shape], shape))[:MAX_FORMS]
    return OwnHeader(tuple(_form(shape, counted, places[shape]) for shape in shapes))


def _general(shape: Sequence[str]) -> Iterator[str]:
    """Yield the parts; behind a time any name may be a logger's, and the error is logged by another than the steps."""
    is_timed = False
    for part in shape:
        is_timed |= part.startswith(f"\0{TIME}")
        if part.startswith(f"\0{NAME}"):
            yield r"[A-Za-z_][\w.@/-]{0,60}" if is_timed else part[2:]
        else:
            yield part


def _form(shape: Sequence[str], counted: Counted, place: str) -> tuple[str, str]:
    """The pattern of one form of the header, and what is put in its place; `place`: what stood before one of its numbers."""
    pattern, put = "", ""
    kinds = [part[1] if part.startswith("\0") else "" for part in shape]
    is_timed = TIME in kinds
    first = min(kinds.index(kind) for kind in (TIME, UPPER, LOWER, NUMBER, BEHIND) if kind in kinds)
    outer = "".join(shape[:first])
    if outer:
        is_known = split_prefix(f"{place}[rank0]: x").rank == 0
        pattern, put = (f"(?P<outer>{outer})", r"\g<outer>") if is_known else (outer, "")
    level = ""
    for kind, part in zip(kinds[first:], shape[first:], strict=True):
        if kind == TIME:
            pattern, put = f"{pattern}(?P<time>{part[2:]})", rf"{put}\g<time> "
        elif kind in (UPPER, LOWER):
            opening, closing = part[2:].split("\0")
            words = LEVELS if kind == UPPER else LEVELS.lower()
            group, level = ("(?P<level>", rf"\g<level> " if kind == UPPER and is_timed else rf"[\g<level>] ") if not level else ("(?:", level)
            level = "" if kind == LOWER and not is_timed else level
            pattern += f"{opening}{group}{words}) {{0,8}}{closing}"
        elif kind == NUMBER:
            before, behind = part[2:].split("\0")
            pattern += rf"{before}(?P<number>\d{{1,5}}){behind}"
        elif kind == BEHIND:
            said = rf"(?P<said>[^\n\r]{{0,{MAX_SAID}}}?) {{1,40}}rank=(?P<number>\d{{1,5}})(?=[ \n\r]|$)"
            return pattern + said, rf"\1{put}{level}[{counted.tag}\g<number>]: \g<said>"
        else:
            pattern += part
    return _ONE_BLANK.sub(" ?", pattern), rf"\1{put}{level}[{counted.tag}\g<number>]: "
