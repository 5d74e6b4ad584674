"""rich's tracebacks as they would stand at the left edge of a wide terminal.

In: bytes. Out: as many lines. rich's log handler sets a traceback in behind its columns of time and level, cuts its title
where it is too long, and wraps what was raised at the box's width: no rule's words would stand in one line.

                         ╭─ Traceback (most recent call last─╮     ╭─ Traceback (most recent call last) ─╮
                         │ /srv/train.py:23 in <module>      │     │ /srv/train.py:23 in <module>      │
                         ╰───────────────────────────────────╯     ╰───────────────────────────────────╯
                         RuntimeError: CUDA error: an illegal      RuntimeError: CUDA error: an illegal memory access …
                         memory access was encountered
"""

from __future__ import annotations

import re

from ..lines.lazy_pattern import lazy

# A superset of what `unbox` can change, as `normalise.DRESS_LITERALS` is.
BOX_LITERALS: tuple[bytes, ...] = ("─ Trace".encode(), b"+- Trace", b"-- Trace")

_TITLE = " Traceback (most recent call last) "
_TOP = lazy(
    r"(?P<lead>[^\n]{0,200}?(?<! ))(?P<margin> ?(?: {2,200})?)(?P<corner>[╭┌+])(?P<rule>[─-]{1,400})"
    r" (?P<title>Trace[a-z (]{0,30}\)?) ?(?P=rule)?[─-]{0,400}(?P<end>[╮┐+])\s*$"
)
_BOTTOM = lazy(r"[╰└+][─-]{2,400}[╯┘+]\s*$")
_CHAINS = ("The above exception was", "During handling of the above")
_SIDES = "│┃|"
MAX_LINES = 3000  # of one traceback with its locals
MAX_OTHERS = 300  # lines of other writers between two of its own
MAX_BLANKS = 2
MAX_JOINED = 8000  # characters


def unbox(data: bytes) -> bytes:
    """Gives `data` with each of rich's tracebacks at the left edge, and what was raised in one line."""
    lines = data.split(b"\n")
    taken: set[int] = set()  # tops of boxes that go on with another; those of several ranks are woven
    for place, line in enumerate(lines):
        if b" Trace" in line and place not in taken and (top := _TOP.match(line.decode("utf-8", "surrogateescape"))):
            taken |= _Unboxing(lines, place, top).run() if _is_title(top["title"]) else set()
    return b"\n".join(lines)


def _is_title(text: str) -> bool:
    return _TITLE[1:].startswith(text)


class _Unboxing:
    """One traceback, from its first box on over those that it is chained with."""

    def __init__(self, lines: list[bytes], place: int, top: re.Match[str]) -> None:
        self._lines, self._place = lines, place
        blank = " " if top["lead"] and top["margin"] else ""  # which belongs to a launcher's label
        self._lead, self._margin = top["lead"] + blank, top["margin"].removeprefix(blank)
        self._own = f"{self._lead}{self._margin}"
        self._text = top.string[len(self._own) :].rstrip()
        self._width = len(self._text)
        self._is_open = True
        self._tops = {place}
        self._is_apart = False  # a blank line stands above
        self._said: list[tuple[int, str]] = []  # lines that may be one, with their places

    def run(self) -> set[int]:
        """Rewrite the lines; yield the places of the tops of its boxes."""
        self._put(self._place, _with_title(self._text))
        others = blanks = 0
        for place in range(self._place + 1, min(len(self._lines), self._place + MAX_LINES)):
            text = self._body(self._lines[place])
            if text is None:
                others += 1
                if others > MAX_OTHERS or (not self._own and not self._is_open):
                    break
                continue
            blanks = blanks + 1 if not text.strip() else 0
            if blanks > MAX_BLANKS or not self._take(place, text.rstrip()):
                break
            others = 0
        self._join()
        return self._tops

    def _body(self, line: bytes) -> str | None:
        text = line.decode("utf-8", "surrogateescape").rstrip("\r")
        if text.startswith(self._own):
            return text[len(self._own) :]
        return "" if text.rstrip() == self._own.rstrip() else None

    def _take(self, place: int, text: str) -> bool:
        """Take one of its lines; False for the first one behind its end."""
        if self._is_open:
            if not text or (text[0] not in _SIDES and not _BOTTOM.match(text)):
                return False
            self._is_open = text[0] in _SIDES
            self._put(place, text)
            return True
        if (top := _TOP.match(text)) and not top["lead"] and not top["margin"]:
            self._join()
            self._is_open = True
            self._tops.add(place)
            self._put(place, _with_title(text))
            return True
        if not text:
            self._join()
            self._put(place, "")
            self._is_apart = True
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

    def _put(self, place: int, text: str) -> None:
        end = b"\r" if self._lines[place].endswith(b"\r") else b""
        self._lines[place] = f"{self._lead}{text}".encode("utf-8", "surrogateescape") + end


def _with_title(text: str) -> str:
    """The top of a box with its whole title."""
    corner, rule = text[0], text[1]
    return f"{corner}{rule}{_TITLE}{rule * max(len(text) - len(_TITLE) - 3, 1)}{text[-1]}"
