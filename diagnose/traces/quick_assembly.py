"""A traceback being put together whose plainest lines are taken at once: in a large job nearly all are such.

What `Assembly.accept` would do with a further frame, its source line or a further line of a message is done here in a third
of the steps; whatever might be anything else is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .assembly import Assembly
from .known_paths import NO_PATH, known_path
from .segment import Segment
from .traceback_lines import ELIDED, Frame, indent_of, read_frame

_INDENTED_FORMS = ("group", "ipython")  # these draw a margin, or write frames in another way


class QuickAssembly(Assembly):
    """The same, with a quicker way."""

    known: tuple[Frame, ...] = ()  # the frames of its path, one value for all that stand in them

    def goes_on(self, number: int, text: str) -> bool:
        """Take a line that can only be the next one of this traceback; False tells nothing."""
        if not self._is_even() or not text or text.isspace():
            return False
        segment = self.segments[-1]
        is_ours = self._adds_words(segment, text) if segment.exception else self._adds_frame(segment, text)
        if is_ours:
            self.note_taken(number)
        return is_ours

    def awaits_path(self) -> bool:
        """Whether only the head of a plain traceback has been read."""
        return self.form == "plain" and self.end_line == self.line and not (self.segments[-1].frames or self.lead)

    def take_path(self, texts: Sequence[str]) -> int:
        """Take the lines with its frames as those of another were read; say how many."""
        path = known_path(self._base, texts) if texts else NO_PATH
        if path.count:
            self.segments[-1].frames.extend(path.frames)
            self.known = path.frames
            self._base, self._column = path.base, path.column
            self.path += path.told
        return path.count

    def takes_any_line(self) -> bool:
        """Whether no words stand below its message that are not part of it: torchrun draws a box with all that failed."""
        segment = self.segments[-1]
        is_drawn = "ChildFailedError" in segment.exception and segment.message_lines > 0
        return is_drawn and self.form != "elastic-box" and self._is_even() and not segment.is_one_line

    def take_drawn(self, texts: Sequence[str]) -> int:
        """Take further lines of such a message, up to one that may be anything else; say how many."""
        segment = self.segments[-1]
        count = min(len(texts), segment.room())
        if not segment.can_only_go_on("\n".join(texts[:count])) or not all(map(str.strip, texts[:count])):
            odd = (i for i, text in enumerate(texts) if not text.strip() or not segment.can_only_go_on(text))
            count = min(count, next(odd, count))
        if count:
            segment.add_texts([self._body(text) for text in texts[:count]])
        return count

    def note_taken(self, number: int) -> None:
        """Note that the lines up to this one are its own."""
        self.touched = number
        self._take(number)

    def _is_even(self) -> bool:
        """Whether it goes on as it did, with no blank line, margin or sentence before the next line."""
        if self._blanks or self._is_chained or self._left_margin or self._is_elided or self.lead or self._box:
            return False
        return self.form not in _INDENTED_FORMS and self.end_line != self.line

    def _adds_words(self, segment: Segment, text: str) -> bool:
        if not segment.can_only_go_on(text) or not self._may_continue(text):
            return False
        return segment.add_text(self._body(text), 0, is_plain=True)

    def _adds_frame(self, segment: Segment, text: str) -> bool:
        if not segment.frames or "Traceback" in text:
            return False
        column, frame = indent_of(text), read_frame(text)
        if frame is not None:
            segment.frames.append(frame)
            self._column = column
            return True
        is_set_in = column > max(self._base, self._column) and text.strip() not in ELIDED
        if is_set_in and not segment.frames[-1].code:
            if text[column] in "~^":
                return False
            segment.keep_code(text)
        return is_set_in
