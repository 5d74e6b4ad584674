"""Decoders of gzip, bzip2, xz and zstd with one interface: packed bytes in, at most so many decoded bytes out.

One decodes one member of a stream; where that is damaged, what it gives is what was whole before.
"""

from __future__ import annotations

import struct
import zlib
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from .deadline import LZMA_MEMORY_BYTES
from .kinds import Compression

MAX_HEADER_BYTES = 128 << 10  # of a gzip member; a name is short
TRAILER = struct.Struct("<II")  # of a gzip member: checksum and size
RAW = -15  # zlib's word for a deflate stream without header


class Gzip:
    """One gzip member by isal where installed, else zlib. The checksum is compared here: both drop a member's last bytes,
    or all of a short one, over a wrong one."""

    def __init__(self) -> None:
        self._module: Any = _fast_zlib()
        self._inflater: Any = None  # once the header is read
        self._head = self._tail = self._trailer = b""
        self._crc = self._size = 0
        self._has_begun = False

    @property
    def eof(self) -> bool:
        return len(self._trailer) >= TRAILER.size

    @property
    def needs_input(self) -> bool:
        return not self._tail

    @property
    def unused(self) -> bytes:
        return self._trailer[TRAILER.size :]

    def feed(self, data: bytes, limit: int) -> bytes:
        if self._inflater is None:
            self._head += data
            start = _header_size(self._head)
            if start is None:
                return b""
            data, self._head = self._head[start:], b""
            self._inflater = self._module.decompressobj(RAW)
        out = b""
        if not self._inflater.eof:
            out = self._inflate(self._tail + data, limit)
            data, self._tail = self._inflater.unused_data, self._inflater.unconsumed_tail
        if self._inflater.eof:
            self._trailer += data
            if self.eof and TRAILER.unpack(self._trailer[: TRAILER.size]) != (self._crc, self._size & 0xFFFFFFFF):
                raise DamagedError(out, "wrong checksum")
        return out

    def _inflate(self, data: bytes, limit: int) -> bytes:
        saved = self._inflater.copy() if self._has_begun and hasattr(self._inflater, "copy") else None
        try:
            out = cast(bytes, self._inflater.decompress(data, limit))
        except (zlib.error, ValueError, self._module.error) as error:
            saved = saved if self._has_begun else zlib.decompressobj(RAW)
            raise DamagedError(_salvage(saved, data), str(error)) from error
        self._has_begun = True
        self._crc, self._size = self._module.crc32(out, self._crc), self._size + len(out)
        return out


class Native:
    """bz2, lzma and the standard library's zstd share one interface."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def needs_input(self) -> bool:
        return bool(self._decoder.needs_input)

    @property
    def unused(self) -> bytes:
        return cast(bytes, self._decoder.unused_data)

    def feed(self, data: bytes, limit: int) -> bytes:
        try:
            return self._decompress(data, limit)
        except Exception as error:  # OSError, ValueError, EOFError, LZMAError, ZstdError: no common ancestor
            raise DamagedError(b"", str(error)) from error

    def _decompress(self, data: bytes, limit: int) -> bytes:
        return cast(bytes, self._decoder.decompress(data, limit))


class Zstandard(Native):
    """The `zstandard` package; its decoder takes no output limit, so it is fed little at a time."""

    @property
    def needs_input(self) -> bool:
        return True

    def _decompress(self, data: bytes, limit: int) -> bytes:
        del limit
        return cast(bytes, self._decoder.decompress(data)) if data else b""


class DamagedError(Exception):
    def __init__(self, salvaged: bytes, reason: str) -> None:
        super().__init__(reason)
        self.salvaged = salvaged


def missing_extra(compression: Compression) -> str | None:
    """Says which extra to install when this Python cannot decode `compression`."""
    if compression != "zstd" or any(map(_is_installed, ("zstandard", "compression.zstd"))):
        return None
    return "compressed with zstd, which needs `pip install 'diagnose-training[zstd]'`"


def _header_size(data: bytes) -> int | None:
    """Gives the length of a gzip header (RFC 1952); None where its end is not there yet."""
    at, flags = 10, data[3:4]
    if len(data) < at:
        return None
    if flags[0] & 4:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for flag in (8, 16):  # the name, and a comment
        if flags[0] & flag:
            at = data.find(b"\0", at) + 1
            if not at:
                if len(data) > MAX_HEADER_BYTES:
                    raise DamagedError(b"", "its header has no end")
                return None
    at += flags[0] & 2  # its own checksum
    return at if at <= len(data) else None


def _salvage(decoder: Any, data: bytes) -> bytes:
    """Decodes byte by byte up to the damage: the last lines before it may be the ones that matter."""
    out: list[bytes] = []
    try:
        for index in range(len(data) if decoder is not None else 0):
            out.append(decoder.decompress(data[index : index + 1]))
    except (zlib.error, ValueError):
        pass
    return b"".join(out)


@cache
def _fast_zlib() -> Any:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def decoder_for(compression: Compression) -> Gzip | Native | Zstandard:
    if compression == "gzip":
        return Gzip()
    if compression == "bzip2":
        import bz2

        return Native(bz2.BZ2Decompressor())
    if compression == "xz":
        import lzma

        return Native(lzma.LZMADecompressor(memlimit=LZMA_MEMORY_BYTES))
    if _is_installed("compression.zstd"):
        from importlib import import_module

        return Native(import_module("compression.zstd").ZstdDecompressor())
    import zstandard

    return Zstandard(zstandard.ZstdDecompressor().decompressobj())


@cache
def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
