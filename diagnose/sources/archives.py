"""The members of a tar or zip archive, or of a text that shows several files, one after the other, in bounded memory;
nothing is ever written to disk.

In: the archive as a stream. Out: `Member`s in archive order, whose bytes are bounded together. A member's bytes must be
read before the next is asked for. Names are only names: `../../etc/passwd` is a label here, never a path.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import IO, TYPE_CHECKING, Any, cast

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .bounds import HEADER_BYTES, MAX_BOMBS, MAX_MEMBERS, Deadline, Share, cut, is_bomb
from .kinds import Container
from .refusals import OUT_OF_TIME, broken_off
from .streams import Joined, Readable, Stream, peek

if TYPE_CHECKING:
    import tarfile


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
        self._bombs = 0

    def is_over(self, bytes_out: int) -> bool:
        """Count what came out; whether it is too much of all the archive."""
        self.bytes_out += bytes_out
        return is_bomb(self.bytes_out, self.bytes_in)

    def write_off(self, bytes_out: int) -> None:
        """Forget what a member gave that was cut, so that those after it are read; not of more than `MAX_BOMBS`."""
        self._bombs += 1
        if self._bombs < MAX_BOMBS:
            self.bytes_out -= bytes_out

    def check_time(self) -> None:
        """Raise once the deadline has passed."""
        if self._deadline.passed():
            raise OutOfTimeError(OUT_OF_TIME)


class Guarded(Readable):
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
            if packed is not None:  # of a zip, which need not be unpacked to reach the next
                self._meter.write_off(self._bytes_out)
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


def read_members(
    stream: Stream, container: Container, damage: list[str], deadline: Deadline | Share
) -> Iterator[tuple[Member, list[str]]]:
    """Yields each member with the list its own damage goes to; `damage` takes what concerns the archive."""
    if container == "sections":
        yield from ((Member(name, None, body), []) for name, body in read_sections(stream))
        return
    from .zips import zip_members

    members = (tar_members if container == "tar" else zip_members)(stream, damage, Meter(deadline))
    try:
        for count, with_damage in enumerate(members):
            if deadline.passed():
                damage.append(OUT_OF_TIME)
                return
            if count >= MAX_MEMBERS:
                damage.append(f"only its first {MAX_MEMBERS:,} members were read")
                return
            yield with_damage
    except Exception as error:  # whatever the library meets in it: the members before were read
        damage.append(f"the rest of the archive was not read ({broken_off(error)})")


# --- tar ----------------------------------------------------------------------------------------------------------


class Supply(Readable):
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


class _Stored(Readable):
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
        import tarfile  # costs every start, and few runs need it

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


# --- several files in one text ------------------------------------------------------------------------------------
# as `tail`, `head`, `more` or a loop shows them, or by `grep -r`:
#
#     ==> logs/rank0.log <==        ::::::::::::::        ===== rank0.log =====        logs/rank0.log:12:step 3 loss 2.1
#                                   rank0.log                                          logs/rank0.log-13-step 4 loss 2.0
#                                   ::::::::::::::

MAX_SHOWN_BYTES = 32 << 20  # looked through: five thousand lines of each of 64 ranks
_SUFFIX = rb"\.(?:log|txt|out|err|stdout|stderr)(?:\.\d{1,3})?"
_LOG_NAME = rb"[^\n<>|]{1,400}" + _SUFFIX  # else a program's own banner would read as a head
_DRAWN = rb"@{2,40}(?!@) ?(" + _LOG_NAME + rb")(?: ?[@<]{2,40})?\r?\n"
# coreutils' `write_header` in head.c and tail.c; the 14 colons of util-linux' more.c
_STYLES: tuple[bytes, ...] = (
    rb"==> ([^\s<>|]{1,400}|standard input|" + _LOG_NAME + rb") <==\r?\n",
    rb":{14}\r?\n([^\s<>|:][^\n<>|]{0,400}?)\r?\n:{14}\r?\n",
    *(_DRAWN.replace(b"@", re.escape(sign)) for sign in b"= - # * > + ~".split()),
)
_ANY = b"|".join(b"(?P<style%d>%b)" % style for style in enumerate(_STYLES))
_FIRST = lazy(rb"(?:[^\n]{0,400}\n){0,2}?(?:" + _ANY + b")")
# of a match, of a line around one with -A, -B or -C, and what `grep` draws between two groups of these
_NAMED = rb"(?m)^(?:([^\s:<>|]{1,400}?" + _SUFFIX + rb")(?::(?:\d{1,9}:)?|-\d{1,9}-)|--$)"
_ALL_NAMED = lazy(rb"(?:" + _NAMED.removeprefix(b"(?m)^") + rb"[^\n]{0,4000}(?:\n|\Z)){3}")


def has_sections(head: bytes) -> bool:
    """Tells whether a text begins with the head of a file; a prompt with its command may stand above it."""
    return _FIRST.match(head) is not None or _ALL_NAMED.match(head) is not None


def read_sections(stream: Stream) -> Iterator[tuple[str, Stream]]:
    """Yield the files that such a text shows, in the order of their first lines; every head is of the first one's style.

    What `tail -f` shows of one file in turns with others is joined. What stands above the first head goes with the first
    file; what lies behind the bytes that are looked through, with the one that was open there.
    """
    text, _ = peek(stream, MAX_SHOWN_BYTES)
    found = _FIRST.match(text)
    style = b"(?m)^" + _STYLES[int((found.lastgroup or "")[len("style") :])] if found else _NAMED
    bodies: dict[str, list[bytes]] = {}
    name, above = "", 0  # where the text above the first head begins
    for head, following in pairwise(chain(re.finditer(style, text), [None])):
        assert head is not None
        name = head[1].decode("utf-8", "replace") if head[1] else name
        end = following.start() if following else len(text)
        bodies.setdefault(name, []).append(text[above : head.start()] + text[head.end() : end])
        above = end
    for each, parts in bodies.items():
        body = b"".join(parts)
        yield each, Joined(body, stream, is_owned=False) if each == name else io.BytesIO(body)
