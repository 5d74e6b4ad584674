"""Who speaks on the lines of a buffer, for what passes by the lines of others, as woven tracebacks of many ranks do.

The lines are indexed by speaker once passing by has cost as much as the index does.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate

from ..lines.lazy_pattern import lazy
from ..lines.prefix_rows import mark
from ..lines.shapes import DIGITS

_MAX_SHAPES = 4_000  # of line starts whose speaker's place is remembered
_SPANS: dict[bytes, list[tuple[int, int]]] = {}  # by the shape of a line's start: where its speaker stands


def fast_speaker(line: bytes) -> bytes:
    """The raw leading text that names the speaker; two speakers differ in it, one speaker may have several."""
    shape = line.translate(DIGITS)
    spans = _SPANS.get(shape)
    if spans is None:
        if len(_SPANS) >= _MAX_SHAPES:
            _SPANS.clear()
        spans = _SPANS[shape] = speaker_spans(line)
    if len(spans) == 1:
        start, end = spans[0]
        return line[start:end]
    return b"".join([line[start:end] for start, end in spans]) if spans else b""


SPEAKER = lazy(mark("speaker").encode())


def speaker_spans(line: bytes) -> list[tuple[int, int]]:
    """Where `fast_speaker` stands in a line; the same for every line that differs from it in its digits only."""
    match = SPEAKER.match(line)
    return [span for span in match.regs[1:] if span[0] < span[1]] if match else []


MAX_TEXT = 8 * 1024  # bytes of one line that are read
RANK_MARK = b"[rank"
HEAD_BYTES = 256  # of a line, in which its speaker stands
LOOK_AHEAD_BYTES = MAX_TEXT  # in which a speaker's name is looked for at once; a longer line is cut
INDEX_AFTER = 2  # times the buffer's bytes, passed by: to make an index costs so much more than to pass a line by
# Whatever names a speaker holds one of these (`gpu-7:`, `[rank3`, `r3`), and few others say what stands before the first.
NAME_END = lazy(rb"[\s:\])|/=]|(?<=[rRkK])\d")


def voice(line: bytes) -> bytes:
    """Yield who speaks on a line: of torch's own prefix the rank alone, else as `fast_speaker` reads it."""
    if line.startswith(RANK_MARK) and (end := line.find(b"]", 0, HEAD_BYTES)) > 0:
        return line[: end + 1]
    return fast_speaker(line if len(line) <= HEAD_BYTES else line[:HEAD_BYTES])


def beginning(speaker: bytes) -> bytes:
    """Yield a text that stands on every line whose speaker is the same: its name up to the first end of a word."""
    end = NAME_END.search(speaker)
    return speaker[: end.end()] if end else b""


def is_same(who: bytes, speaker: bytes) -> bool:
    """Tell whether both are one: a launcher's prefix alone, or with the rank's own behind it, is the same process."""
    return who.startswith(speaker) or speaker.startswith(who) if who and speaker else not who and not speaker


class Voices:
    """The lines of one buffer, and who speaks on them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._passed = 0  # bytes, before there was an index
        self._index: _Index | None = None

    def pass_by(self, at: int, speaker: bytes, most_lines: int, most_bytes: int) -> tuple[int, int, int]:
        """Pass by what others say from the line at offset `at` on; yield where it ends, its lines, and its (cut) bytes."""
        if self._index is None and self._passed > INDEX_AFTER * len(self.data):
            self._index = _Index(self.data)
        if self._index is not None:
            return self._index.pass_by(at, speaker, most_lines, most_bytes)
        found = self._look(at, speaker, most_lines, most_bytes)
        self._passed += found[0] - at
        return found

    def _look(self, at: int, speaker: bytes, most_lines: int, most_bytes: int) -> tuple[int, int, int]:
        data, size, lines, passed = self.data, len(self.data), 0, 0
        name = beginning(speaker)
        while at < size and lines < most_lines and passed <= most_bytes:
            named = data.find(name, at, at + LOOK_AHEAD_BYTES)
            stop = data.rfind(b"\n", at, named if named >= 0 else at + LOOK_AHEAD_BYTES) + 1  # so far nobody is named so
            if stop > at and passed + stop - at < most_bytes:
                count = data.count(b"\n", at, stop)
                if lines + count > most_lines:
                    count = most_lines - lines
                    stop = _behind(data, at, count)
                passed, lines, at = passed + stop - at, lines + count, stop
                continue
            end = data.find(b"\n", at)
            if end < 0:
                end = size
            if 0 <= named <= end:
                who = voice(data[at:end] if end - at < HEAD_BYTES else data[at : at + HEAD_BYTES])
                if is_same(who, speaker) if who else not speaker:
                    break
            passed += (end - at if end - at < MAX_TEXT else MAX_TEXT) + 1
            at, lines = end + 1, lines + 1
        return at, lines, passed


def _behind(data: bytes, at: int, lines: int) -> int:
    """Where the line begins that follows so many, the first of which begins at offset `at`."""
    for _ in range(lines):
        at = data.find(b"\n", at) + 1
    return at


class _Index:
    """Where each speaker's lines are."""

    def __init__(self, data: bytes) -> None:
        ends = [-1]  # of the lines; each begins behind the end of the one before
        while (end := data.find(b"\n", ends[-1] + 1)) >= 0:
            ends.append(end)
        if ends[-1] < len(data) - 1:
            ends.append(len(data))
        self._starts = [end + 1 for end in ends]
        pairs = list(zip(self._starts, ends[1:], strict=False))
        self._bytes = [0, *accumulate(min(end - start, MAX_TEXT) + 1 for start, end in pairs)]
        self._lines: dict[bytes, list[int]] = {}
        for number, (start, end) in enumerate(pairs):
            self._lines.setdefault(voice(data[start : min(end, start + HEAD_BYTES)]), []).append(number)
        self._speakers = sorted(self._lines)
        self._lengths = sorted({len(who) for who in self._lines} - {0})

    def pass_by(self, at: int, speaker: bytes, most_lines: int, most_bytes: int) -> tuple[int, int, int]:
        """Yield what `Voices.pass_by` does."""
        first = bisect_left(self._starts, at)
        begun = self._bytes[first] if first < len(self._bytes) else 0
        stop = min(len(self._starts) - 1, first + most_lines, bisect_right(self._bytes, begun + most_bytes))
        for who in self._of(speaker):
            lines = self._lines[who]
            place = bisect_left(lines, first)
            stop = min(stop, lines[place]) if place < len(lines) else stop
        stop = max(stop, first)
        return self._starts[stop], stop - first, self._bytes[stop] - begun

    def _of(self, speaker: bytes) -> list[bytes]:
        """The names that are the same as `speaker`, or go on behind it, or it behind them."""
        if not speaker:
            return [b""] if b"" in self._lines else []
        longer = self._speakers[bisect_left(self._speakers, speaker) : bisect_left(self._speakers, speaker + b"\xff" * 4)]
        shorter = [speaker[:n] for n in self._lengths if n < len(speaker) and speaker[:n] in self._lines]
        return [*shorter, *longer]
