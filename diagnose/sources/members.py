"""A member of an archive, whose bytes are bounded together with those of all the others in it."""

from __future__ import annotations

import io
import zlib
from typing import IO, Any

from ..lines.record import record
from .bounds import cut, is_bomb
from .deadline import Deadline, Share
from .refusals import OUT_OF_TIME, broken_off
from .streams import Stream


@record
class Member:
    """One file in an archive; without a `stream` it is only named, and `skipped` says why it cannot be read."""

    name: str
    size: int | None
    stream: Stream | None
    skipped: str | None = None


class OutOfTimeError(Exception):
    """The deadline passed within an archive."""


class Meter:
    """What one archive may still give: its bytes in and out, and until when it is read."""

    def __init__(self, deadline: Deadline | Share, bytes_in: int = 0) -> None:
        self._deadline = deadline
        self.bytes_in = bytes_in
        self.bytes_out = 0

    def is_over(self, bytes_out: int) -> bool:
        """Count what came out; whether it is too much of all the archive."""
        self.bytes_out += bytes_out
        return is_bomb(self.bytes_out, self.bytes_in)

    def check_time(self) -> None:
        """Raise once the deadline has passed."""
        if self._deadline.passed():
            raise OutOfTimeError(OUT_OF_TIME)


class Guarded(io.RawIOBase):
    """A member's bytes; damage, the deadline and a bomb end the stream and are noted instead of being raised."""

    def __init__(
        self, raw: IO[bytes], packed_bytes: int | None, damage: list[str], meter: Meter, crc: int | None = None
    ) -> None:
        self._raw = raw
        self._packed_bytes = packed_bytes
        self._damage = damage
        self._meter = meter
        self._crc, self._wanted_crc = 0, crc
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
            self._meter.check_time()
            data = self._raw.read(len(target))
        except OutOfTimeError as error:
            return self._end(str(error))
        except Exception as error:  # what a decoder raises has no common ancestor
            return self._end(f"damaged after {self._bytes_out:,} bytes ({broken_off(error)})")
        if not data:
            is_whole = self._wanted_crc in (None, self._crc)
            return self._end(None if is_whole else f"damaged within {self._bytes_out:,} bytes (wrong checksum)")
        target[: len(data)] = data
        self._bytes_out += len(data)
        self._crc = zlib.crc32(data, self._crc) if self._wanted_crc is not None else 0
        packed = self._packed_bytes
        if self._meter.is_over(len(data)) or (packed is not None and is_bomb(self._bytes_out, packed)):
            self._end(cut(self._bytes_out))
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
