"""What a collector that no table of prefixes knows puts before each line it delivers, found by its being on all of them.

In: a text's first lines. Out: a `Rewriting`, which takes it off whole blocks; the time before it stays, and so does a
name of a pod that some of the lines told, or one that is not the same on all lines. A label is believed only where lines as
logs begin stand behind it, so that the first words that a trainer prints in every line are none.

    2026-11-20T17:03:28Z {} [rank3]: KeyError: 12                     2026-11-20T17:03:28Z [rank3]: KeyError: 12
    2026-11-20 17:03:28.123 | Traceback (most recent call last):      2026-11-20 17:03:28.123 Traceback (most recent …
    llm-7k2p-main-123:   File "train.py", line 5, in <module>         [pod/llm-7k2p-main-123/main]   File "train.py" …
    gpu-a2> [rank9]: KeyError: 12                                     [pod/gpu-a2/main] [rank9]: KeyError: 12
    1207 │ [rank3]: KeyError: 12                                      [rank3]: KeyError: 12
    12. [rank3]: KeyError: 12                                         [rank3]: KeyError: 12
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice, pairwise
from os.path import commonprefix

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from ..lines.prefix_rows import piece
from ..lines.record import record
from ..lines.timestamp import read_stamp
from .escapes import strip_ansi, without_escapes
from .exports import Reader

MIN_LINES = 4
SAMPLE_BYTES = 8 << 10
MAX_LINES = 50  # of the sample
FEW, SOME = 3, 8  # lines are compared first: most texts end here
MAX_TOLD = 12  # lines of which the tables of prefixes are asked
SHARE = 0.95  # of the lines that bear the label; a collector's own words are among the others
MIN_PROOFS = 2  # lines behind which a log's own beginning stands
MAX_LABEL = 200  # characters
MIN_NUMBERED = 8  # lines, before growing numbers are those of lines and not of ranks
MIN_EACH = 2  # lines of each name, on average, where the label names one of several

_LEVEL = lazy(piece("LEVEL").replace("?P<level>", "?:") + r"[ \t]{1,8}")
_BEGINS, _BEGINS_OR_SAYS = lazy(piece("LOG_TEXT")), lazy(f"{piece('LOG_TEXT')}|{piece('SAID')}")
_SURELY, _DIGITS, _OWN, _NUMBERED, PLACE = map(lazy, patterns(__file__, "labels"))
BEGIN_CHARS = 512  # of a line, that tell whether it is of a log
_BOUNDARY = " \t:|>])}"  # ends a label
_BARS = ("|", "│")  # `bat` and reports draw one behind the numbers, and one blank
_OF_A_LIST = (". ", ") ")  # an editor of Markdown numbers the lines of what is pasted into a list
_NAMES = ("pod", "container", "actor")
_WHO = ("rank", "local_rank", "task", "node_rank", "host", "ip")  # a label that tells these is a prefix of the tables


@record
class Rewriting(Reader):
    """Patterns of what stands at the beginning of lines, each with what is put in its place, for whole blocks."""

    forms: tuple[tuple[str, str], ...]

    def readable(self) -> Rewriting:
        """Yield it without what is no pattern: what was made of a stranger's lines may be none, and never ends a run."""
        readable = []
        for form in self.forms:
            with suppress(re.error, UnicodeError, OverflowError, RecursionError):
                readable += [form] if _compiled(form[0]) else []
        return Rewriting(tuple(readable))

    def feed(self, data: bytes, /) -> bytes:
        """Yield `data` with as many lines."""
        data = b"\n" + data
        for form, put in self.forms:
            data = _compiled(form).sub(b"\\g<line>" + put.encode(), data)
        return data[1:]


def _compiled(form: str) -> re.Pattern[bytes]:
    return re.compile(rf"(?P<line>[\n\r]){form}".encode())  # `re` keeps it


def may_be_labelled(head: bytes) -> bool:
    """Tell from its first bytes whether a longer sample of a text is worth asking for a label."""
    return _guess(_lines(head, is_whole=True)[:SOME]) is not None


def label_of(sample: bytes, *, is_whole: bool) -> Rewriting | None:
    """Yield what takes the label off the lines that `sample` begins with; `is_whole`: the last of them is not cut off."""
    lines = _lines(sample, is_whole=is_whole)
    label = _guess(lines)
    if label is None:
        return None
    pattern, put = label
    rests = _rests(pattern, lines)
    begins = _BEGINS_OR_SAYS if "?P<who>" in pattern else _SURELY if not put and not pattern.strip(r"\ ") else _BEGINS
    proofs = (rest for rest in rests[:MAX_TOLD] if begins.match(rest[:BEGIN_CHARS]) or _is_logged(rest))
    is_proved = len([*islice(proofs, MIN_PROOFS)]) == MIN_PROOFS
    return Rewriting((label,)) if is_proved and len(rests) >= SHARE * len(lines) else None


def _is_logged(rest: str) -> bool:
    """Whether a line's own beginning says more than a number could by chance."""
    prefix = split_prefix(rest)
    return any(x is not None for x in (prefix.stamp, prefix.severity, prefix.rank))


def _lines(sample: bytes, *, is_whole: bool) -> list[str]:
    lines = strip_ansi(without_escapes(sample)).decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return [line for line in lines[: None if is_whole else -1] if line.strip()][:MAX_LINES]


def _rests(pattern: str, lines: Sequence[str]) -> list[str]:
    """What stands behind the label on the lines that bear it."""
    match = re.compile(pattern).match
    return [line[found.end() :] for line in lines if (found := match(line))]


def _guess(lines: Sequence[str]) -> tuple[str, str] | None:
    """The pattern of a label, and what is put in its place."""
    if len(lines) < MIN_LINES or lines[0].startswith(("{", "[{", '"')):
        return None
    return _numbers(lines) or _place(lines) or _constant(lines)


def _numbers(lines: Sequence[str]) -> tuple[str, str] | None:
    """The numbers of lines, as `less -N` and `grep -n` show them; those of ranks do not grow from line to line."""
    first = _NUMBERED.match(lines[0])
    found = [_NUMBERED.match(line) for line in lines] if first else [None]
    marks = {m[2].lstrip(" ") or " " for m in found if m}
    fewest = MIN_LINES if marks <= {*_BARS, *_OF_A_LIST} else MIN_NUMBERED
    if len(lines) < fewest or None in found or len(marks) != 1:
        return None
    numbers = [int(m[1]) for m in found if m]
    steps = {b - a for a, b in pairwise(numbers)}
    mark = marks.pop()
    is_dense = mark in ":-" or numbers[-1] - numbers[0] < 3 * len(numbers)
    is_grown = steps == {1} if mark in _OF_A_LIST else min(steps) > 0 and is_dense
    behind = rf" {{0,4}}{re.escape(mark)} ?" if mark in _BARS else re.escape(mark)
    return (rf" {{0,8}}\d{{1,9}}{behind}", "") if is_grown and numbers[0] > 0 else None


def _place(lines: Sequence[str]) -> tuple[str, str] | None:
    """A name of one of a few hosts or workers in one manner: `[node-3] `, `gpu-a1> `, where the tables know none of it."""
    first = PLACE.match(lines[0])
    if first is None or not any(manner := (first["open"], first["close"], first["blank"].strip())):
        return None
    if any(split_prefix(line).end for line in lines[:FEW]):
        return None
    opening, closing, bar = map(re.escape, manner)
    end = rf" {{1,40}}{bar} ?" if bar else r"(?: |(?=[\n\r])|$)"
    pattern = rf"{opening}(?P<who>[A-Za-z][\w.-]{{0,80}}){closing}{end}"
    match = re.compile(pattern).match
    names = [found["who"] for line in lines if (found := match(line)) and PLACE.match(line)]
    is_place = len(names) >= SHARE * len(lines) and 1 < len(set(names)) <= len(names) / MIN_EACH
    return (pattern, r"[pod/\g<who>/main] ") if is_place else None


def _constant(lines: Sequence[str]) -> tuple[str, str] | None:
    """What the lines have in common, digits aside, behind their time."""
    stamps = [read_stamp(line, level.end() if (level := _LEVEL.match(line)) else 0) for line in lines[:FEW]]
    ends = [stamp.end if stamp else 0 for stamp in stamps]
    masked = [_DIGITS.sub("0", line[end : end + MAX_LABEL]) for line, end in zip(lines, ends, strict=False)]
    common = _to_boundary(commonprefix(masked))  # noqa: RUF071 - character by character, as it should be
    if len({end > 0 for end in ends}) > 1 or not common or not common.isascii():
        return None
    line, end = lines[0], ends[0]
    level = _LEVEL.match(line[:end])  # the collector's; it would hide a launcher's prefix in the line
    time = _pattern(line[level.end() if level else 0 : end])
    before = (r"[A-Z]{4,8}[ \t]{1,8}" if level else "") + (f"(?P<time>{time})" if time else "")
    while common and len(_rests(before + _pattern(common), lines)) < SHARE * len(lines):
        common = _to_boundary(common[:-1])
    pattern = before + _pattern(common)
    if not common or any(_OWN.search(line[: len(line) - len(rest)]) for rest in _rests(pattern, [line])):
        return None
    told = [_told(line, len(line) - len(rest)) for line in lines[:MAX_TOLD] for rest in _rests(pattern, [line])]
    known = [x for x in told if x is not None]
    is_word = not end and common.strip() and common.rstrip()[-1] not in _BOUNDARY  # every line may begin with `GPU `
    if len(known) == len(told) or any(name in x for x in known for name in _WHO) or (is_word and not known):
        return None
    pod = next((x[key] for x in known for key in _NAMES if key in x), None)
    return pattern, (r"\g<time> " if time else "") + (f"[pod/{pod}/main] " if pod else "")


def _to_boundary(text: str) -> str:
    while text and text[-1] not in _BOUNDARY:
        text = text[:-1]
    return text


def _pattern(text: str) -> str:
    """The pattern of a text whose digits may be others."""
    return re.sub(r"\d+", r"\\d{1,20}", re.escape(text))


def _told(line: str, end: int) -> dict[str, object] | None:
    """What the tables read in the first `end` characters, where they know all of it as a prefix."""
    whole = split_prefix(line)
    if whole.end < end:
        return None
    rest = split_prefix(line[end:])
    names = (name for name in (*_NAMES, *_WHO) if getattr(rest, name) is None)
    return {x: value for x in names if (value := getattr(whole, x)) is not None}
