"""A line parted into prefix and message, as patterns are asked of it.

Where the message begins is remembered by the line's shape, since reading a prefix takes longer than asking a pattern.
"""

from __future__ import annotations

from ..lines.prefix import read_lines
from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES

MAX_REMEMBERED = 4_000  # shapes

Piece = tuple[str, str]  # prefix, message

_starts: dict[bytes, int] = {}  # by shape, of lines in one piece: where the message begins


def pieces_of(raw: bytes) -> list[Piece]:
    """Yield the pieces of one physical line, as `read_lines` parts it."""
    text = raw.decode("utf-8", "replace")
    if len(raw) > MAX_SHAPE_BYTES:
        return read_pieces(text)
    shape = raw[:1] + raw.translate(DIGITS)  # seconds since 1970 begin with 1 or 2, other numbers need not
    start = _starts.get(shape)
    if start is not None:
        return [(text[:start], text[start:])]
    pieces = read_pieces(text)
    if len(pieces) == 1 and sum(map(len, pieces[0])) == len(text):
        if len(_starts) >= MAX_REMEMBERED:
            _starts.clear()
        _starts[shape] = len(pieces[0][0])
    return pieces


def read_pieces(text: str) -> list[Piece]:
    """Yield the pieces of a line's text, from nothing remembered."""
    return [(line.raw[: line.prefix.end], line.message) for line in read_lines(0, text)]
