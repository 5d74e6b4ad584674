"""What a user hands over, as `Source`s: files, folders, globs, archives, standard input, given text.

In: paths, URLs, `Text`, binary files. Out: one `Source` per readable stream, recognised by content, and one with
`skipped` for each thing that is not read, saying why. Order: as given; inside folders by name, inside archives as
stored. The iterator is lazy: a member of an archive must be read before the next source is asked for, which keeps
memory bounded; what has no `path` (standard input, a file object, `Text`) can be read once, at any time.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import BinaryIO, cast

from ..errors import DiagnoseError, SourceError, UsageError
from ..lines.record import record
from .bounds import MAX_DEPTH, MAX_NAME_CHARS, NO_TIME, Deadline, Share, broken_off, special, why_not
from .kinds import PEEK_BYTES, Compression, Container, Encoding, Kind, compression_of, container_of, encoding_of, kind_of
from .labels import Rewriting
from .log_forms import WHOLE, form_of, has_sections, read_sections, tail_of
from .paths import SKIPPED_FOLDERS, Seen, expand_pattern, files_below, find_remote, head_behind_zeros, is_url, open_remote
from .streams import Joined, Stream, binary_of, inflated, missing_extra, name_of

_TOO_DEEP = f"nested more than {MAX_DEPTH} archives deep"


@record
class Text:
    """Text given instead of a path."""

    text: str
    name: str = "<text>"


@record
class Source:
    """One stream of bytes that can be read, or, with `skipped`, the reason why it is not."""

    name: str  # as the user gave it: `logs/rank0.log`, `logs/x.gz`, `archive.tar.gz!member`
    kind: Kind = "text"
    size: int | None = None  # bytes as stored (of a member: unpacked); None when not known beforehand
    skipped: str | None = None
    seekable: bool = False  # a plain file: `read_range` works on it
    path: str | None = None  # set when any process may open it again, and as often as it likes
    label: Rewriting | None = None  # what a collector put before each line
    header: Rewriting | None = None  # in which its program says who speaks
    layers: tuple[Compression, ...] = ()  # compressions around the bytes, outermost first
    encoding: Encoding = "utf-8"
    damage: list[str] = field(default_factory=list, compare=False)  # grows while the bytes are read
    stream: Stream | None = field(default=None, repr=False, compare=False)  # read-once bytes of a source without path

    def open(self, deadline: Deadline | None = None) -> Stream:
        """Opens the decompressed bytes (`read`, `readinto`, `close`); one without a path once, in its turn."""
        if self.skipped is not None:
            raise SourceError(f"{self.name} is not readable: {self.skipped}")
        if self.path is not None:
            stream: Stream = _open(self.path)
            for compression in self.layers:
                stream = inflated(stream, compression, self.damage, deadline)
            return stream
        if self.stream is None or getattr(self.stream, "closed", False):
            raise SourceError(f"{self.name} can be read only once, before the next source is asked for")
        return self.stream


@record
class _Unpacking:
    """Where in nested archives something is unpacked, until when, and what was wrong with it."""

    deadline: Deadline | Share
    depth: int = 0
    damage: list[str] = field(default_factory=list)


Input = str | os.PathLike[str] | Text | BinaryIO


def find_sources(inputs: Sequence[Input], deadline: Deadline | Share | None = None) -> Iterator[Source]:
    """Finds what can be read in `inputs`; raises `SourceError` at once when a path or pattern matches nothing. Past the
    deadline nothing but the first path is opened; a folder follows as a source, with how many files were not."""
    expanded: list[Input] = []
    for given in inputs:
        is_path = isinstance(given, (str, os.PathLike)) and given != "-" and not _is_remote(given)
        expanded.extend(expand_pattern(os.fspath(cast(str, given))) if is_path else [given])
    return _find(expanded, deadline or Deadline())


def _find(inputs: Sequence[Input], deadline: Deadline | Share) -> Iterator[Source]:
    seen: Seen = set()
    for count, given in enumerate(inputs):
        if isinstance(given, Text):
            if not isinstance(given.text, str):
                raise UsageError(f"Text takes str, not {type(given.text).__name__}; give bytes as io.BytesIO(…)")
            data = given.text.encode("utf-8", "surrogateescape")
            yield from _from_stream(io.BytesIO(data), given.name, len(data), deadline)
        elif isinstance(given, str) and given == "-":
            yield from _from_stream(cast(Stream, sys.stdin.buffer), "<stdin>", None, deadline)
        elif count and isinstance(given, (str, os.PathLike)) and deadline.passed():
            yield Source(os.fspath(given), "binary", skipped=f"not opened: {NO_TIME}")
        elif _is_remote(given):
            yield from _guarded(_from_url(cast(str, given), deadline), cast(str, given))
        elif isinstance(given, (str, os.PathLike)):
            yield from _from_folder(os.fspath(given), seen, deadline)
        else:
            yield from _from_stream(binary_of(given), name_of(given), None, deadline)


def _guarded(found: Iterator[Source], name: str) -> Iterator[Source]:
    """Yields the sources of an input; one that breaks is a skipped source and costs none of the others."""
    try:
        yield from found
    except DiagnoseError:
        raise
    except Exception as error:  # RecursionError and MemoryError too: what strangers pack breaks libraries in many ways
        yield Source(name, "binary", skipped=f"damaged: {broken_off(error)}")


def _from_folder(path: str, seen: Seen, deadline: Deadline | Share) -> Iterator[Source]:
    """Yields the sources below a folder; or the one source that a file is."""
    files, is_cut = files_below(path, seen, deadline)
    notebooks: list[Source] = []  # what they once printed is of any age: read where nothing else holds a log
    is_read = False
    for count, file in enumerate(files):
        if count and deadline.passed():
            yield Source(path, "binary", skipped=f"{len(files) - count:,} files in it were not opened: {NO_TIME}")
            break
        for source in _guarded(_from_path(file, seen, deadline, is_given=file == path), file):
            is_read |= source.skipped is None and source.kind != "context"
            if source.skipped is not None and source.kind == "notebook":
                notebooks.append(source)
            else:
                yield source
    yield from notebooks if is_read else (replace(source, skipped=None) for source in notebooks)
    if is_cut:
        yield Source(path, "binary", skipped=f"not listed to its end: {NO_TIME}")


def _from_path(path: str, seen: Seen, deadline: Deadline | Share, *, is_given: bool) -> Iterator[Source]:
    """Yields the source a path names, or the members when it is an archive; nothing when it was given before."""
    try:
        status = os.stat(path)
        reason = special(path, status.st_mode, is_given=is_given)
        if reason is not None:
            yield Source(path, "binary", skipped=reason)
            return
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
        raw = _open(path)
    except OSError as error:
        yield Source(path, "binary", skipped=why_not(path, error))
        return
    with raw:
        is_file = stat.S_ISREG(status.st_mode)
        found = _from_file(raw, path, status.st_size, deadline) if is_file else _from_stream(raw, path, None, deadline)
        for source in found:
            yield replace(source, skipped=None) if is_given and source.kind == "notebook" else source


def _is_remote(given: object) -> bool:
    return isinstance(given, str) and is_url(given) and not os.path.lexists(given)


def _from_url(url: str, deadline: Deadline | Share) -> Iterator[Source]:
    for count, (name, size) in enumerate(find_remote(url)):
        if count and deadline.passed():
            yield Source(name, "binary", size, skipped=f"not opened: {NO_TIME}")
            continue
        try:
            raw = open_remote(name, look=True)
        except OSError as error:
            yield Source(name, "binary", size, skipped=why_not(name, error))
            continue
        with raw:
            yield from _guarded(_from_file(raw, name, size, deadline), name)


def _from_file(raw: io.RawIOBase, path: str, size: int | None, deadline: Deadline | Share) -> Iterator[Source]:
    here = _Unpacking(deadline)
    try:
        opened = _unwrap(raw, path, here)
    except Exception as error:  # each store's client has errors of its own: botocore's are no OSError
        yield Source(path, "binary", size, skipped=why_not(path, error))
        return
    if opened.head and not opened.head.strip(b"\0") and not opened.layers and not is_url(path):
        opened = replace(opened, head=head_behind_zeros(path, PEEK_BYTES) or opened.head)
    if opened.container is None or opened.skipped is not None:
        tail = tail_of(raw, size) if size and not opened.layers and opened.skipped is None and not is_url(path) else b""
        source = _classify(opened, path, size, here.damage, tail)
        is_plain = not opened.layers and source.encoding == "utf-8" and source.kind not in WHOLE
        yield replace(source, path=path, seekable=is_plain, stream=None, damage=[])
    elif opened.container == "zip" and not opened.layers:
        raw.seek(0)
        yield from _from_archive(raw, path, opened.container, here)
    else:
        yield from _from_archive(opened.stream, path, opened.container, here)


def _from_stream(raw: Stream, name: str, size: int | None, deadline: Deadline | Share) -> Iterator[Source]:
    """Yields what a stream holds; its bytes are gone once the next source is asked for."""
    yield from _guarded(_from_member(Joined(raw, is_owned=False), name, size, _Unpacking(deadline)), name)


def _from_member(raw: Stream, name: str, size: int | None, here: _Unpacking) -> Iterator[Source]:
    opened = _unwrap(raw, name, here)
    if opened.container is not None and opened.skipped is None:
        yield from _from_archive(opened.stream, name, opened.container, here)
        return
    source = _classify(opened, name, size, here.damage)
    yield source
    if here.depth > 0 and source.stream is not None:
        source.stream.close()  # the archive moves on


def _from_archive(stream: Stream, name: str, container: Container, here: _Unpacking) -> Iterator[Source]:
    """Yields the members; what was wrong with the archive as a whole follows them as a skipped source."""
    from .archives import Member, read_members  # costs every start, and few runs need it

    member = None
    if container == "sections":
        members: Iterator[Member] = (Member(head, None, body) for head, body in read_sections(stream))
    else:
        members = read_members(stream, container, here.damage, here.deadline)
    for member in members:
        inner = f"{name}!{member.name[-MAX_NAME_CHARS:]}"
        if not SKIPPED_FOLDERS.isdisjoint(member.name.split("/")[:-1]):
            continue
        if member.stream is None:
            yield Source(inner, "binary", member.size, member.skipped)
        else:
            within = replace(here, depth=here.depth + 1, damage=member.damage)
            yield from _guarded(_from_member(member.stream, inner, member.size, within), inner)
    if here.damage or member is None:
        yield Source(name, "binary", skipped="; ".join(here.damage) or "an archive without files")


@record
class _Opened:
    stream: Joined
    head: bytes
    layers: tuple[Compression, ...]
    container: Container | None
    skipped: str | None


def _unwrap(raw: Stream, name: str, here: _Unpacking) -> _Opened:
    """Takes off the compressions around a stream and looks at what begins below them."""
    stream = Joined(raw)
    head = stream.peek(PEEK_BYTES)
    layers: tuple[Compression, ...] = ()
    skipped = None
    while skipped is None and (compression := compression_of(head)) is not None:
        skipped = missing_extra(compression) or (_TOO_DEEP if here.depth + len(layers) >= MAX_DEPTH else None)
        if skipped is None:
            layers += (compression,)
            stream = Joined(inflated(stream, compression, here.damage, here.deadline))
            head = stream.peek(PEEK_BYTES)
    container = container_of(head, name)
    if container is not None and here.depth >= MAX_DEPTH:
        skipped = _TOO_DEEP
    elif container is None and here.depth < MAX_DEPTH and has_sections(head):
        container = "sections"
    return _Opened(stream, head, layers, container, skipped)


def _classify(opened: _Opened, name: str, size: int | None, damage: list[str], tail: bytes = b"") -> Source:
    if opened.skipped is not None:
        return Source(name, "binary", size, opened.skipped)
    if not opened.head:
        return Source(name, "text", size, damage[0] if damage else "empty")
    kind, skipped = kind_of(opened.head, name)
    form = form_of(kind, opened.head, opened.stream, name, tail)
    return Source(
        name, form.kind, size, skipped or form.skipped, label=form.label, header=form.header,
        layers=opened.layers, encoding=encoding_of(opened.head), damage=damage, stream=opened.stream,
    )  # fmt: skip


def _open(path: str) -> io.RawIOBase:
    return open_remote(path) if _is_remote(path) else open(path, "rb", buffering=0)
