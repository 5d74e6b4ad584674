"""A `Source` as blocks of bytes that end at a line end, normalised, in bounded memory whatever the input is.

In: a `Source`. Out: `Block`s. Lines end at `\\n` only (a progress bar's `\\r` ends none). A line longer than
MAX_LINE_BYTES comes in pieces: the first has `cut`, each following one `continues` and repeats the last OVERLAP_BYTES
of the one before, so that a literal over the cut is found; a hit in the repeated part has the same `offset` twice.
What was wrong with the bytes stands in `source.damage` once the blocks are read.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from ..errors import SourceError
from ..lines.timestamp import read_stamp
from .bounds import Deadline, broken_off
from .exports import READ_WHOLE, Reader
from .labels import Rewriting
from .log_forms import reader_of
from .normalise import Marks, Normaliser, marks_of, normalise
from .source import Source
from .streams import Readable, Stream, as_utf8, pieces_of
from .unwrap import MAX_BYTES, Known, as_typed, unwrapped

BLOCK_BYTES = 512 << 10  # what the processor's cache holds; smaller blocks cost more Python
MAX_LINE_BYTES = 1 << 20  # of one piece; BLOCK_BYTES may not be larger, or a long line could hide within a block
OVERLAP_BYTES = 8 << 10  # a pattern is verified on at most 8 KiB

MarksOf = Callable[[bytes], Marks]


@dataclass(slots=True)
class Block:
    """Whole lines, or a piece of an over-long one; only the last block of a source may lack its line end."""

    data: bytes
    offset: int  # of the first byte, in the decoded stream, before normalising
    continues: bool = False  # begins inside the line that the previous block ended in
    cut: bool = False  # ends inside a line that the next block continues
    overlap: int = 0  # so many first bytes repeat the end of the previous block
    size: int = -1  # bytes of the stream that it stands for, those that repeat left out; -1: those of `data`

    def __post_init__(self) -> None:
        if self.size < 0:
            self.size = len(self.data) - self.overlap


def read_blocks(
    source: Source,
    *,
    block_bytes: int = BLOCK_BYTES,
    find_marks: MarksOf | None = marks_of,
    known: Known | None = None,
    deadline: Deadline | None = None,
) -> Iterator[Block]:
    """Yields the blocks of a source; `find_marks` decides which are normalised (None: none), `known` finds texts by which
    a short source that a terminal broke into lines is told from others (None: none is)."""
    stream = source.open(deadline)
    try:
        decoded = as_utf8(stream, source.encoding) if source.encoding != "utf-8" else stream
        if (whole := READ_WHOLE.get(source.kind)) is not None:
            lines = whole(decoded.read, source.damage)
            decoded = io.BytesIO("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        blocks = cut_blocks(decoded, block_bytes=block_bytes, damage=source.damage)
        blocks = _read_by(reader_of(source.kind, source.label), blocks)
        if known is not None:
            blocks = _unwrapped(blocks, known)
        if find_marks is not None:
            blocks = _oldest_first(normalise_blocks(blocks, find_marks), source.damage)
        yield from _read_by(source.header, blocks)
    finally:
        stream.close()


def read_range(  # noqa: PLR0913 - where a range begins and ends takes four numbers
    source: Source,
    start: int,
    end: int | None,
    *,
    stop: int | None = None,
    starts_line: bool = False,
    block_bytes: int = BLOCK_BYTES,
    find_marks: MarksOf | None = marks_of,
) -> Iterator[Block]:
    """Yields the lines whose first byte lies in [`start`, `end`) of a seekable source; ranges that meet share none.

    Parts of a CRI or docker line that was cut are joined within a range only. From byte `stop` on nothing is read:
    there is a hole in the file, whose zeros are no text; `starts_line`: such a hole ends at `start`.
    """
    if not source.seekable or source.path is None:
        raise SourceError(f"{source.name} cannot be read by ranges")
    with cast(io.FileIO, source.open()) as file:
        # The line that byte `start - 1` ends or lies in belongs to the range before.
        position = start if starts_line else _next_line_start(file, start - 1, end) if start > 0 else 0
        if position is None or (end is not None and position >= end):
            return
        file.seek(position)
        stream: Stream = file if stop is None else Readable(pieces_of(file, stop - position))
        blocks = cut_blocks(stream, block_bytes=block_bytes, damage=source.damage, offset=position, end=end)
        blocks = _read_by(reader_of(source.kind, source.label), blocks)
        blocks = blocks if find_marks is None else normalise_blocks(blocks, find_marks)
        yield from _read_by(source.header, blocks)


def cut_blocks(
    stream: Stream,
    *,
    block_bytes: int = BLOCK_BYTES,
    damage: list[str] | None = None,
    offset: int = 0,
    end: int | None = None,
) -> Iterator[Block]:
    """Cuts a stream, at `offset`, into blocks; stops after the line that begins before `end`."""
    read = _reader(stream, min(block_bytes, MAX_LINE_BYTES), damage if damage is not None else [])
    held, overlap = b"", 0  # what waits for its line end, and how many bytes of it were yielded before
    for part in iter(read, b""):
        newline = part.find(b"\n")
        newline += len(held) if newline >= 0 else 0
        held += part
        while (len(held) if newline < 0 else newline) >= MAX_LINE_BYTES:
            yield Block(held[:MAX_LINE_BYTES], offset, overlap > 0, True, overlap)
            step = MAX_LINE_BYTES - OVERLAP_BYTES
            held, newline, offset, overlap = held[step:], max(newline - step, -1), offset + step, OVERLAP_BYTES
        if newline < 0:
            continue
        last = held.rfind(b"\n") + 1
        is_end = end is not None and offset + last >= end
        if end is not None and is_end:
            last = held.find(b"\n", max(end - 1 - offset, 0)) + 1
        yield Block(held[:last], offset, overlap > 0, False, overlap)
        if is_end:
            return
        held, offset, overlap = held[last:], offset + last, 0
    if len(held) > overlap:
        yield Block(held, offset, overlap > 0, False, overlap)


def normalise_blocks(blocks: Iterator[Block], find_marks: MarksOf = marks_of) -> Iterator[Block]:
    """Normalises the blocks that need it; lines with an open partial line before them move to a later block."""
    normaliser = Normaliser()
    offset = size = 0
    for block in blocks:
        offset = block.offset + len(block.data)
        size += block.size
        marks = find_marks(block.data)
        data = normaliser.feed(block.data, marks) if marks or normaliser.is_open else block.data
        if data == block.data:
            yield replace(block, size=size) if size > block.size else block
            size = 0
            continue
        if data or block.cut or block.continues:
            overlap = len(normalise(block.data[: block.overlap])) if block.overlap else 0
            overlap = min(overlap, len(data))
            yield Block(data, block.offset, block.continues, block.cut, overlap, size)
            size = 0
    rest = normaliser.finish()
    if rest or size:
        yield Block(rest, offset, size=size)


def _read_by(reader: Reader | None, blocks: Iterator[Block]) -> Iterator[Block]:
    """The blocks as a reader gives them; of beginnings of lines nothing is written anew in the piece of a long one, which
    others have to fit."""
    if reader is None:
        yield from blocks
        return
    offset = 0
    for block in blocks:
        offset = block.offset + len(block.data)
        is_fed = not (isinstance(reader, Rewriting) and (block.continues or block.cut))
        yield replace(block, data=reader.feed(block.data)) if is_fed else block
    if rest := reader.finish():
        yield Block(rest, offset, size=0)


def _unwrapped(blocks: Iterator[Block], known: Known) -> Iterator[Block]:
    """Holds back the start of a source until it is sure to be longer than what is copied from a screen."""
    start = Block(b"", 0)
    for block in blocks:
        if block.cut or len(start.data) + len(block.data) > MAX_BYTES:
            yield from [start, block] if start.data else [block]
            yield from blocks
            return
        start = replace(start, data=start.data + block.data, size=start.size + block.size)
    if start.data:
        data = as_typed(start.data)
        data = unwrapped(data, known) or data
        yield replace(start, data=data)


def _next_line_start(file: io.FileIO, position: int, end: int | None) -> int | None:
    """Finds where the first line after the line end at or behind `position` begins; None when not before `end`."""
    file.seek(position)
    while end is None or position < end:
        part = file.read(64 << 10)
        if not part:
            return None
        newline = part.find(b"\n")
        if newline >= 0:
            return position + newline + 1
        position += len(part)
    return None


def _reader(stream: Stream, size: int, damage: list[str]) -> Callable[[], bytes]:
    """Gives a function that reads up to `size` bytes; an error of the disk or network ends the stream with a note."""
    # `read1` gives what a pipe holds now instead of waiting for so much.
    fill: Callable[[int], bytes | None] = getattr(stream, "read1", None) or stream.read

    def read() -> bytes:
        try:
            return fill(size) or b""
        except Exception as error:  # EIO, ESTALE, a store's own: what was read until here still counts
            damage.append(f"reading stopped early ({broken_off(error)})")
            return b""

    return read


# --- newest first, as most consoles and `logcli` and `gcloud logging read` list ------------------------------------

MAX_TURNED_BYTES = 32 << 20  # consoles export some thousand lines; a longer text is not turned round
SAMPLE_BYTES = 32 << 10
SAMPLE_LINES = 60
MIN_STEPS = 3  # times that lie before the one above; a clock that is set back makes one
MIN_STAMPED = 0.6  # of the lines
_HEADER, _FRAME = b"Traceback (most recent call last):", b'  File "'


def _oldest_first(blocks: Iterator[Block], damage: list[str]) -> Iterator[Block]:
    """Turns round what an export lists newest first; of any other text nothing is held back."""
    held: list[Block] = []
    for block in blocks:
        held.append(block)
        size = sum(len(b.data) for b in held)
        if size > MAX_TURNED_BYTES or (len(held) == 1 and not is_newest_first(block.data)):
            yield from held
            yield from blocks
            return
    if held:
        lines = b"".join(b.data for b in held).removesuffix(b"\n").split(b"\n")
        damage.append("newest first: it was read from its end, and its lines are numbered so, as `tac` gives them")
        yield from cut_blocks(io.BytesIO(b"\n".join([*reversed(lines), b""])))


def is_newest_first(data: bytes) -> bool:
    """Tell whether the times at the heads of lines go back only, again and again, or as tracebacks do."""
    lines = [line for line in data[:SAMPLE_BYTES].split(b"\n") if line.strip()][:-1]
    if len(lines) < 2 * MIN_STEPS or not _goes_back([_time(lines[0]), _time(lines[len(lines) // 2]), _time(lines[-1])]):
        return False
    times = [_time(line) for line in lines[:SAMPLE_LINES]]
    if not _goes_back(times) or sum(t is not None for t in times) < MIN_STAMPED * len(times):
        return False
    steps = sum(a > b for a, b in pairwise([t for t in times if t is not None]))
    # Where the frames of tracebacks stand above their headers, and below none, lines of one second go back too.
    headers = [n for n, line in enumerate(lines) if _HEADER in line]
    below = any(_FRAME in lines[n + 1] for n in headers if n + 1 < len(lines))
    return steps >= MIN_STEPS or (not below and any(_FRAME in x for n in headers if n for x in lines[max(0, n - 2) : n]))


def _time(line: bytes) -> float | None:
    stamp = read_stamp(line[:64].decode("utf-8", "replace"))
    return stamp.seconds if stamp is not None and stamp.has_date else None


def _goes_back(times: list[float | None]) -> bool:
    known = [time for time in times if time is not None]
    return len(known) > 1 and all(a >= b for a, b in pairwise(known))
