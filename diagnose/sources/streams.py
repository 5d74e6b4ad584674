"""Streams over streams, in bounded memory: compressed bytes as plain ones, a part of a file, UTF-16 as UTF-8.

In: a binary stream. Out: a `RawIOBase` of the bytes; what cannot be decoded (cut short, damaged, a bomb) ends the stream
early and leaves one sentence in `damage` instead of raising.
"""

from __future__ import annotations

import codecs
import io
from typing import Any, BinaryIO, Protocol, cast

from ..errors import UsageError
from .bounds import Deadline, Share, cut, is_bomb
from .decoders import DamagedError, Native, Zstandard, decoder_for
from .kinds import Compression, Encoding, compression_of
from .refusals import OUT_OF_TIME

INPUT_BYTES = 64 << 10
ZSTD_INPUT_BYTES = 1 << 10  # zstandard has no output limit; 1 KiB in is at most 32 MiB out
FIRST_STEP_BYTES = 256
MAGIC_BYTES = 16  # that tell a compression


class Stream(Protocol):
    """What the readers need of a binary stream; files, sockets' files and `RawIOBase` all have it."""

    def read(self, size: int = -1, /) -> bytes | None: ...
    def close(self) -> None: ...


class Readable(io.RawIOBase):
    """A stream that is only read."""

    def readable(self) -> bool:
        """Says yes."""
        return True


class Inflated(Readable):
    """The decoded bytes of a compressed stream; concatenated members are read through, damage and the deadline end it."""

    def __init__(
        self, raw: Stream, compression: Compression, damage: list[str], deadline: Deadline | Share | None = None
    ) -> None:
        self._raw = raw
        self._compression = compression
        self._damage = damage
        self._deadline = deadline or Deadline()
        self._decoder: Native | None = decoder_for(compression)
        self._max_step = ZSTD_INPUT_BYTES if isinstance(self._decoder, Zstandard) else INPUT_BYTES
        self._step = FIRST_STEP_BYTES
        self._packed, self._at = b"", 0  # what was read, and up to where it was decoded
        self._ready = memoryview(b"")
        self._bytes_in = 0
        self._bytes_out = 0
        self._has_begun = False  # this member has given bytes to its decoder

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer` with decoded bytes; 0 is the end."""
        target = memoryview(buffer).cast("B")
        if not self._ready:
            self._ready = memoryview(self._gather(max(len(target), INPUT_BYTES)))
        count = min(len(target), len(self._ready))
        target[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def close(self) -> None:
        """Closes the compressed stream as well."""
        if not self.closed:
            self._raw.close()
        super().close()

    def _gather(self, limit: int) -> bytes:
        """Decodes until it is worth a reader's while: of a million members each may hold one line."""
        parts: list[bytes] = []
        size = 0
        while size < INPUT_BYTES and self._decoder is not None:
            parts.append(self._fill(limit))
            size += len(parts[-1])
        return b"".join(parts)

    def _fill(self, limit: int) -> bytes:
        decoder = self._decoder
        assert decoder is not None
        if self._deadline.passed():
            return self._end(OUT_OF_TIME)
        part = self._next_step() if decoder.needs_input else b""
        at_end = decoder.needs_input and not part
        try:
            out = decoder.feed(part, limit)
        except DamagedError as error:
            self._bytes_out += len(error.salvaged)
            self._end(f"damaged after {self._bytes_out:,} decoded bytes ({error})")
            return error.salvaged
        self._has_begun = self._has_begun or not at_end
        self._bytes_out += len(out)
        if at_end and not out and not decoder.eof:  # a full output buffer may have held back the last bytes
            return self._end(f"cut short: the {self._compression} stream has no end" if self._has_begun else None)
        if is_bomb(self._bytes_out, self._bytes_in):
            self._end(cut(self._bytes_out))
        elif decoder.eof:
            self._next_member(len(decoder.unused))
        return out

    def _next_step(self) -> bytes:
        """Gives the next packed bytes: few of a member's first, since what is behind its end is handed back and copied."""
        if self._at == len(self._packed):
            self._read_on(0)
        part = self._packed[self._at : self._at + self._step]
        self._at += len(part)
        self._step = min(2 * self._step, self._max_step)
        return part

    def _read_on(self, kept: int) -> bool:
        """Reads more behind the last `kept` bytes; false where there are none."""
        more = self._raw.read(INPUT_BYTES) or b""
        self._packed, self._at = self._packed[len(self._packed) - kept :] + more, 0
        self._bytes_in += len(more)
        return bool(more)

    def _next_member(self, unused: int) -> None:
        """Goes on with the next member: `cat a.gz b.gz` is one stream; tapes pad the end with zeros."""
        self._at -= unused
        while True:
            if self._packed[self._at : self._at + 1] == b"\0":
                self._packed, self._at = self._packed[self._at :].lstrip(b"\0"), 0
            left = len(self._packed) - self._at
            if left >= MAGIC_BYTES or not self._read_on(left):
                break
        rest = self._packed[self._at : self._at + MAGIC_BYTES]
        if not rest:
            self._end(None)
        elif compression_of(rest) != self._compression:
            self._end(f"what follows the {self._compression} stream is not {self._compression} and was not read")
        else:
            self._decoder, self._has_begun, self._step = decoder_for(self._compression), False, FIRST_STEP_BYTES

    def _end(self, reason: str | None) -> bytes:
        self._decoder = None
        if reason is not None:
            self._damage.append(reason)
        return b""


class Joined(Readable):
    """Some bytes read ahead, then the rest of the stream they were read from."""

    def __init__(self, head: bytes, rest: Stream, *, is_owned: bool = True) -> None:
        self._head = memoryview(head)
        self._is_owned = is_owned  # the caller's own file (stdin) is left open
        # Members of a million-member gzip file must not pile up wrappers.
        self._rest: Stream = rest
        if isinstance(rest, Joined) and rest._is_owned and not rest._head:
            self._rest = rest._rest
            rest._is_owned = not is_owned  # else it would close the stream when nobody holds the wrapper any more

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


class Bounded(Readable):
    """The next so many bytes of a file."""

    def __init__(self, raw: io.FileIO, left: int) -> None:
        self._raw = raw
        self._left = left

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer`; 0 is the end."""
        target = memoryview(buffer).cast("B")[: max(self._left, 0)]
        count = self._raw.readinto(target) or 0 if target else 0
        self._left -= count
        return count


class Decoding(Readable):
    """UTF-16 as UTF-8; line ends are two bytes there, so this must come before anything looks for them."""

    def __init__(self, raw: Stream, encoding: Encoding) -> None:
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._ready = b""
        self._has_begun = False
        self._at_end = False

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
