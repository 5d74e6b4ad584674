"""Streams over streams, in bounded memory: compressed bytes as plain ones, a part of a file, UTF-16 as UTF-8.

In: a binary stream. Out: a `RawIOBase` of the bytes; what cannot be decoded (cut short, damaged, a bomb) ends the stream
early and leaves one sentence in `damage` instead of raising.
"""

from __future__ import annotations

import codecs
import io
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, BinaryIO, Protocol, cast

from ..errors import UsageError
from .bounds import LZMA_MEMORY_BYTES, OUT_OF_TIME, Deadline, Share, cut, is_bomb, read_up_to
from .kinds import Compression, Encoding, compression_of

PIECE_BYTES = 64 << 10
PACKED_BYTES = 8 << 10  # read at once; what is behind a member's end is handed back and copied, a million times if need be
ZSTD_PACKED_BYTES = 1 << 10  # zstandard has no output limit; 1 KiB in is at most 32 MiB out
MAGIC_BYTES = 16  # that tell a compression
GZIP = 31  # zlib's word for a gzip member with its header and checksum


class Stream(Protocol):
    """What the readers need of a binary stream; files, sockets' files and `RawIOBase` all have it."""

    def read(self, size: int = -1, /) -> bytes | None: ...
    def close(self) -> None: ...


class Readable(io.RawIOBase):
    """Pieces of bytes as a stream that is only read; `below` is closed with it."""

    def __init__(self, pieces: Iterator[bytes], below: Stream | None = None) -> None:
        self._pieces = pieces
        self._below = below
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Says yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer`; 0 is the end."""
        target = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(target):
            if not self._ready:
                piece = next(self._pieces, None)
                if piece is None:
                    break
                self._ready = memoryview(piece)
            count = min(len(target) - filled, len(self._ready))
            target[filled : filled + count] = self._ready[:count]
            self._ready = self._ready[count:]
            filled += count
        return filled

    def close(self) -> None:
        """Closes what is below as well."""
        if not self.closed and self._below is not None:
            self._below.close()
        super().close()


class Joined(Readable):
    """Some bytes read ahead, then the rest of the stream they were read from, of which a pipe gives what it holds now."""

    def __init__(self, rest: Stream, head: bytes = b"", *, is_owned: bool = True) -> None:
        super().__init__(iter(()), rest if is_owned else None)  # the caller's own file (stdin) is left open
        self._rest = rest
        self._ready = memoryview(head)

    def peek(self, size: int) -> bytes:
        """Gives up to `size` bytes, which stay to be read."""
        head = bytes(self._ready) + read_up_to(size - len(self._ready), self._rest.read)
        self._ready = memoryview(head)
        return head[:size]

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer` from what was read ahead, then from the stream."""
        if count := super().readinto(buffer):
            return count
        target = memoryview(buffer).cast("B")
        data = self._rest.read(len(target)) or b""
        target[: len(data)] = data
        return len(data)


def pieces_of(file: Stream, left: int, size: int = PIECE_BYTES) -> Iterator[bytes]:
    """Yields the next `left` bytes, `size` at once."""
    while left > 0 and (piece := file.read(min(left, size))):
        yield piece
        left -= len(piece)


def as_utf8(raw: Stream, encoding: Encoding) -> Readable:
    """Gives UTF-16 as UTF-8; line ends are two bytes there, so this must come before anything looks for them."""
    pieces = iter(lambda: raw.read(PIECE_BYTES) or b"", b"")
    texts = codecs.iterdecode(pieces, encoding, "replace")
    return Readable(text.removeprefix("\ufeff").encode("utf-8", "replace") for text in texts)


# --- compressed streams -------------------------------------------------------------------------------------------


def inflated(
    raw: Stream, compression: Compression, damage: list[str], deadline: Deadline | Share | None = None
) -> Readable:
    """Gives the decoded bytes of a stream, also of members one after the other; damage and the deadline end it."""
    return Readable(_inflated(raw, compression, damage, deadline or Deadline()), raw)


def _inflated(raw: Stream, compression: Compression, damage: list[str], deadline: Deadline | Share) -> Iterator[bytes]:
    packed, bytes_in, bytes_out = b"", 0, 0  # what was read and is not decoded yet
    try:
        while True:
            decoder = _decoder(compression)
            step = ZSTD_PACKED_BYTES if isinstance(decoder, _Zstandard) else PACKED_BYTES
            while not decoder.eof:
                if deadline.passed():
                    damage.append(OUT_OF_TIME)
                    return
                is_asked = decoder.needs_input
                part, packed = (packed or raw.read(step) or b"" if is_asked else b""), b""
                out = decoder.decompress(part, PIECE_BYTES)
                if is_asked and not part and not out and not decoder.eof:  # a full buffer may have held back the last bytes
                    damage.append(f"cut short: the {compression} stream has no end")
                    return
                yield out
                bytes_in, bytes_out = bytes_in + len(part), bytes_out + len(out)
                if is_bomb(bytes_out, bytes_in):
                    damage.append(cut(bytes_out))
                    return
            bytes_in -= len(decoder.unused_data)
            packed = decoder.unused_data.lstrip(b"\0")  # `cat a.gz b.gz` is one stream; tapes pad the end with zeros
            while len(packed) < MAGIC_BYTES and (more := raw.read(step)):
                packed = (packed + more).lstrip(b"\0")
            if not packed:
                return
            if compression_of(packed[:MAGIC_BYTES]) != compression:
                damage.append(f"what follows the {compression} stream is not {compression} and was not read")
                return
    except Exception as error:  # of decoders and stores: OSError, ValueError, LZMAError, ZstdError have no common ancestor
        saved = error.salvaged if isinstance(error, _DamagedError) else b""
        damage.append(f"damaged after {bytes_out + len(saved):,} decoded bytes ({error})")
        yield bytes(saved)


def missing_extra(compression: Compression) -> str | None:
    """Says which extra to install when this Python cannot decode `compression`."""
    if compression != "zstd" or any(map(_is_installed, ("zstandard", "compression.zstd"))):
        return None
    return "compressed with zstd, which needs `pip install 'diagnose-training[zstd]'`"


@cache
def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _decoder(compression: Compression) -> Any:
    """Gives a decoder of one member with the interface that those of bz2, lzma and the library's own zstd have."""
    if compression == "gzip":
        return _Gzip()
    if compression == "bzip2":
        return import_module("bz2").BZ2Decompressor()
    if compression == "xz":
        return import_module("lzma").LZMADecompressor(memlimit=LZMA_MEMORY_BYTES)
    if _is_installed("compression.zstd"):
        return import_module("compression.zstd").ZstdDecompressor()
    return _Zstandard()


class _Gzip:
    """By zlib, which drops what it decoded where the checksum is wrong: that is decoded again up to the damage."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(GZIP)

    def __getattr__(self, name: str) -> Any:  # `eof`, `unused_data`
        return getattr(self._zlib, name)

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    def decompress(self, data: bytes, limit: int) -> bytes:
        data = self._zlib.unconsumed_tail + data
        saved = self._zlib.copy()
        try:
            return self._zlib.decompress(data, limit)
        except zlib.error as error:
            raise _DamagedError(saved, data, error) from error


class _DamagedError(Exception):
    """`salvaged`: what comes byte by byte up to the damage, since the last lines before it may be the ones that matter."""

    def __init__(self, decoder: Any, data: bytes, error: zlib.error) -> None:
        super().__init__("wrong checksum" if " data check" in str(error) else str(error))
        self.salvaged = bytearray()
        with suppress(zlib.error):
            for index in range(len(data)):
                self.salvaged += decoder.decompress(data[index : index + 1])


class _Zstandard:
    """By the `zstandard` package, whose decoder takes no output limit, so it is fed little at a time."""

    needs_input = True

    def __init__(self) -> None:
        self._decoder = import_module("zstandard").ZstdDecompressor().decompressobj()

    def __getattr__(self, name: str) -> Any:  # `eof`, `unused_data`
        return getattr(self._decoder, name)

    def decompress(self, data: bytes, _limit: int) -> bytes:
        return cast(bytes, self._decoder.decompress(data)) if data else b""


# --- what a caller opened -----------------------------------------------------------------------------------------


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
