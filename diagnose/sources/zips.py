"""The members of a zip archive, with its directory or, where that is lost, without."""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from .archives import Guarded, Member, Meter
from .bounds import MAX_DIRECTORY_BYTES, MAX_SPOOLED_BYTES, SPOOL_BYTES, cut
from .refusals import broken_off
from .streams import Readable, Stream

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_ENCRYPTED, _STREAMED = 0x1, 0x8  # bits of the zip flags


class _Spool(tempfile.SpooledTemporaryFile[bytes]):
    """Says that it can seek, which `zipfile` asks of every file and which Python 3.10's spool does not answer."""

    def seekable(self) -> bool:
        return True


def zip_members(stream: Stream, damage: list[str], meter: Meter) -> Iterator[tuple[Member, list[str]]]:
    with _Spool(SPOOL_BYTES) as spool:
        seekable = _seekable(stream, cast(IO[bytes], spool))
        if seekable is None:
            damage.append(f"a zip archive of more than {MAX_SPOOLED_BYTES >> 30} GiB inside another one")
            return
        meter.bytes_in = seekable.seek(0, io.SEEK_END)
        try:
            if _directory_bytes(seekable) > MAX_DIRECTORY_BYTES:
                raise zipfile.BadZipFile
            archive = zipfile.ZipFile(seekable)
        except Exception:
            damage.append("the zip archive is damaged, cut short or has too many members; the first of them were read")
            yield from _loose_members(seekable, meter)
            return
        with archive:
            for info in archive.infolist():
                if meter.is_over(0):
                    damage.append(f"the rest of the archive was not read: {cut(meter.bytes_out)}")
                    return
                if not info.filename.endswith("/"):  # `is_dir` breaks on an empty name
                    own: list[str] = []
                    yield _zip_member(archive, info, own, meter), own


def _directory_bytes(handle: IO[bytes]) -> int:
    """How long the directory is that a zip's end tells of, all of which `zipfile` keeps."""
    end = cast(Any, zipfile)._EndRecData(handle)
    return end[5] if end else 0


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, damage: list[str], meter: Meter) -> Member:
    if info.flag_bits & _ENCRYPTED:
        return Member(info.filename, info.file_size, None, "encrypted in its zip archive")
    try:
        handle = archive.open(info)
        cast(Any, handle)._expected_crc = None  # it would withhold the last bytes over a wrong one
    except Exception as error:
        return Member(info.filename, info.file_size, None, f"damaged in its zip archive ({broken_off(error)})")
    return Member(info.filename, info.file_size, Guarded(handle, info.compress_size, damage, meter, info.CRC))


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


def _loose_members(handle: IO[bytes], meter: Meter) -> Iterator[tuple[Member, list[str]]]:
    """Walks the local headers of a zip whose directory (at its end) is lost."""
    position = 0
    while True:
        handle.seek(position)
        header = handle.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            return
        _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        name = handle.read(name_length).decode("utf-8", "replace")
        start = position + _LOCAL_HEADER.size + name_length + extra_length
        own: list[str] = []
        if flags & (_ENCRYPTED | _STREAMED) or method not in (0, 8):
            yield Member(name, None, None, "its zip archive is cut short, and it cannot be read without the end"), own
            return
        if not name.endswith("/"):
            body = _LooseMember(handle, start, packed, method == 8)
            yield Member(name, size, Guarded(cast(IO[bytes], body), packed, own, meter, crc)), own
        position = start + packed


class _LooseMember(Readable):
    """The bytes of one member of a zip without a directory: stored or deflated."""

    def __init__(self, handle: IO[bytes], start: int, packed_bytes: int, is_deflated: bool) -> None:
        self._handle = handle
        self._position = start
        self._left = packed_bytes
        self._inflater = zlib.decompressobj(-15) if is_deflated else None

    def read(self, size: int = -1, /) -> bytes:
        """Gives the next decoded bytes; raises EOFError where the file stops before the member does."""
        inflater = self._inflater
        while (inflater is None or not inflater.eof) and (self._left > 0 or (inflater and inflater.unconsumed_tail)):
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
