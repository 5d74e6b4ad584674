"""Open files that a caller hands over."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from ..errors import UsageError
from .streams import Stream


def binary_of(file: BinaryIO) -> Stream:
    """Gives the bytes below a file opened as text, too: `sys.stdin` is easily handed over instead of its buffer."""
    if isinstance(file, io.TextIOBase):
        buffer = getattr(file, "buffer", None)
        return cast(Stream, buffer) if buffer is not None else io.BytesIO(file.read().encode("utf-8", "replace"))
    if not hasattr(file, "read"):
        raise UsageError(f"a {type(file).__name__} is not an input: give paths, files or Text, as diagnose(*inputs)")
    return file


def name_of(file: object) -> str:
    """Gives what an open file is called."""
    return name if isinstance(name := getattr(file, "name", None), str) else "<stream>"
