"""What is kept of a source in little memory, while thousands of others are read.

Sources of one job are much alike, so each is packed as what it has beyond the first ones. As text: `marshal` is a third
of the time, but its binary lengths and references are deflated to an eighth more.
"""

from __future__ import annotations

import json
import sys
import zlib
from typing import Any

from ..lines.record import record

LEVEL = 7  # a tenth less than level 3; the higher ones take longer and save next to nothing
LIKE_BYTES = 16 << 10  # of the first sources: more of them saves a tenth, and takes longer to look through
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_RAW = -zlib.MAX_WBITS  # no header and no checksum: nobody else reads it


@record
class Packed:
    """Plain values as bytes, a tenth of their size as objects."""

    data: bytes
    like: bytes  # of the first sources, which many share


class Packer:
    """Packs what is kept of the sources of one reading."""

    def __init__(self) -> None:
        self._like = b""

    def pack(self, *parts: Any) -> Packed:
        """Yield plain values as bytes, in parts that are unpacked apart."""
        plain, like = b"\n".join([_ENCODER.encode(part).encode() for part in parts]), self._like
        if len(like) < LIKE_BYTES:
            self._like = (like + plain)[:LIKE_BYTES]
        deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW, zdict=like)
        return Packed(deflate.compress(plain) + deflate.flush(), like)


def give_back_memory() -> None:
    """Give what was freed back to the system: glibc keeps it (50 MB, once an automaton was built), Python cannot use it."""
    import ctypes  # most readings need no such help

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def unpack(packed: Packed, part: int = 0) -> Any:
    """Yield a part of what was packed."""
    return json.loads(zlib.decompressobj(_RAW, zdict=packed.like).decompress(packed.data).split(b"\n", part + 1)[part])
