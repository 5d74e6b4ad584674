"""Lines that a terminal broke at its width, and that were copied so, as the lines that were written.

In: a short text. Out: as many lines, so that line numbers stay those of the paste: a line's parts are joined at the
place of the first, the others become empty. A text counts as broken only where its longest lines are of one length, and
where what the rules know, or a traceback's frame, stands across such a break, or words are cut there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..lines.lazy_pattern import lazy
from .escapes import change_lines
from .quotes import without_escapes

MAX_BYTES = 256 << 10  # nobody copies more from a screen
WIDTHS = range(60, 401)  # of terminals and of their panes, in characters
MAX_OTHER = 0.2  # of the lines below full ones that begin as other lines do, before these are no rests
REACH = 120  # characters on either side of a break, in which a known text is looked for
MIN_KINDS = 3  # of full lines, which differ in more than digits: that a log's own are equally long is chance
MIN_KINDS_BELOW = 2  # where no line below one begins as a line does
CUT_WORDS = 0.3  # of the breaks, where a word goes on: of letters in a row, about half
START = 6  # characters by which a line's beginning is known
MIN_SIDE = 2  # bytes of it on either side
MAX_ASKED = 500  # breaks

Known = Callable[[bytes], Iterable[tuple[int, int]]]  # where known texts begin and end

# No-break spaces, and the space of no width at which chats break words
_COPIED_BLANKS = ((b"\xc2\xa0", b" "), (b"\xe2\x80\xaf", b" "), (b"\xe2\x80\x8b", b""))
# Discourse and editors turn quotes outside of code so; a line of JSON keeps them: a straight one would end its string.
_CURLY = {b"\xe2\x80\x98": b"'", b"\xe2\x80\x99": b"'", b"\xe2\x80\x9c": b'"', b"\xe2\x80\x9d": b'"'}
_CURLY_QUOTE = lazy(rb"\xe2\x80[\x98\x99\x9c\x9d]")
_JSON = lazy(rb"[ \t]{0,24}\[?[{\"]")
_FRAME = lazy(rb'File "[^"\n]{1,300}", line \d+')
# A line's beginning, as loggers, launchers and Python write it: a time, a level, a rank, a process, a frame.
_HEAD = lazy(
    r"\[(?:rank|[a-z]{1,20}\d{1,4}\]|[IWEF](?:\d{4}|\d{8}) |\d{4}-\d\d)|\(\w[\w.: ]{0,60} pid=|\d{4}-\d\d-\d\d|"
    r"\d\d:\d\d:\d\d|[IWEF](?:\d{4}|\d{8}) |(?:INFO|WARNING|ERROR|DEBUG)\b|Traceback \(|  File \"|\S{1,60}:\d+:\d+ \[\d"
)
_EXCEPTION = lazy(r"(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}: ")  # the same behind a whole word may be the rest of a name
_GOES_ON = lazy(r" ?[a-z][a-z ]|[,;.)\]=]")  # the rest of a word or of a sentence
_DIGITS = lazy(r"\d+")
_TABLE = lazy(r"(?:([|+*#])[^\n]*\1|[│┃╭╰┌└├┏┗][^\n]*[│┃╮╯┐┘┤┓┛]|([-=*#_~])\2*)\s{0,4}$")


def as_typed(data: bytes) -> bytes:
    """Yield the text with the blanks, quotes and backslashes that a web page, a forum or an editor put in as printed."""
    data = without_escapes(data)
    for blank, plain in _COPIED_BLANKS:
        data = data.replace(blank, plain)
    return change_lines(_CURLY_QUOTE, data, _straight)


def _straight(line: bytes) -> bytes:
    return line if _JSON.match(line) else _CURLY_QUOTE.sub(lambda quote: _CURLY[quote[0]], line)


def unwrapped(data: bytes, known: Known) -> bytes | None:
    """Yield the text with its broken lines joined; None where none are."""
    if not WIDTHS.start < len(data) <= MAX_BYTES or max(map(len, data.split(b"\n"))) > 4 * WIDTHS.stop:
        return None
    if data.isascii() and _width(data.split(b"\n")) is None:
        return None
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    width = _width(lines)
    if width is None:
        return None
    full = [n for n, line in enumerate(lines[:-1]) if len(line) == width and lines[n + 1] and not _TABLE.match(line)]
    breaks = [n for n in full if not _begins(lines[n + 1], lines[n])]  # now and then a line just fills the width
    if not breaks or len(full) - len(breaks) > max(1, MAX_OTHER * len(full)) or not _are_broken(lines, breaks, known):
        return None
    return "\n".join(_joined(lines, frozenset(breaks))).encode("utf-8", "surrogateescape")


def _begins(line: str, before: str) -> bool:
    """Whether a line below a full one has a beginning of its own."""
    return bool(_HEAD.match(line) or (not before[-1].isalnum() and _EXCEPTION.match(line)))


def _width(lines: Sequence[str | bytes]) -> int | None:
    """The length of the longest lines, where these stand out: a log's own lines have all lengths."""
    lengths = list(map(len, lines))
    width = max(lengths)
    if width not in WIDTHS:
        return None
    stands_out = lengths.count(width) >= 2 * lengths.count(width - 1) + lengths.count(width - 2)
    return width if stands_out else None


def _are_broken(lines: list[str], breaks: list[int], known: Known) -> bool:
    """Whether what follows the full lines are rests of them, and not lines of their own."""
    return _cut_words(lines, breaks) or _is_known(lines, breaks, known)


def _cut_words(lines: list[str], breaks: list[int]) -> bool:
    """Whether full lines of several kinds end within words, and go on as no other line begins."""
    rests = {n + 1 for n in breaks}
    kinds = {_kind(lines[n]) for n in breaks}
    needed = MIN_KINDS_BELOW if all(_GOES_ON.match(lines[n]) for n in rests) else MIN_KINDS
    starts = {_kind(line[:START]) for n, line in enumerate(lines) if n not in rests}
    common = sum(_kind(lines[n][:START]) in starts for n in rests)
    within = sum(lines[n][-1:].isalnum() and lines[n + 1][:1].isalnum() for n in breaks)
    return len(kinds) >= needed and common <= MAX_OTHER * len(breaks) and within >= CUT_WORDS * len(breaks)


def _kind(text: str) -> str:
    return _DIGITS.sub("0", text)


def _is_known(lines: list[str], breaks: list[int], known: Known) -> bool:
    """Whether a frame or a known text stands across one of the first breaks; asked once for all of them."""
    text, cuts = b"", []
    for n in breaks[:MAX_ASKED]:
        before, behind = (x.encode("utf-8", "surrogateescape") for x in (lines[n][-REACH:], lines[n + 1][:REACH]))
        cuts.append(len(text) + len(before))
        text += before + behind + b"\n"
    found = [*(m.span() for m in _FRAME.finditer(text)), *known(text)]
    return any(cuts[bisect_right(cuts, end - MIN_SIDE) - 1] in range(start + MIN_SIDE, end) for start, end in found)


def _joined(lines: list[str], breaks: frozenset[int]) -> Iterator[str]:
    start = 0
    for number in range(len(lines)):
        if number not in breaks:
            yield "".join(lines[start : number + 1])
            yield from [""] * (number - start)
            start = number + 1
