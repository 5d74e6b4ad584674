"""The frames of a traceback, remembered by their lines: most ranks of a job stand in the same ones.

What is remembered is what the long way found when these lines stood below the head of a traceback for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.record import record
from .assembly import Assembly
from .traceback_lines import Frame, Header

MAX_KNOWN = 512  # runs of lines; then all are forgotten
MAX_CHARS = 8192  # of one run: dozens of frames


@record
class Path:
    """What lines with frames come to."""

    count: int  # of the lines that are taken
    frames: tuple[Frame, ...]
    base: int  # the column of the exception
    column: int  # of the last frame
    told: tuple[str, ...]  # the lines that name a frame


NO_PATH = Path(0, (), 0, 0, ())
_KNOWN: dict[tuple[int, str], Path] = {}


def known_path(indent: int, texts: Sequence[str]) -> Path:
    """Yield what the lines below a traceback's head come to, up to the first that is not simply of a frame."""
    key = indent, "\n".join(texts)
    if len(key[1]) > MAX_CHARS:
        return NO_PATH  # they are read one by one
    if key not in _KNOWN:
        if len(_KNOWN) >= MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[key] = _read(indent, texts)
    return _KNOWN[key]


def _read(indent: int, texts: Sequence[str]) -> Path:
    found = NO_PATH
    assembly, told = Assembly(0, Header("plain", indent), None, indent), list[str]()
    for number, text in enumerate(texts, 1):
        if not assembly.accept(number, text) or not assembly.is_within_frames(number):
            break
        told += [text] if 'File "' in text else []
        found = Path(number, tuple(assembly.segment.frames), *assembly.columns, tuple(told))
    return found
