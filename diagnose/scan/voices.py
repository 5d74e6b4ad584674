"""Who speaks on the lines of a buffer, for what passes by the lines of others, as woven tracebacks of many ranks do."""

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


def voice(line: bytes) -> bytes:
    """Yield who speaks on a line: of torch's own prefix the rank alone, else as `fast_speaker` reads it."""
    if line.startswith(RANK_MARK) and (end := line.find(b"]", 0, HEAD_BYTES)) > 0:
        return line[: end + 1]
    return fast_speaker(line if len(line) <= HEAD_BYTES else line[:HEAD_BYTES])


def is_same(who: bytes, speaker: bytes) -> bool:
    """Tell whether both are one: a launcher's prefix alone, or with the rank's own behind it, is the same process."""
    return who.startswith(speaker) or speaker.startswith(who) if who and speaker else not who and not speaker


class Voices:
    """The lines of one buffer, and which of them each speaker says."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts: list[int] = []  # of the lines, and of what would follow; none before somebody is passed by

    def _read(self) -> None:
        data, ends = self.data, [-1]  # of the lines; each begins behind the end of the one before
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
        """Pass by what others say from the line at offset `at` on; yield where it ends, its lines, and its (cut) bytes."""
        if not self._starts:
            self._read()
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
