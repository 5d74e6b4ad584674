"""Frames as rich, IPython and exception groups draw them.

rich wraps paths, which are put together again here. What was raised below its box is put together before anything is
read (`sources`).
"""

from __future__ import annotations

import re

from ..lines.lazy_pattern import lazy
from .traceback_lines import Frame

# The margin that an ExceptionGroup draws, and the rule above each of its members.
GROUP_MARGIN = lazy(r"^(\s*)(?:\|(?: (.*))?|(\+-\+?-{3,}.*))$", re.DOTALL)
GROUP_MEMBER = lazy(r"^\+-(\+)?-{3,60} (?:\d{1,9}|\.\.\.) -{3,60}$")

_BORDERS = "\u2502|"  # `│`, and `|` where the terminal has no Unicode
_BOTTOM = lazy(r"^\s*(?:[\u2570\u2514][\u2500\-]|\+-{4,400}\+?\s*$)")
_FRAME = lazy(r"^(\S[^\n]{0,1500}?):(\d{1,9}) in (\S.{0,300})$")
_BARE_FRAME = lazy(r"^in (\S{1,300}):(\d{1,9})$")  # rich shows no path for `<string>`
_SOURCE = lazy(r"^\s{0,200}(?:(?P<here>[\u2771>])\s{0,40})?\d{1,9}\s(?:[\u2502|]\s?)?(?P<code>.*)$")
_PENDING_CHARS = 2000


class RichBox:
    """Frames of one rich box, fed line by line."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.is_open = True
        self._pending = ""

    def feed(self, text: str) -> bool:
        """Take one line of the box; False when the line does not belong to it."""
        if _BOTTOM.match(text):
            self.is_open = False
            return True
        stripped = text.strip()
        if not stripped or stripped[0] not in _BORDERS:
            return False
        self._feed_inside(stripped[1:].rstrip(_BORDERS + " "))
        return True

    def _feed_inside(self, inside: str) -> None:
        body = inside.strip()
        if not body or body[0] in "\u256d\u2502\u2570|+":  # blank, or the box of locals
            self._pending = ""
        elif frame := self._read_frame(body):
            self.frames.append(frame)
            self._pending = ""
        elif not self._pending and (source := _SOURCE.match(inside)):
            if source["here"] and self.frames and not self.frames[-1].code:
                self.frames[-1] = self.frames[-1].with_code(source["code"].strip(_BORDERS + " "))
        else:
            # `│ /opt/.../runtime/config.py: │` goes on with `│ 942 in _configure │`
            self._pending = (self._pending + body)[:_PENDING_CHARS]

    def _read_frame(self, body: str) -> Frame | None:
        for whole in (self._pending + body, f"{self._pending} {body}" if self._pending else ""):
            if found := _FRAME.match(whole):
                return Frame(found[1], int(found[2]), found[3])
        bare = _BARE_FRAME.match(body)
        return Frame("", int(bare[2]), bare[1]) if bare else None


# `Cell In[3], line 2, in f(x)`, `File ~/train.py:36, in step(self)`; before 8 `<ipython-input-3-ab> in <module>`
_CELL = lazy(r"^\s*(?:Input )?(Cell In ?\[\d{1,6}\]), line (\d{1,9})(?:, in (.{1,300}))?\s*$")
_IPYTHON_FILE = lazy(r"^File ([^:\n]{1,1000}):(\d{1,9})(?:, in (.{1,300}))?\s*$")
_IPYTHON_OLD = lazy(r"^(<ipython-input-[^>]{1,80}>|[~/][^\n]{1,800}?\.pyx?) in (.{1,300})$")
_ARROW = lazy(r"^-{1,8}> ?(\d{1,9})\s?(.*)$")


def read_ipython_frame(text: str) -> Frame | None:
    """Read the head of an IPython frame; older forms give the line only at the arrow (line 0 here)."""
    if found := _CELL.match(text) or _IPYTHON_FILE.match(text):
        return Frame(found[1], int(found[2]), (found[3] or "").partition("(")[0].strip())
    old = _IPYTHON_OLD.match(text)
    return Frame(old[1], 0, old[2].partition("(")[0].strip()) if old else None


def read_arrow(text: str) -> tuple[int, str] | None:
    """Read IPython's `----> 3 code` line as line number and code."""
    found = _ARROW.match(text)
    return (int(found[1]), found[2].strip()) if found else None
