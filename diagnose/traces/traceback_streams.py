"""Who prints which traceback: the lines of one stream, given to the open traceback they continue.

Ranks that write into one console without a prefix are told apart by their frames, as far as that can be done.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from .assembly import Assembly
from .exception import read_exception
from .traceback_lines import WORDS, Frame, indent_of, one_of, read_frame, read_header, read_introduction

Closed = tuple[Assembly, str]

_OPEN_AT_ONCE = 128  # tracebacks without a speaker that may be interleaved line by line; the oldest is closed first
_INTRODUCING = (":", ">", "-", "d", " ", "\r")  # what such a line may end with
# Behind a line that Ray's driver had from several workers; the first time with a word on how to turn it off.
_FOLDED_WORDS = "x across cluster]"
_FOLDED = lazy(r" \[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates logs [^\n]{0,300})?$")
_INTRODUCTION_LINES = 3  # `Exception in thread …:` stands right above; another writer may come between


def assemble(lines: Sequence[Line], keys: Sequence[str]) -> list[Closed]:
    """Put the tracebacks of one source together, each with the key of its speaker; `keys`: who speaks on each line."""
    speakers: dict[str, _Speaker] = {}
    closed: list[Closed] = []
    latest: _Speaker | None = None  # who read a traceback's line last
    for line, key in zip(lines, keys, strict=True):
        text = line.message
        text = _FOLDED.sub("", text) if _FOLDED_WORDS in text else text
        speaker = speakers.get(key)
        if speaker is None:
            speaker = speakers[key] = _Speaker(key, closed)
        if not key and latest is not None and latest is not speaker and _is_adrift(speaker, latest, line, text):
            continue
        speaker.feed(line, text, _shape(line) if speaker.open else None)
        if speaker.open:
            latest = speaker
    for speaker in speakers.values():
        while speaker.open:
            speaker.close(speaker.open[0])
    return closed


def _is_adrift(speaker: _Speaker, latest: _Speaker, line: Line, text: str) -> bool:
    """Give a line without a speaker (blank, or not the first of a record) to the traceback it goes on with, if it does."""
    if speaker.open or not latest.open:
        return False
    if latest.is_record and text.strip():
        return latest.go_on(line, text, None)
    if text.strip() and not (latest.open[-1].in_frames and indent_of(text) >= 2):
        return False
    latest.is_record = bool(text.strip()) and latest.open[-1].line == line.number - 1
    latest.feed(line, text, None)
    return True


_VARYING = lazy(r"\d+| +")


def _shape(line: Line) -> str:
    """Yield the prefix without its numbers: a line of another shape was not printed by the traceback's printer."""
    # A blank that it ends with may be the text's own; the backtick of Markdown stands before the first line only.
    return _VARYING.sub("0", line.raw[: line.prefix.end].rstrip().lstrip("`"))


class _Speaker:
    """The tracebacks one speaker has open; several only where ranks without a prefix write at the same time."""

    def __init__(self, key: str, closed: list[Closed]) -> None:
        self.key = key
        self.open: list[Assembly] = []
        self.is_record = False  # the first line of the open traceback has its speaker, those below it do not
        self._closed = closed
        self._introduction: tuple[int, str, int | None] = (-_INTRODUCTION_LINES - 1, "", None)
        self._frames_seen: dict[tuple[int, Frame], int] = {}

    def feed(self, line: Line, text: str, shape: str | None) -> None:
        """Give the line to the open traceback it continues, or see whether it begins one."""
        if text[-1:] in _INTRODUCING and (told := read_introduction(text))[0]:
            self._introduction = (line.number, *told)  # also where an open traceback, cut off above, tolerates the line
        if self.open and self.go_on(line, text, shape):
            return
        if text and not text.isspace():
            self._begin(line, text)

    def go_on(self, line: Line, text: str, shape: str | None) -> bool:
        """Give the line to the open traceback that it continues, if it continues one."""
        header = read_header(text)
        for assembly in self._in_order(text):
            if assembly.lead and assembly.end_line == assembly.line == line.number - 1 and read_frame(text):
                assembly.lead = ""  # a sentence and no label: `Scheduler hit an exception: Traceback (most …`
            if assembly.lead and text.strip() and not text.startswith(assembly.lead):
                if not assembly.tolerate():
                    self.close(assembly)
                continue
            own = text[len(assembly.lead) :]
            is_part = line.number == assembly.end_line  # of a string that held several lines
            if shape is not None and text.strip() and not is_part and shape != assembly.shape:
                # A log line of the same rank; the traceback may go on behind it, but where another begins.
                if (header and assembly.is_complete) or not assembly.tolerate():
                    self.close(assembly)
                continue
            if header and header.form != "original" and assembly.in_frames and not assembly.owns_margin(text):
                continue  # another rank's, interleaved
            if assembly.accept(line.number, own):
                if (frame := read_frame(own)) is not None:  # by these, ranks that write at the same time are told apart
                    assembly.node = self._frames_seen.setdefault((assembly.node, frame), len(self._frames_seen) + 1)
                return True
            self.close(assembly)
        return False

    def _in_order(self, text: str) -> list[Assembly]:
        """Yield the open tracebacks, the likeliest owner of the line first."""
        if len(self.open) == 1:
            return self.open[:]
        latest_first = sorted(self.open, key=lambda a: -a.touched)
        frame = read_frame(text)
        if frame is not None:
            return sorted(latest_first, key=lambda a: (a.node, frame) not in self._frames_seen or not a.in_frames)
        if text.startswith((" ", "\t")):
            return sorted(latest_first, key=lambda a: not a.lacks_code)
        if read_exception(text):
            return sorted(latest_first, key=lambda a: not a.in_frames)
        return latest_first

    def _begin(self, line: Line, text: str) -> None:
        header = read_header(text)
        frame = read_frame(text) if header is None else None
        if header is not None or frame is not None:
            indent = header.indent if header else max(0, indent_of(text) - 2)
            self._open(Assembly(line.number, header, frame, indent), line)
        elif (found := _BARE.match(text)) and _BARE_NAME.search(found[0]):  # `KeyError: 'x'`, its traceback being cut off
            assembly = Assembly(line.number, None, None, 0)
            if assembly.accept(line.number, text) and not assembly.in_frames:
                assembly.form = "bare"
                self._open(assembly, line)

    def _open(self, assembly: Assembly, line: Line) -> None:
        number, form, rank = self._introduction
        if form and line.number - number <= _INTRODUCTION_LINES:
            assembly.form = form if assembly.form == "plain" and rank is None else assembly.form
            assembly.line, assembly.of_rank = number, assembly.of_rank if rank is None else rank
            self._introduction = (-_INTRODUCTION_LINES - 1, "", None)
        assembly.is_whole_line_ours = _EXCEPTHOOK.search(line.raw[: line.prefix.end]) is not None
        if not self.open:
            self._frames_seen.clear()
        elif len(self.open) >= _OPEN_AT_ONCE:
            self.close(self.open[0])
        assembly.shape = _shape(line)
        self.open.append(assembly)

    def close(self, assembly: Assembly) -> None:
        """End a traceback, as far as it came."""
        self.open.remove(assembly)
        self._closed.append((assembly, self.key))


# `[rank3]: ` with nothing behind it is what torch's excepthook (2.3 and later) puts before each line it prints.
_EXCEPTHOOK = lazy(r"\[rank\d{1,7}\]: $")
_BARE = lazy(r"^[A-Za-z_][\w.]{2,160}(?:\([\w.]{1,120}\))?(?::|\s*$)")
_BARE_NAME = lazy(one_of(WORDS["bare_names"]) + r"(?:\(|:|\s*$)")
