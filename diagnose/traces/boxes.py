"""What rich draws: the frames inside its box.

In comes one line of the box, out come frames; rich wraps paths, which are put together again here. What was raised is
put together before anything is read (`inputs.rich_boxes`).
"""

from __future__ import annotations

from ..lines.lazy_pattern import lazy
from .traceback_lines import Frame

_BORDERS = "\u2502|"  # `│`, and `|` where the terminal has no Unicode
_BOTTOM = lazy(r"^\s*(?:[\u2570\u2514][\u2500\-]|\+-{4,400}\+?\s*$)")
_FRAME = lazy(r"^(\S[^\n]{0,1500}?):(\d{1,9}) in (\S.{0,300})$")
_BARE_FRAME = lazy(r"^in (\S{1,300}):(\d{1,9})$")  # rich shows no path for `<string>`
_SOURCE = lazy(r"^\s*(?P<here>[\u2771>])?\s*\d{1,9}\s(?:[\u2502|]\s?)?(?P<code>.*)$")
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
            return
        if frame := self._read_frame(body):
            self.frames.append(frame)
            self._pending = ""
        elif not self._pending and (source := _SOURCE.match(inside)):
            self._keep_code(source["here"], source["code"].strip(_BORDERS + " "))
        else:
            # `│ /opt/.../runtime/config.py: │` goes on with `│ 942 in _configure │`
            self._pending = (self._pending + body)[:_PENDING_CHARS]

    def _read_frame(self, body: str) -> Frame | None:
        for whole in (self._pending + body, f"{self._pending} {body}" if self._pending else ""):
            if found := _FRAME.match(whole):
                return Frame(found[1], int(found[2]), found[3])
        bare = _BARE_FRAME.match(body)
        return Frame("", int(bare[2]), bare[1]) if bare else None

    def _keep_code(self, here: str | None, code: str) -> None:
        if here and self.frames and not self.frames[-1].code:
            last = self.frames[-1]
            self.frames[-1] = Frame(last.file, last.line, last.function, code)
