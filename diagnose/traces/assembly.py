"""One traceback being put together: fed the lines of one speaker, it says which of them are its own."""

from __future__ import annotations

from typing import Literal

from .exception import ExceptionLine, Relation, Segment, read_exception, read_raised
from .traceback_lines import (
    ARROW,
    CARETS,
    CHAINS,
    FOREIGN,
    GROUP_MARGIN,
    GROUP_MEMBER,
    RESUMES,
    WORDS,
    Frame,
    Header,
    indent_of,
    introduces_inner,
    read_frame,
    read_header,
    read_ipython_frame,
)

_NOISE_LINES = 30  # lines of other writers tolerated between two frames
_BLANK_LINES = 40  # a box of rich leaves so many


class Assembly:
    """The state of one open traceback; `accept` refuses the first line that is not its own."""

    def __init__(self, number: int, header: Header | None, frame: Frame | None, indent: int) -> None:
        self.line = self.end_line = number
        self.form: str = header.form if header else "headless"
        self.lead = header.lead if header else ""
        self.of_rank = header.rank if header else None
        self.touched, self.node = number, 0  # the second: place among the frames shared with tracebacks woven into this one
        self.segments = [Segment(frames=[frame] if frame else [])]
        self.shape = ""  # of the prefix of the line that it began with
        self.is_whole_line_ours = False  # every line of this prefix comes from one excepthook
        self._base = 0 if self.form == "group" else indent
        self._blanks = self._noise = self._next_depth = 0
        self._is_chained = self._left_margin = self._expects_inner = False
        self._group_column = max(indent, 2)

    @property
    def segment(self) -> Segment:
        """The exception being read."""
        return self.segments[-1]

    @property
    def in_frames(self) -> bool:
        """Say whether the exception's name has not been read yet."""
        return not self.segment.exception

    @property
    def lacks_code(self) -> bool:
        """Say whether the last frame still waits for its source line."""
        return self.in_frames and bool(self.segment.frames) and not self.segment.frames[-1].code

    def accept(self, number: int, text: str) -> bool:
        """Take the line if it is part of this traceback."""
        if number > self.line == self.end_line and self.segment.frames and not self.in_frames:
            return False  # it stood in one line, as a string of JSON does: what is below is not its message
        if not text.strip():
            self._blanks += 1
            return self._blanks <= _BLANK_LINES
        is_ours = self._accept(number, text)
        if is_ours:
            self._blanks, self.touched = 0, number
        return is_ours

    def _accept(self, number: int, text: str) -> bool:
        if self.form == "group" and not self._left_margin:
            found = GROUP_MARGIN.match(text)
            if found is None:
                self._left_margin = True
            elif found[3]:
                if member := GROUP_MEMBER.match(found[3].strip()):
                    depth = max(0, len(found[1]) - self._group_column) // 2 + (1 if member[1] else 0)
                    self._base = 0
                    self._begin_segment("member", max(1, depth))
                return self._take(number)
            else:
                text = found[2] or ""
                if not text.strip():
                    return self._take(number)
        return self._accept_frame_part(number, text) if self.in_frames else self._accept_message_part(number, text)

    def _take(self, number: int) -> bool:
        self.end_line = max(self.end_line, number)
        self._noise = 0
        return True

    def tolerate(self) -> bool:
        """Let another writer's line pass; False when there were too many for this traceback to go on."""
        self._noise += 1
        return self._noise <= _NOISE_LINES

    def _accept_frame_part(self, number: int, text: str) -> bool:
        frame = read_frame(text)
        if frame is not None:
            if not self.segment.frames and self.form in ("plain", "elastic_box"):  # a paste cuts the first line's margin
                self._base = max(self._base, indent_of(text) - 2)
            self.segment.frames.append(frame)
            return self._take(number)
        if self.form == "ipython" and self._accept_ipython(text):
            return self._take(number)
        if indent_of(text) > self._base:
            if self.lacks_code and not CARETS.match(text):
                self.segment.keep_code(text)
            return self._take(number)
        if self.segment.relation == "member" and read_header(text):
            return self._take(number)
        found = read_raised(text.strip() if indent_of(text) <= self._base else text, self.segment.frames)
        if found and (self.form != "headless" or found.is_sure) and self._may_raise(found):
            return self._name_exception(number, found)
        return self.tolerate()

    def _may_raise(self, found: ExceptionLine) -> bool:
        """Say whether a name is awaited here; an unknown one only behind a frame."""
        if found.is_sure or self.form == "ipython":
            return True
        return bool(self.segment.frames) and not FOREIGN.search(f"{found.name}: {found.message}")

    def _accept_ipython(self, text: str) -> bool:
        if frame := read_ipython_frame(text):
            self.segment.frames.append(frame)
            return True
        if (arrow := ARROW.match(text)) and self.segment.frames:
            self.segment.keep_code(arrow[2], int(arrow[1]))
        return text[0].isdigit() or text[0] in " -"

    def _name_exception(self, number: int, found: ExceptionLine) -> bool:
        self.segment.name(number, found)
        return self._take(number)

    def _accept_message_part(self, number: int, text: str) -> bool:
        if (relation := CHAINS.get(text.strip())) is not None:
            return self._expect_next(number, relation)
        if (header := read_header(text)) is not None:
            return self._begin_next(number, header)
        if self._is_chained:
            return self._accept_after_chain(number, text)
        segment = self.segment
        frame = read_frame(text)
        if segment.is_ray and self._accept_remote(number, text, frame):
            return True
        if frame is not None and not segment.is_sure:  # `Loss: 1.2` of another writer stood between two frames
            segment.exception = segment.message = segment.last_text = ""
            segment.exception_line = 0
            segment.frames.append(frame)
            return self._take(number)
        if text.strip() == '"""':  # around the text of a RemoteTraceback
            if segment.depth == 0:
                self._expects_inner = True
            else:
                self._blanks, self._left_margin = 0, True  # whatever is chained next is outside
            return self._take(number)
        if introduces_inner(text, segment.message):
            self._expects_inner = True
        elif not self._may_continue(text):
            return False
        body = text[self._base :] if text[: self._base].isspace() else text
        return segment.add_text(body.rstrip(), self._blanks) and self._take(number)

    def _expect_next(self, number: int, relation: Literal["cause", "context"]) -> bool:
        # A message that ends with a line break (`Caught X in DataLoader worker …`) leaves two blank lines before
        # the sentence: the chain goes on outside, not inside that message.
        depth = 0 if self._blanks >= 2 or self._left_margin else self.segment.depth
        for segment in reversed(self.segments):
            if segment.relation == "last" and depth == 0:
                segment.relation = relation
                break
        self._is_chained, self._next_depth = True, depth
        return self._take(number)

    def _begin_next(self, number: int, header: Header) -> bool:
        if self._is_chained:
            depth = self._next_depth
        elif self._expects_inner or header.form == "original" or introduces_inner("", self.segment.message):
            depth = self.segment.depth + 1
        else:
            return False
        self._begin_segment("inner" if depth else "last", depth)
        self._base = header.indent
        if header.form == "group":
            self.form, self._left_margin, self._base = "group", False, 0
            self._group_column = max(header.indent, 2)
        return self._take(number)

    def _begin_segment(self, relation: Relation, depth: int, frame: Frame | None = None) -> None:
        self.segments.append(Segment(relation, depth, [frame] if frame else []))
        self._is_chained = self._expects_inner = False

    def _accept_after_chain(self, number: int, text: str) -> bool:
        frame, depth = read_frame(text), self._next_depth
        found = read_exception(text)
        if text.lstrip().startswith("ray::"):
            return self._take(number)
        if frame is None and not (found and found.is_sure):
            return self.tolerate()
        self._begin_segment("inner" if depth else "last", depth, frame)
        if frame is None:
            return found is not None and self._name_exception(number, found)
        self._base = max(0, indent_of(text) - 2)
        return self._take(number)

    def _accept_remote(self, number: int, text: str, frame: Frame | None) -> bool:
        """Begin what a remote task raised: its frames, or its exception where Ray left its own frames out."""
        found = read_exception(text)
        if frame is not None:
            self._begin_segment("inner", self.segment.depth + 1, frame)
            self._base = max(0, indent_of(text) - 2)
            return self._take(number)
        if found is not None and found.is_sure:
            self._begin_segment("inner", self.segment.depth + 1)
            return self._name_exception(number, found)
        return CARETS.match(text) is not None and self._take(number)

    def _may_continue(self, text: str) -> bool:
        if self.is_whole_line_ours:
            return True
        segment = self.segment
        is_one_line = segment.exception.rpartition(".")[2] in WORDS["of_one_line"] and "Caught " not in segment.message[:8]
        if self._left_margin or segment.is_bare or is_one_line:
            return False
        if self._blanks and not (RESUMES.match(text) or not segment.message.strip()):
            return False
        if self.form == "elastic_box" and indent_of(text) < self._base:
            return False
        is_rule = text[0] in "=-*" and not segment.message.strip()  # a drawn box
        return is_rule or WORDS["boxed"] in segment.exception or not FOREIGN.search(text)

    @property
    def is_complete(self) -> bool:
        """Whether its exception has been named, and nothing says that another follows."""
        return not self.in_frames and not self._is_chained and not self._expects_inner

    def owns_margin(self, text: str) -> bool:
        """Say whether the line is drawn inside this group's margin."""
        return self.form == "group" and not self._left_margin and GROUP_MARGIN.match(text) is not None
