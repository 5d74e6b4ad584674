"""Compressed bytes as a plain readable stream, in bounded memory, that says what was wrong instead of raising.

In: a binary stream and the name of its compression. Out: a `RawIOBase` of the decoded bytes; what cannot be decoded
(cut short, damaged, a bomb) ends the stream early and leaves one sentence in `damage`.
"""

from __future__ import annotations

import io
import zlib
from importlib.util import find_spec
from typing import Any, Protocol, cast

from .kinds import Compression, compression_of

MAX_RATIO = 200  # repetitive logs reach 100:1; a stream beyond this and beyond BOMB_BYTES is cut
BOMB_BYTES = 256 << 20  # so much may come out before the ratio counts
INPUT_BYTES = 64 << 10
ZSTD_INPUT_BYTES = 1 << 10  # zstandard has no output limit; 1 KiB in is at most 32 MiB out
LZMA_MEMORY_BYTES = 256 << 20  # `xz -9` needs 65 MiB; more is an attack or a mistake


class Stream(Protocol):
    """What the readers need of a binary stream; files, sockets' files and `RawIOBase` all have it."""

    def read(self, size: int = -1, /) -> bytes | None: ...
    def close(self) -> None: ...


class _Deflate:
    """gzip by isal where installed, else zlib; after an error the bytes before it are still given."""

    def __init__(self) -> None:
        self._module: Any = _fast_zlib()
        self._decoder: Any = self._module.decompressobj(31)
        self._tail = b""

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof)

    @property
    def needs_input(self) -> bool:
        return not self._tail

    @property
    def unused(self) -> bytes:
        return cast(bytes, self._decoder.unused_data)

    def feed(self, data: bytes, limit: int) -> bytes:
        data = self._tail + data if self._tail else data
        saved = self._decoder.copy() if hasattr(self._decoder, "copy") else None
        try:
            out = self._decoder.decompress(data, limit)
        except (zlib.error, ValueError, self._module.error) as error:
            raise _Damaged(_salvage(saved, data, self._module.error), str(error)) from error
        self._tail = self._decoder.unconsumed_tail
        return cast(bytes, out)


class _Native:
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
            raise _Damaged(b"", str(error)) from error

    def _decompress(self, data: bytes, limit: int) -> bytes:
        return cast(bytes, self._decoder.decompress(data, limit))


class _Zstandard(_Native):
    """The `zstandard` package; its decoder takes no output limit, so it is fed little at a time."""

    @property
    def needs_input(self) -> bool:
        return True

    def _decompress(self, data: bytes, limit: int) -> bytes:
        del limit
        return cast(bytes, self._decoder.decompress(data)) if data else b""


class _Damaged(Exception):
    def __init__(self, salvaged: bytes, reason: str) -> None:
        super().__init__(reason)
        self.salvaged = salvaged


def missing_extra(compression: Compression) -> str | None:
    """Says which extra to install when this Python cannot decode `compression`."""
    if compression != "zstd" or any(map(_is_installed, ("zstandard", "compression.zstd"))):
        return None
    return "compressed with zstd, which needs `pip install 'diagnose-training[zstd]'`"


class Inflated(io.RawIOBase):
    """The decoded bytes of a compressed stream; concatenated members are read through, damage ends it."""

    def __init__(self, raw: Stream, compression: Compression, damage: list[str]) -> None:
        self._raw = raw
        self._compression = compression
        self._damage = damage
        self._decoder: _Deflate | _Native | _Zstandard | None = _decoder_for(compression)
        self._chunk = ZSTD_INPUT_BYTES if isinstance(self._decoder, _Zstandard) else INPUT_BYTES
        self._input = b""
        self._ready = memoryview(b"")
        self._bytes_in = 0
        self._bytes_out = 0
        self._has_begun = False  # this member has given bytes to its decoder

    def readable(self) -> bool:
        """Says yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer` with decoded bytes; 0 is the end."""
        target = memoryview(buffer).cast("B")
        while not self._ready and self._decoder is not None:
            self._ready = memoryview(self._fill(max(len(target), INPUT_BYTES)))
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        """Closes the compressed stream as well."""
        if not self.closed:
            self._raw.close()
        super().close()

    def _fill(self, limit: int) -> bytes:
        decoder = self._decoder
        assert decoder is not None
        if decoder.needs_input and not self._input:
            self._input = self._raw.read(self._chunk) or b""
            self._bytes_in += len(self._input)
        at_end = decoder.needs_input and not self._input
        try:
            out = decoder.feed(self._input, limit)
        except _Damaged as error:
            self._bytes_out += len(error.salvaged)
            self._end(f"damaged after {self._bytes_out:,} decoded bytes ({error})")
            return error.salvaged
        self._input, self._has_begun = b"", self._has_begun or not at_end
        self._bytes_out += len(out)
        if at_end and not out and not decoder.eof:  # a full output buffer may have held back the last bytes
            return self._end(f"cut short: the {self._compression} stream has no end" if self._has_begun else None)
        if self._bytes_out > BOMB_BYTES and self._bytes_out > MAX_RATIO * self._bytes_in:
            self._end(f"cut after {self._bytes_out >> 20} MiB: it expands more than {MAX_RATIO} times")
        elif decoder.eof:
            self._next_member(decoder.unused)
        return out

    def _next_member(self, rest: bytes) -> None:
        """Goes on with the next member: `cat a.gz b.gz` is one stream; tapes pad the end with zeros."""
        rest = rest.lstrip(b"\x00")
        while len(rest) < 16:
            more = self._raw.read(self._chunk)
            if not more:
                break
            self._bytes_in += len(more)
            rest = rest + more if rest else more.lstrip(b"\x00")
        if not rest:
            self._end(None)
        elif compression_of(rest) != self._compression:
            self._end(f"what follows the {self._compression} stream is not {self._compression} and was not read")
        else:
            self._decoder, self._has_begun = _decoder_for(self._compression), False
            # The zstd decoder must not be given all of a large remainder at once.
            self._raw = Joined(rest, self._raw)

    def _end(self, reason: str | None) -> bytes:
        self._decoder = None
        if reason is not None:
            self._damage.append(reason)
        return b""


class Joined(io.RawIOBase):
    """Some bytes read ahead, then the rest of the stream they were read from."""

    def __init__(self, head: bytes, rest: Stream, *, is_owned: bool = True) -> None:
        self._head = memoryview(head)
        self._is_owned = is_owned  # the caller's own file (stdin) is left open
        # Members of a million-member gzip file must not pile up wrappers.
        self._rest: Stream = rest
        if isinstance(rest, Joined) and rest._is_owned and not rest._head:
            self._rest = rest._rest
            rest._is_owned = not is_owned  # else it would close the stream when nobody holds the wrapper any more

    def readable(self) -> bool:
        """Says yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer` from what was read ahead, then from the stream."""
        target = memoryview(buffer).cast("B")
        if self._head:
            count = min(len(target), len(self._head))
            target[:count] = self._head[:count]
            self._head = self._head[count:]
            return count
        if hasattr(self._rest, "readinto"):
            return cast(int, self._rest.readinto(target)) or 0
        data = self._rest.read(len(target)) or b""
        target[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Closes the stream as well."""
        if not self.closed and self._is_owned:
            self._rest.close()
        super().close()


def peek(stream: Stream, size: int) -> tuple[bytes, Joined]:
    """Reads up to `size` bytes and gives them with a stream that still begins with them."""
    parts: list[bytes] = []
    missing = size
    while missing > 0 and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    head = b"".join(parts)
    return head, Joined(head, stream)


def _salvage(decoder: Any, data: bytes, module_error: type[Exception]) -> bytes:
    """Decodes byte by byte up to the damage: the last lines before it may be the ones that matter."""
    out: list[bytes] = []
    try:
        for index in range(len(data) if decoder is not None else 0):
            out.append(decoder.decompress(data[index : index + 1]))
    except (zlib.error, ValueError, module_error):
        pass
    return b"".join(out)


def _fast_zlib() -> Any:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib


def _decoder_for(compression: Compression) -> _Deflate | _Native | _Zstandard:
    if compression == "gzip":
        return _Deflate()
    if compression == "bzip2":
        import bz2

        return _Native(bz2.BZ2Decompressor())
    if compression == "xz":
        import lzma

        return _Native(lzma.LZMADecompressor(memlimit=LZMA_MEMORY_BYTES))
    if _is_installed("compression.zstd"):
        from importlib import import_module

        return _Native(import_module("compression.zstd").ZstdDecompressor())
    import zstandard

    return _Zstandard(zstandard.ZstdDecompressor().decompressobj())


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
