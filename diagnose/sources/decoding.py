"""Streams over streams: a part of a file, and UTF-16 as UTF-8.

In: a binary stream. Out: a `RawIOBase` of what its readers expect.
"""

from __future__ import annotations

import codecs
import io
from typing import Any

from .kinds import Encoding
from .streams import Stream


class Bounded(io.RawIOBase):
    """The next so many bytes of a file."""

    def __init__(self, raw: io.FileIO, left: int) -> None:
        self._raw = raw
        self._left = left

    def readable(self) -> bool:
        """Says yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer`; 0 is the end."""
        target = memoryview(buffer).cast("B")[: max(self._left, 0)]
        count = self._raw.readinto(target) or 0 if target else 0
        self._left -= count
        return count


class Decoding(io.RawIOBase):
    """UTF-16 as UTF-8; line ends are two bytes there, so this must come before anything looks for them."""

    def __init__(self, raw: Stream, encoding: Encoding) -> None:
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""
        self._has_begun = False
        self._at_end = False

    def readable(self) -> bool:
        """Says yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer` with UTF-8; 0 is the end."""
        target = memoryview(buffer).cast("B")
        while not self._ready and not self._at_end:
            part = self._raw.read(64 << 10) or b""
            self._at_end = not part
            text = self._decoder.decode(part, final=self._at_end)
            if text and not self._has_begun:
                text, self._has_begun = text.removeprefix("\ufeff"), True
            self._ready = text.encode("utf-8", "replace")
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count
