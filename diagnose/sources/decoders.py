"""Decoders of gzip, bzip2, xz and zstd with one interface: packed bytes in, at most so many decoded bytes out.

One decodes one member of a stream; where that is damaged, what it gives is what was whole before.
"""

from __future__ import annotations

import zlib
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from .bounds import LZMA_MEMORY_BYTES
from .kinds import Compression

GZIP = 31  # zlib's word for a gzip member with its header and checksum


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


class Gzip(Native):
    """One gzip member by isal where installed, else zlib. Both drop what they decoded where the checksum is wrong."""

    def __init__(self) -> None:
        super().__init__(_fast_zlib().decompressobj(GZIP))

    @property
    def needs_input(self) -> bool:
        return not self._decoder.unconsumed_tail

    def feed(self, data: bytes, limit: int) -> bytes:
        data = self._decoder.unconsumed_tail + data
        saved = self._decoder.copy() if hasattr(self._decoder, "copy") else zlib.decompressobj(GZIP)  # isal's has none
        try:
            return self._decompress(data, limit)
        except Exception as error:  # isal's is none of zlib's
            reason = "wrong checksum" if " data check" in str(error) else str(error)
            raise DamagedError(_salvage(saved, data), reason) from error


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


def _salvage(decoder: Any, data: bytes) -> bytes:
    """Decodes byte by byte up to the damage: the last lines before it may be the ones that matter."""
    out: list[bytes] = []
    try:
        for index in range(len(data)):
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


def decoder_for(compression: Compression) -> Native:
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
