"""The members of a tar or zip archive, or of a text that shows several files, one after the other, in bounded memory;
nothing is ever written to disk.

In: the archive as a stream. Out: `Member`s in archive order. A member's bytes must be read before the next member is
asked for. Names are only names: `../../etc/passwd` is a label here, never a path.
"""

from __future__ import annotations

import io
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from ..lines.record import record
from .kinds import Container
from .sections import read_sections
from .streams import BOMB_BYTES, MAX_RATIO, Stream

MAX_MEMBERS = 100_000  # a job of 10,000 ranks leaves fewer files; more is a mistake or an attack
SPOOL_BYTES = 16 << 20  # a zip inside another stream is kept in memory up to here, then in a temporary file
MAX_SPOOLED_BYTES = 2 << 30  # a zip needs its end first; a longer one inside another archive is not opened

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_ENCRYPTED, _STREAMED = 0x1, 0x8  # bits of the zip flags


@record
class Member:
    """One file in an archive; without a `stream` it is only named, and `skipped` says why it cannot be read."""

    name: str
    size: int | None
    stream: Stream | None
    skipped: str | None = None


class Guarded(io.RawIOBase):
    """A member's bytes; damage ends the stream and is noted instead of being raised."""

    def __init__(self, raw: IO[bytes], packed_bytes: int | None, damage: list[str]) -> None:
        self._raw = raw
        self._packed_bytes = packed_bytes
        self._damage = damage
        self._bytes_out = 0
        self._at_end = False

    def readable(self) -> bool:
        """Says yes."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills `buffer`; 0 is the end, be it the real one, damage, or a bomb that was cut."""
        if self._at_end:
            return 0
        target = memoryview(buffer).cast("B")
        try:
            data = self._raw.read(len(target))
        except (tarfile.TarError, zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as error:
            return self._end(f"damaged after {self._bytes_out:,} bytes ({error})")
        if not data:
            return self._end(None)
        target[: len(data)] = data
        self._bytes_out += len(data)
        packed = self._packed_bytes
        if packed is not None and self._bytes_out > BOMB_BYTES and self._bytes_out > MAX_RATIO * packed:
            self._end(f"cut after {self._bytes_out >> 20} MiB: it expands more than {MAX_RATIO} times")
        return len(data)

    def close(self) -> None:
        """Closes the member, not the archive."""
        if not self.closed:
            self._raw.close()
        super().close()

    def _end(self, reason: str | None) -> int:
        self._at_end = True
        if reason is not None:
            self._damage.append(reason)
        return 0


def read_members(stream: Stream, container: Container, damage: list[str]) -> Iterator[tuple[Member, list[str]]]:
    """Yields each member with the list its own damage goes to; `damage` takes what concerns the archive."""
    if container == "sections":
        yield from ((Member(name, None, body), []) for name, body in read_sections(stream))
        return
    members = _tar_members(stream, damage) if container == "tar" else _zip_members(stream, damage)
    for count, with_damage in enumerate(members):
        if count >= MAX_MEMBERS:
            damage.append(f"only its first {MAX_MEMBERS:,} members were read")
            return
        yield with_damage


def _tar_members(stream: Stream, damage: list[str]) -> Iterator[tuple[Member, list[str]]]:
    last = "its beginning"
    try:
        with tarfile.open(fileobj=cast(IO[bytes], stream), mode="r|", errorlevel=0) as archive:
            while (info := archive.next()) is not None:
                cast(Any, archive).members.clear()  # tarfile keeps every header otherwise
                last = info.name
                if info.isreg():
                    own: list[str] = []
                    handle = archive.extractfile(info)
                    if handle is not None:
                        yield Member(info.name, info.size, Guarded(handle, None, own)), own
                elif info.islnk() or info.issym():
                    yield Member(info.name, None, None, f"a link to {info.linkname} in the same archive"), []
                elif not info.isdir():
                    yield Member(info.name, None, None, "a device or named pipe"), []
    except (tarfile.TarError, zlib.error, OSError, EOFError, ValueError, OverflowError) as error:
        damage.append(f"the archive is damaged or cut short after {last} ({error})")


class _Spool(tempfile.SpooledTemporaryFile[bytes]):
    """Says that it can seek, which `zipfile` asks of every file and which Python 3.10's spool does not answer."""

    def seekable(self) -> bool:
        return True


def _zip_members(stream: Stream, damage: list[str]) -> Iterator[tuple[Member, list[str]]]:
    with _Spool(SPOOL_BYTES) as spool:
        seekable = _seekable(stream, cast(IO[bytes], spool))
        if seekable is None:
            damage.append(f"a zip archive of more than {MAX_SPOOLED_BYTES >> 30} GiB inside another one")
            return
        try:
            archive = zipfile.ZipFile(seekable)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            damage.append("the zip archive is damaged or cut short; the members before that were read")
            yield from _loose_zip_members(seekable)
            return
        with archive:
            for info in archive.infolist():
                if not info.is_dir():
                    own: list[str] = []
                    yield _zip_member(archive, info, own), own


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, damage: list[str]) -> Member:
    if info.flag_bits & _ENCRYPTED:
        return Member(info.filename, info.file_size, None, "encrypted in its zip archive")
    try:
        handle = archive.open(info)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        return Member(info.filename, info.file_size, None, f"damaged in its zip archive ({error})")
    return Member(info.filename, info.file_size, Guarded(handle, info.compress_size, damage))


def _seekable(stream: Stream, spool: IO[bytes]) -> IO[bytes] | None:
    """Gives the stream itself where it is a file on disk, else a copy of it; None when that would be too long."""
    if isinstance(stream, io.FileIO):
        return cast(IO[bytes], stream)
    copied = 0
    while part := stream.read(1 << 20):
        copied += len(part)
        if copied > MAX_SPOOLED_BYTES:
            return None
        spool.write(part)
    spool.seek(0)
    return spool


def _loose_zip_members(handle: IO[bytes]) -> Iterator[tuple[Member, list[str]]]:
    """Walks the local headers of a zip whose directory (at its end) is lost."""
    position = 0
    while True:
        handle.seek(position)
        header = handle.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            return
        _, _, flags, method, _, _, _, packed, size, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        name = handle.read(name_length).decode("utf-8", "replace")
        start = position + _LOCAL_HEADER.size + name_length + extra_length
        own: list[str] = []
        if flags & (_ENCRYPTED | _STREAMED) or method not in (0, 8):
            yield Member(name, None, None, "its zip archive is cut short, and it cannot be read without the end"), own
            return
        if not name.endswith("/"):
            body = _LooseMember(handle, start, packed, method == 8)
            yield Member(name, size, Guarded(cast(IO[bytes], body), packed, own)), own
        position = start + packed


class _LooseMember(io.RawIOBase):
    """The bytes of one member of a zip without a directory: stored or deflated."""

    def __init__(self, handle: IO[bytes], start: int, packed_bytes: int, is_deflated: bool) -> None:
        self._handle = handle
        self._position = start
        self._left = packed_bytes
        self._inflater = zlib.decompressobj(-15) if is_deflated else None

    def read(self, size: int = -1, /) -> bytes:
        """Gives the next decoded bytes; raises EOFError where the file stops before the member does."""
        while self._left > 0 or (self._inflater is not None and self._inflater.unconsumed_tail):
            data = self._inflater.unconsumed_tail if self._inflater is not None else b""
            data = data or self._packed(size)
            out = self._inflater.decompress(data, max(size, 1)) if self._inflater is not None else data
            if out:
                return out
        return b""

    def _packed(self, size: int) -> bytes:
        self._handle.seek(self._position)
        data = self._handle.read(min(self._left, max(size, 1)))
        if not data:
            raise EOFError("the archive stops here")
        self._position += len(data)
        self._left -= len(data)
        return data
