"""Says who speaks, of the lines that nobody reads: the raw bytes that name the speaker, without a parsed prefix.

A line's bytes come in, spans of them go out; where they stand is remembered by the line's shape.
"""

from __future__ import annotations

from ..lines.marks import SPEAKER
from ..lines.shapes import DIGITS

__all__ = ["fast_speaker", "speaker_spans"]

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


def speaker_spans(line: bytes) -> list[tuple[int, int]]:
    """Where `fast_speaker` stands in a line; the same for every line that differs from it in its digits only."""
    match = SPEAKER.match(line)
    return [span for span in match.regs[1:] if span[0] < span[1]] if match else []
