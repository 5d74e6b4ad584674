"""The members of a tar archive, read as a stream."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import IO, Any, cast

from .bounds import HEADER_BYTES
from .members import Guarded, Member, Meter, OutOfTimeError
from .refusals import broken_off
from .streams import Stream


class Supply(io.RawIOBase):
    """A tar's own bytes. `tarfile` asks on at the end of a cut one as often as a header says, and keeps headers of any
    length: a second read there, or more than `allowed` bytes of one member's headers, ends it."""

    def __init__(self, raw: Stream, meter: Meter) -> None:
        self._raw = raw
        self._meter = meter
        self._is_at_end = False
        self.allowed: int | None = HEADER_BYTES  # None: a member is read

    def read(self, size: int = -1, /) -> bytes:
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
                raise ValueError(f"a member has more than {HEADER_BYTES >> 20} MiB of headers")
        return data


class _Stored(io.RawIOBase):
    """What a sparse member holds; its holes are left out, as those of a sparse file are."""

    def __init__(self, raw: IO[bytes], spans: list[tuple[int, int]]) -> None:
        self._raw = raw
        self._spans = iter(spans)
        self._left = 0

    def read(self, size: int = -1, /) -> bytes:
        """Gives the next bytes that are stored."""
        while self._left <= 0:
            span = next(self._spans, None)
            if span is None:
                return b""
            self._raw.seek(span[0])
            self._left = span[1]
        data = self._raw.read(min(size, self._left))
        self._left -= len(data)
        return data


def tar_members(stream: Stream, damage: list[str], meter: Meter) -> Iterator[tuple[Member, list[str]]]:
    last = "its beginning"
    supply = Supply(stream, meter)
    try:
        with tarfile.open(fileobj=cast(IO[bytes], supply), mode="r|", errorlevel=0) as archive:
            while (info := archive.next()) is not None:
                cast(Any, archive).members.clear()  # tarfile keeps every header otherwise
                last = info.name
                own: list[str] = []
                supply.allowed = None
                if (member := _tar_member(archive, info, own, meter)) is not None:
                    yield member, own
                if archive.fileobj is not None:  # what of the member is left is no header
                    cast(Any, archive.fileobj).seek(max(archive.offset, archive.fileobj.tell()))
                supply.allowed = HEADER_BYTES
    except OutOfTimeError as error:
        damage.append(str(error))
    except Exception as error:
        damage.append(f"the archive is damaged or cut short after {last} ({broken_off(error)})")


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo, damage: list[str], meter: Meter) -> Member | None:
    if info.isreg():
        handle = archive.extractfile(info)
        if handle is None:
            return None
        body = handle if info.sparse is None else cast(IO[bytes], _Stored(cast(Any, handle).raw, cast(Any, info.sparse)))
        return Member(info.name, info.size, Guarded(body, None, damage, meter))
    if info.islnk() or info.issym():
        return Member(info.name, None, None, f"a link to {info.linkname} in the same archive")
    return None if info.isdir() else Member(info.name, None, None, "a device or named pipe")
