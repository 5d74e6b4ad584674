"""The members of a tar or zip archive, one after the other, in bounded memory.

In: the archive as a stream. Out: `Member`s in archive order, each to be read before the next is asked for; their bytes are
bounded together. Names are only names: `../../etc/passwd` is a label here, never a path.
"""

from __future__ import annotations

import io
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import field
from typing import IO, Any, Literal, cast

from ..lines.record import record
from . import bounds
from .bounds import MAX_MEMBERS, OUT_OF_TIME, Deadline, Share, broken_off, cut, is_bomb
from .streams import PIECE_BYTES, Readable, Stream, pieces_of


@record
class Member:
    """One file in an archive; without a `stream` it is only named, and `skipped` says why it cannot be read."""

    name: str
    size: int | None
    stream: Stream | None
    skipped: str | None = None
    damage: list[str] = field(default_factory=list)  # grows while the bytes are read


class OutOfTimeError(Exception):
    """The deadline passed within an archive."""


class Meter:
    """What one archive may still give: its bytes in and out, and until when it is read."""

    def __init__(self, deadline: Deadline | Share) -> None:
        self._deadline = deadline
        self.bytes_in = self.bytes_out = 0
        self._bombs = 0

    def is_over(self, bytes_out: int) -> bool:
        """Count what came out; whether it is too much of all the archive."""
        self.bytes_out += bytes_out
        return is_bomb(self.bytes_out, self.bytes_in)

    def check_time(self) -> None:
        """Raise once the deadline has passed."""
        if self._deadline.passed():
            raise OutOfTimeError(OUT_OF_TIME)

    def member(
        self, name: str, size: int | None, pieces: Iterator[bytes], packed: int | None = None, crc: int | None = None
    ) -> Member:
        """Yield a member that can be read; `packed`: bytes of a zip's, which need not be unpacked to reach the next."""
        damage: list[str] = []
        return Member(name, size, Readable(self._guarded(pieces, damage, packed, crc)), damage=damage)

    def _guarded(self, pieces: Iterator[bytes], damage: list[str], packed: int | None, crc: int | None) -> Iterator[bytes]:
        """Yield the pieces; damage, the deadline and a bomb end them and are noted instead of being raised."""
        bytes_out = own_crc = 0
        try:
            for piece in pieces:
                self.check_time()
                yield piece
                bytes_out += len(piece)
                own_crc = zlib.crc32(piece, own_crc)
                if self.is_over(len(piece)) or (packed is not None and is_bomb(bytes_out, packed)):
                    damage.append(cut(bytes_out))
                    self._bombs += 1
                    if packed is not None and self._bombs < bounds.MAX_BOMBS:
                        self.bytes_out -= bytes_out  # so that the members after it are read
                    return
        except OutOfTimeError as error:
            damage.append(str(error))
        except Exception as error:  # what a decoder raises has no common ancestor
            damage.append(f"damaged after {bytes_out:,} bytes ({broken_off(error)})")
        else:
            if crc not in (None, own_crc):
                damage.append(f"damaged within {bytes_out:,} bytes (wrong checksum)")


def read_members(
    stream: Stream, container: Literal["tar", "zip"], damage: list[str], deadline: Deadline | Share
) -> Iterator[Member]:
    """Yields each member; `damage` takes what concerns the archive."""
    try:
        found = (tar_members if container == "tar" else zip_members)(stream, damage, Meter(deadline))
        for count, member in enumerate(found):
            if deadline.passed():
                damage.append(OUT_OF_TIME)
                return
            if count >= MAX_MEMBERS:
                damage.append(f"only its first {MAX_MEMBERS:,} members were read")
                return
            yield member
    except Exception as error:  # whatever the library meets in it: the members before were read
        damage.append(f"the rest of the archive was not read ({broken_off(error)})")


# --- tar ----------------------------------------------------------------------------------------------------------

TAR_PIECE_BYTES = 8 << 10  # of one that the archive's end cuts off nothing is given


class Supply:
    """A tar's own bytes. `tarfile` asks on at the end of a cut one as often as a header says, and keeps headers of any
    length: a second read there, or more than `allowed` bytes of one member's headers, ends it."""

    def __init__(self, raw: Stream, meter: Meter) -> None:
        self._raw = raw
        self._meter = meter
        self._is_at_end = False
        self.allowed: int | None = bounds.HEADER_BYTES  # None: a member is read

    def read(self, size: int) -> bytes:
        """Gives the next bytes."""
        self._meter.check_time()
        data = self._raw.read(size) or b""
        if not data and self._is_at_end:
            raise EOFError("it ends within a member")
        self._is_at_end = not data
        self._meter.bytes_in += len(data)
        if self.allowed is not None:
            self.allowed -= len(data)
            if self.allowed < 0:
                raise ValueError(f"a member has more than {bounds.HEADER_BYTES >> 20} MiB of headers")
        return data


def tar_members(stream: Stream, damage: list[str], meter: Meter) -> Iterator[Member]:
    last = "its beginning"
    supply = Supply(stream, meter)
    try:
        with tarfile.open(fileobj=cast(IO[bytes], supply), mode="r|", errorlevel=0) as archive:
            while (info := archive.next()) is not None:
                cast(Any, archive).members.clear()  # tarfile keeps every header otherwise
                last = info.name
                supply.allowed = None
                if (member := _tar_member(archive, info, meter)) is not None:
                    yield member
                if archive.fileobj is not None:  # what of the member is left is no header
                    cast(Any, archive.fileobj).seek(max(archive.offset, archive.fileobj.tell()))
                supply.allowed = bounds.HEADER_BYTES
    except OutOfTimeError as error:
        damage.append(str(error))
    except Exception as error:
        damage.append(f"the archive is damaged or cut short after {last} ({broken_off(error)})")


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo, meter: Meter) -> Member | None:
    if info.isreg() and (handle := archive.extractfile(info)) is not None:
        spans = [(0, info.size)] if info.sparse is None else cast(Any, info.sparse)
        return meter.member(info.name, info.size, _stored(cast(Any, handle).raw, spans))
    if info.islnk() or info.issym():
        return Member(info.name, None, None, f"a link to {info.linkname} in the same archive")
    return None if info.isdir() or info.isreg() else Member(info.name, None, None, "a device or named pipe")


def _stored(raw: IO[bytes], spans: list[tuple[int, int]]) -> Iterator[bytes]:
    """What a member holds; the holes of a sparse one are left out, as those of a sparse file are."""
    for start, size in spans:
        raw.seek(start)
        yield from pieces_of(raw, size, TAR_PIECE_BYTES)


# --- zip: with its directory or, where that is lost, without ------------------------------------------------------

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_ENCRYPTED, _STREAMED = 0x1, 0x8  # bits of the zip flags


class _Spool(tempfile.SpooledTemporaryFile[bytes]):
    """Says that it can seek, which `zipfile` asks of every file and which Python 3.10's spool does not answer."""

    def seekable(self) -> bool:
        return True


def zip_members(stream: Stream, damage: list[str], meter: Meter) -> Iterator[Member]:
    with _Spool(bounds.SPOOL_BYTES) as spool:
        file = cast(IO[bytes], stream if isinstance(stream, io.FileIO) else spool)
        for piece in pieces_of(stream, bounds.MAX_SPOOLED_BYTES + 1) if file is spool else ():
            file.write(piece)
        meter.bytes_in = file.seek(0, io.SEEK_END)
        if file is spool and meter.bytes_in > bounds.MAX_SPOOLED_BYTES:
            damage.append(f"a zip archive of more than {bounds.MAX_SPOOLED_BYTES >> 30} GiB inside another one")
            return
        try:
            end = cast(Any, zipfile)._EndRecData(file)
            if end and end[5] > bounds.MAX_DIRECTORY_BYTES:  # all of which `zipfile` keeps
                raise zipfile.BadZipFile
            archive = zipfile.ZipFile(file)
        except Exception:
            damage.append("the zip archive is damaged, cut short or has too many members; the first of them were read")
            yield from _loose_members(file, meter)
            return
        with archive:
            for info in archive.infolist():
                if meter.is_over(0):
                    damage.append(f"the rest of the archive was not read: {cut(meter.bytes_out)}")
                    return
                if not info.filename.endswith("/"):  # `is_dir` breaks on an empty name
                    yield _zip_member(archive, info, meter)


def _zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, meter: Meter) -> Member:
    if info.flag_bits & _ENCRYPTED:
        return Member(info.filename, info.file_size, None, "encrypted in its zip archive")
    try:
        handle = archive.open(info)
    except Exception as error:
        return Member(info.filename, info.file_size, None, f"damaged in its zip archive ({broken_off(error)})")
    cast(Any, handle)._expected_crc = None  # it would withhold the last bytes over a wrong one
    pieces = iter(lambda: cast(Any, handle).read1(PIECE_BYTES), b"")  # `read` withholds what is whole before damage
    return meter.member(info.filename, info.file_size, pieces, info.compress_size, info.CRC)


def _loose_members(file: IO[bytes], meter: Meter) -> Iterator[Member]:
    """Walks the local headers of a zip whose directory (at its end) is lost."""
    position = 0
    while True:
        file.seek(position)
        header = file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            return
        _, _, flags, method, _, _, crc, packed, size, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        name = file.read(name_length).decode("utf-8", "replace")
        start = position + _LOCAL_HEADER.size + name_length + extra_length
        if flags & (_ENCRYPTED | _STREAMED) or method not in (0, 8):
            yield Member(name, None, None, "its zip archive is cut short, and it cannot be read without the end")
            return
        if not name.endswith("/"):
            yield meter.member(name, size, _loose_pieces(file, start, packed, is_deflated=method == 8), packed, crc)
        position = start + packed


def _loose_pieces(file: IO[bytes], start: int, left: int, *, is_deflated: bool) -> Iterator[bytes]:
    """The bytes of one member, stored or deflated; raises EOFError where the file stops before the member does."""
    inflater = zlib.decompressobj(-15) if is_deflated else None
    file.seek(start)
    for data in pieces_of(file, left):
        left -= len(data)
        if inflater is None:
            yield data
        while inflater is not None and data and not inflater.eof:
            yield inflater.decompress(data, PIECE_BYTES)
            data = inflater.unconsumed_tail  # noqa: PLW2901
    if left and (inflater is None or not inflater.eof):
        raise EOFError("the archive stops here")
