"""Lines that a terminal, a collector or rich broke at a width as the lines that were written.

In: a short text. Out: as many lines, so that line numbers stay those of the paste: a line's parts are joined at the
place of the first, the others become empty. A text counts as broken only where its longest lines are of one length, and
where what the rules know, or a traceback's frame, stands across such a break, or words are cut there. A collector that
names a service before each part (`trainer-1  | `) names it before the parts of one line alike.

rich draws a box around a traceback. Its log handler sets it in behind its columns of time and level, cuts its title where
it is too long, and wraps what was raised at the box's width. It comes out as Python prints it, at the left edge.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import partial

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from .escapes import JSON_LINE, change_lines, without_escapes

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
_FRAME = lazy(rb'File "[^"\n]{1,300}", line \d+')
(
    _HEAD, _EXCEPTION, _GOES_ON, _DIGITS, _SERVICE, _TABLE, _TOP, _BOTTOM, _BOXED_FRAME, _BARE_FRAME, _SOURCE,
) = map(lazy, patterns(__file__, "unwrap"))  # fmt: skip


def as_typed(data: bytes) -> bytes:
    """Yield the text with the blanks, quotes and backslashes that a web page, a forum or an editor put in as printed."""
    data = without_escapes(data)
    if data.isascii():
        return data
    for blank, plain in _COPIED_BLANKS:
        data = data.replace(blank, plain)
    if b"\xe2\x80" not in data:
        return data
    straight = partial(_CURLY_QUOTE.sub, lambda quote: _CURLY[quote[0]])
    return change_lines(_CURLY_QUOTE, data, lambda line: line if JSON_LINE.match(line) else straight(line))


def unwrapped(data: bytes, known: Known) -> bytes | None:
    """Yield the text with its broken lines joined; None where none are."""
    lines = data.decode("utf-8", "surrogateescape").split("\n") if WIDTHS.start < len(data) <= MAX_BYTES else [""]
    lengths = list(map(len, lines))
    width = max(lengths)
    stands_out = lengths.count(width) >= 2 * lengths.count(width - 1) + lengths.count(width - 2)
    if width not in WIDTHS or not stands_out:  # a log's own lines have all lengths
        return None
    full = [n for n, line in enumerate(lines[:-1]) if len(line) == width and lines[n + 1] and not _TABLE.match(line)]
    services = [found[0] if (found := _SERVICE.match(line)) else "" for line in lines]
    lines = [line.removeprefix(service) for line, service in zip(lines, services, strict=True)]
    # now and then a line just fills the width
    breaks = [n for n in full if services[n] == services[n + 1] and not _begins(lines[n + 1], lines[n])]
    if not breaks or len(full) - len(breaks) > max(1, MAX_OTHER * len(full)):
        return None
    if not _cut_words(lines, breaks) and not _is_known(lines, breaks, known):  # lines of their own, and no rests
        return None
    for n in reversed(breaks):  # from the last one on, so that a line of several parts ends at the place of its first
        lines[n] += lines[n + 1]
        lines[n + 1] = services[n + 1] = ""
    return "\n".join(map("".join, zip(services, lines, strict=True))).encode("utf-8", "surrogateescape")


def _begins(line: str, before: str) -> bool:
    """Whether a line below a full one has a beginning of its own."""
    return bool(_HEAD.match(line) or (not before[-1:].isalnum() and _EXCEPTION.match(line)))


def _cut_words(lines: list[str], breaks: list[int]) -> bool:
    """Whether full lines of several kinds end within words, and go on as no other line begins."""
    within = sum(lines[n][-1:].isalnum() and lines[n + 1][:1].isalnum() for n in breaks)
    if within < CUT_WORDS * len(breaks):
        return False
    rests = {n + 1 for n in breaks}
    kinds = {_kind(lines[n]) for n in breaks}
    needed = MIN_KINDS_BELOW if all(_GOES_ON.match(lines[n]) for n in rests) else MIN_KINDS
    starts = {_kind(line[:START]) for n, line in enumerate(lines) if n not in rests}
    common = sum(_kind(lines[n][:START]) in starts for n in rests)
    return len(kinds) >= needed and common <= MAX_OTHER * len(breaks)


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


# --- rich's tracebacks ----------------------------------------------------------------------------------------------

# A superset of what `unbox` can change, as `normalise.DRESS_LITERALS` is.
BOX_LITERALS: tuple[bytes, ...] = ("─ Trace".encode(), b"+- Trace", b"-- Trace")

_TITLE = "Traceback (most recent call last)"
_CHAINS = ("The above exception was", "During handling of the above")
_SIDES = "│┃|"
_INNER = "╭│╰|+"  # of a box of locals
MAX_LINES = 3000  # of one traceback with its locals
MAX_OTHERS = 300  # lines of other writers between two of its own
MAX_BLANKS = 2
MAX_JOINED = 8000  # characters


def unbox(data: bytes) -> bytes:
    """Gives `data` with each of rich's tracebacks as Python prints it, and what was raised in one line."""
    lines = data.split(b"\n")
    taken: set[int] = set()  # tops of boxes that go on with another; those of several ranks are woven
    for place, line in enumerate(lines):
        if b" Trace" in line and place not in taken and (top := _TOP.match(line.decode("utf-8", "surrogateescape"))):
            taken |= _Unboxing(lines, place, top).run() if _TITLE.startswith(top["title"].rstrip()) else set()
    return b"\n".join(lines)


class _Unboxing:
    """One traceback, from its first box on over those that it is chained with."""

    def __init__(self, lines: list[bytes], place: int, top: re.Match[str]) -> None:
        self._lines, self._place = lines, place
        blank = " " if top["lead"] and top["margin"] else ""  # which belongs to a launcher's label
        self._lead, self._margin = top["lead"] + blank, top["margin"].removeprefix(blank)
        self._own = f"{self._lead}{self._margin}"
        self._width = len(top.string[len(self._own) :].rstrip())
        self._is_open = True
        self._tops = {place}
        self._box: list[tuple[int, str]] = []  # its lines, with their places
        self._is_apart = False  # a blank line stands above
        self._said: list[tuple[int, str]] = []  # lines that may be one, with their places

    def run(self) -> set[int]:
        """Rewrite the lines; yield the places of the tops of its boxes."""
        self._put(self._place, f"{_TITLE}:")
        others = blanks = 0
        for place in range(self._place + 1, min(len(self._lines), self._place + MAX_LINES)):
            line = self._lines[place].decode("utf-8", "surrogateescape").rstrip("\r")
            if not line.startswith(self._own) and line.rstrip() != self._own.rstrip():
                others += 1
                if others > MAX_OTHERS or (not self._own and not self._is_open):
                    break
                continue
            text = line[len(self._own) :].rstrip()
            blanks = blanks + 1 if not text else 0
            if blanks > MAX_BLANKS or not self._take(place, text):
                break
            others = 0
        self._undraw()
        self._join()
        return self._tops

    def _take(self, place: int, text: str) -> bool:
        """Take one of its lines; False for the first one behind its end."""
        if self._is_open:
            if not text or (text[0] not in _SIDES and not _BOTTOM.match(text)):
                return False
            self._is_open = text[0] in _SIDES
            self._box.append((place, text[1:].rstrip(f"{_SIDES} ") if self._is_open else ""))
            return True
        self._undraw()
        top = _TOP.match(text)
        if not text or (top and not top["lead"] and not top["margin"]):
            self._join()
            self._is_open, self._is_apart = bool(text), self._is_apart or not text
            self._tops |= {place} if text else set()
            self._put(place, f"{_TITLE}:" if text else "")
            return True
        if not self._margin and not self._is_sure(text):
            return False
        self._said.append((place, text))
        return True

    def _is_sure(self, text: str) -> bool:
        """Whether the line is the traceback's own: at the edge of the terminal it may be anybody's."""
        is_apart, self._is_apart = self._is_apart, False
        if is_apart:
            return text.startswith(_CHAINS)
        return not self._said or self._is_wrapped(self._said[-1][1], text)

    def _is_wrapped(self, above: str, text: str) -> bool:
        """Whether the first word had no room in the line above it."""
        return not text[0].isspace() and len(above) + 1 + len(text.split(" ", 1)[0]) > self._width

    def _join(self) -> None:
        """Put each line that was wrapped together again; what is left over of their places becomes empty."""
        whole: list[str] = []
        above = ""
        for _, text in self._said:
            if not above or not self._is_wrapped(above, text) or len(whole[-1]) > MAX_JOINED:
                whole.append(text)
            else:  # a word longer than the box fills its lines
                whole[-1] += text if len(above) >= self._width and " " not in above else f" {text}"
            above = text
        for count, (place, _) in enumerate(self._said):
            self._put(place, whole[count] if count < len(whole) else "")
        self._said = []

    def _undraw(self) -> None:
        """Write the frames of a box, each with its source line; the rest of its lines becomes empty."""
        path, frame, at = "", "", -1  # so far of a path that a narrow box broke; the last frame, and its place
        for place, inside in self._box:
            self._put(place, "")
            body = inside.strip()
            if not body or body[0] in _INNER:
                path = ""
            elif found := _read_frame(path + body) or (_read_frame(f"{path} {body}") if path else ""):
                path, frame, at = "", found, place
                self._put(at, frame)
            elif path or (source := _SOURCE.match(inside)) is None:
                path = (path + body)[:MAX_JOINED]
            elif source["here"] and frame:
                self._put(at, f"{frame}\r    {source['code'].strip(f'{_SIDES} ')}")
                frame = ""
        self._box = []

    def _put(self, place: int, text: str) -> None:
        end = b"\r" if self._lines[place].endswith(b"\r") else b""
        self._lines[place] = f"{self._lead}{text}".encode("utf-8", "surrogateescape") + end


def _read_frame(text: str) -> str:
    """The head of a frame as Python prints it; nothing of another line."""
    if found := _BOXED_FRAME.match(text):
        return f'  File "{found[1]}", line {found[2]}, in {found[3]}'
    return f'  File "<string>", line {bare[2]}, in {bare[1]}' if (bare := _BARE_FRAME.match(text)) else ""
