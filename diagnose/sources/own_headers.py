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
from itertools import islice, pairwise

from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from ..lines.record import record
from .counted_headers import FEWEST_LINES, Counted, what_is_counted
from .form_reader import Reader
from .header_parts import BEHIND, LEVELS, LOWER, MAX_SAID, NAME, NUMBER, TIME, UPPER, Head, read_head
from .normalise import normalise

MAX_LINES = 600  # with a number that is asked for
MAX_FORMS = 8  # in which the header stands: with and without a level, behind several names
# A number near the head of a line, in a manner that may be a label; not as the tables know it: `[rank3]: `, `3: `.
_MAY = lazy(
    rb"(?m)^(?!\[(?:rank|default)\d)(?:[^\n]{0,120}?(\b(?i:rank|rk|r|worker|trainer|proc|process|learner|replica|dp|gpu|w|p)"
    rb"[ =:_#\-]{0,3}|[\[(<]|\| )(\d{1,5})(?:/\d{1,5})?(?:[\])>](?! NCCL|:?\d)|:(?![\d/])| {0,8}\|| - )"
    rb"|()(\d{1,5}) \||([\w.\-]{1,60}:)(\d{1,5}):\d{1,9} |[^\n]{10,400}?( rank=)(\d{1,5})(?: |$))"
)
_ONE_BLANK = lazy(r"\[ \\t\]\{1,20\}$")  # behind it the text begins, and a traceback's frame with blanks of its own


@record
class OwnHeader:
    """Patterns of the header's forms, each with what is put in its place."""

    forms: tuple[tuple[str, str], ...]


class Naming(Reader):
    """Writes who speaks as the tables know it, block after block."""

    def __init__(self, header: OwnHeader) -> None:
        self._header = header

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[bytes], bytes]]:
        return [(_compiled(form), put.encode()) for form, put in self._header.forms]

    def feed(self, data: bytes) -> bytes:
        """Gives `data` with as many lines."""
        data = b"\n" + data
        for pattern, put in self._patterns:
            data = pattern.sub(put, data)
        return data[1:]


def _compiled(form: str) -> re.Pattern[bytes]:
    return re.compile(rf"([\n\r]){form}".encode())


def _is_readable(form: str) -> bool:
    """Whether a pattern that was made of a stranger's lines is one; what is none is no header, and never an end."""
    try:
        return bool(_compiled(form))
    except (re.error, UnicodeError, OverflowError, RecursionError):
        return False


def may_have_header(data: bytes) -> bool:
    """Tells from a few bytes of a text whether a longer sample is worth asking for its header."""
    return any(len(set(numbers)) > 1 for numbers in _numbers(data).values())


def _numbers(data: bytes) -> dict[bytes, list[bytes]]:
    """The numbers that stand in each manner, by what stands before them."""
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for match in _MAY.finditer(data):
        found[_manner(match)].append(match[match.lastindex or 0])
    return found


def _is_counter(numbers: Sequence[bytes]) -> bool:
    """Whether they only grow, as steps do; `counted_headers` takes no part of them for processes then."""
    return all(int(a) <= int(b) for a, b in pairwise(numbers))


def _manner(match: re.Match[bytes]) -> bytes:
    return match[(match.lastindex or 1) - 1]


def header_of(sample: bytes) -> OwnHeader | None:
    """Yield the header of the lines in `sample` that says whose they are; None where none does for certain."""
    sample = normalise(sample)
    told = _numbers(sample.replace(b"\r", b"\n"))
    manners = {x for x, numbers in told.items() if len(numbers) >= FEWEST_LINES and not _is_counter(numbers)}
    if not manners:
        return None
    raw = [x for x in sample.replace(b"\r", b"\n").split(b"\n") if x.strip()]
    lines = [x.decode("utf-8", "replace") for x in raw]
    may = (x for x, data in zip(lines, raw, strict=True) if (m := _MAY.match(data)) and _manner(m) in manners)
    groups: dict[tuple[str, str], list[Head]] = defaultdict(list)
    for line in islice(may, MAX_LINES):
        if (head := read_head(line)) is not None:
            groups[_label(head), head.name].append(head)
    for _, heads in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        if (counted := what_is_counted(heads, lines)) is not None:
            return _header(heads, counted)
    return None


def _label(head: Head) -> str:
    return next(part for part in head.shape if part.startswith((f"\0{NUMBER}", f"\0{BEHIND}")))


def _header(heads: Sequence[Head], counted: Counted) -> OwnHeader | None:
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    places: dict[tuple[str, ...], str] = {}
    for head in heads:
        shape = tuple(_general(head.shape))
        seen[shape] += 1
        places.setdefault(shape, head.place)
    shapes = sorted(seen, key=lambda shape: (-seen[shape], shape))[:MAX_FORMS]
    forms = (_form(shape, counted, places[shape]) for shape in shapes)
    readable = tuple((pattern, put) for pattern, put in forms if _is_readable(pattern))
    return OwnHeader(readable) if readable else None


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
    """The pattern of one form of the header, and what is put in its place; `place`: what stood before a number in it."""
    kinds = [part[1] if part.startswith("\0") else "" for part in shape]
    first = next(n for n, kind in enumerate(kinds) if kind not in ("", NAME))
    outer = "".join(shape[:first])
    is_known = bool(outer) and split_prefix(f"{place}[rank0]: x").rank == 0
    written = _Written(f"(?P<outer>{outer})" if is_known else outer, r"\g<outer>" if is_known else "", TIME in kinds)
    for kind, part in zip(kinds[first:], shape[first:], strict=True):
        written.add(kind, part[2:] if kind else part)
    tag = f"[{counted.tag}\\g<number>]: "
    return _ONE_BLANK.sub(" ?", written.pattern), rf"\1{written.put}{written.level}{tag}{written.said}"


@dataclass(slots=True)
class _Written:
    """A form, part after part."""

    pattern: str
    put: str
    is_timed: bool
    times: int = 0
    level: str = ""
    said: str = ""  # where it stands before the number

    def add(self, kind: str, part: str) -> None:
        """Add what one part matches, and what is left of it."""
        if kind == TIME:
            self.times += 1  # a collector's, and the program's own
            self.pattern += f"(?P<time{self.times}>{part})"
            self.put += rf"\g<time{self.times}> "
        elif kind in (UPPER, LOWER):
            self._add_level(kind, *part.split("\0"))
        elif kind == NUMBER:
            before, behind = part.split("\0")
            self.pattern += rf"{before}(?P<number>\d{{1,5}}){behind}"
        elif kind == BEHIND:
            self.pattern += rf"(?P<said>[^\n\r]{{0,{MAX_SAID}}}?) rank=(?P<number>\d{{1,5}})(?=[ \n\r]|$)"
            self.said = r"\g<said>"
        else:
            self.pattern += part

    def _add_level(self, kind: str, opening: str, closing: str) -> None:
        """Behind a time the tables know a level as it is; without one, capital letters in brackets."""
        words, group = (LEVELS if kind == UPPER else LEVELS.lower()), "?:"
        if not self.level and (kind == UPPER or self.is_timed):
            group, self.level = "?P<level>", r"\g<level> " if kind == UPPER and self.is_timed else r"[\g<level>] "
        self.pattern += rf"{opening}({group}{words}) {{0,8}}{closing}"
