"""One block of a source as lines by offset, and the passage around a literal; of an endless line its head and passages."""

from __future__ import annotations

from collections.abc import Iterator

from ..lines.prefix import read_lines
from .kept import TAIL_LINES
from .voices import MAX_TEXT, Voices

NEAR_BYTES = 2 << 10  # in which a hit's neighbors stand, if its lines are as most are
FRAME_MARK = b'File "'  # on a traceback's frames: what follows one may be quoted code
LEAD_BYTES = 2 << 10  # of a passage within a long line: so much before the literal …
PASSAGE_BYTES = 8 << 10  # … of so much in all
HEAD_BYTES = 512  # of a long line: who speaks
MAX_PASSAGES = 8  # of one long line that are kept
MAX_LOOKED_AT = 200  # of one long line; each takes some 10 ms, and a file that lost its line ends is one
CUT_MARK = "…".encode()  # in front of a passage from within a line: `^` must not match there

Piece = tuple[str, str]  # prefix, message


def read_pieces(text: str) -> list[Piece]:
    """Yield the pieces of a line's text, each parted into prefix and message as patterns are asked of it."""
    return [(line.raw[: line.prefix.end], line.message) for line in read_lines(0, text)]


class LongLine:
    """What is kept of a line longer than MAX_TEXT, over all blocks that hold a piece of it."""

    def __init__(self, number: int, start: bytes) -> None:
        self.number = number
        self.start = start  # what is kept of it as another's neighbour
        self.head = start[:HEAD_BYTES]
        self.passages: list[bytes] = []
        self.looked_at = 0  # passages
        self._counts: list[int] = []  # of the pieces of the head, and of each passage

    def add(self, passage: bytes) -> int:
        """Keep a passage; yield its place, MAX_PASSAGES where there is no room."""
        self.looked_at += 1
        if len(self.passages) < MAX_PASSAGES:
            self.passages.append(passage)
            return len(self.passages) - 1
        return MAX_PASSAGES

    def text(self) -> str:
        """Yield the line's text."""
        return "\r".join(x.decode("utf-8", "replace").replace("\r", "") for x in [self.head, *self.passages])

    def pieces(self, place: int, passage: bytes) -> tuple[int, list[Piece]]:
        """Yield the pieces of the passage at `place`, and the index of its first one among all of the line."""
        kept = [self.head, *self.passages]
        while len(self._counts) <= place:  # thousands of passages follow those that are kept
            self._counts.append(count_pieces(kept[len(self._counts)].decode("utf-8", "replace").replace("\r", "")))
        head = self.head.decode("utf-8", "replace").replace("\r", "")
        pieces = read_pieces(f"{head}\r{passage.decode('utf-8', 'replace')}")
        return sum(self._counts[: place + 1]), pieces[self._counts[0] :]


class Passage:
    """A literal's surroundings that a pattern is tried on: of a line, or of what carriage returns part it into."""

    __slots__ = ("_first", "_is_line", "_number", "_pieces", "at", "block", "end", "long", "place")

    def __init__(self, block: TextBlock, at: int, end: int, long: LongLine | None, *, is_line: bool | None = None) -> None:
        """`is_line`: whether it is a whole line of its block, where that is known."""
        self.block, self.at, self.end = block, at, end
        self.long, self.place = long, 0
        self._is_line = is_line
        self._pieces: list[Piece] | None = None
        self._first = self._number = 0

    def raw(self) -> bytes:
        """Yield its bytes."""
        return self.block.data[self.at : self.end]

    def is_line(self) -> bool:
        """Tell whether it is a whole line of its block."""
        if self._is_line is None:
            is_begun = self.at > 0 or not self.block.continues
            self._is_line = self.long is None and is_begun and (self.at, self.end) == self.line()
        return self._is_line

    def line(self) -> tuple[int, int]:
        """Yield where its line begins and ends in its block."""
        if self._is_line:
            return self.at, self.end
        return self.block.line_start(self.at), self.block.line_end(self.at)

    def number(self) -> int:
        """Yield the number of its line."""
        if not self._number:
            self._number = self.long.number if self.long else self.block.number(self.at)
        return self._number

    def pieces(self) -> tuple[int, list[Piece]]:
        """Yield its pieces, as `read_lines` of the whole line's text has them, and the index of the first there."""
        if self._pieces is None:
            self._first, self._pieces = self._read()
        return self._first, self._pieces

    def _read(self) -> tuple[int, list[Piece]]:
        if self.long:
            return self.long.pieces(self.place, self.long_text())
        data = self.block.data
        start, stop = self.line()
        if self.at == start and self.end == stop:
            return 0, read_pieces(data[start:stop].decode("utf-8", "replace"))
        first = count_pieces(data[start : self.at].decode("utf-8", "replace"))
        last = count_pieces(data[start : self.end].decode("utf-8", "replace"))
        return first, read_pieces(data[start : self.end].decode("utf-8", "replace"))[first:last]

    def long_text(self) -> bytes:
        """Yield the bytes of a passage of a long line, marked where they begin within a message."""
        within = self.at > 0 and self.block.data[self.at - 1] not in b"\r\n"
        within = within or (self.at == 0 and self.block.continues)
        return CUT_MARK * within + self.raw()


def count_pieces(text: str) -> int:
    """Yield into how many pieces `read_lines` parts a text; none where nothing is printed."""
    return len(read_pieces(text)) if text.strip("\r") else 0


class TextBlock:
    """Whole lines, or a piece of one that is longer than a block."""

    def __init__(self, data: bytes, base: int, previous: TextBlock | None, *, continues: bool, overlap: int) -> None:
        self.data, self.voices = data, Voices(data)
        self.base = base  # line ends before this block …
        self.lines = base + data.count(b"\n")  # … and up to its end
        self.has_returns = b"\r" in data
        self._before = previous.last_lines(TAIL_LINES + 1) if previous is not None else []  # the last ones above, numbered
        self.continues = continues
        self.overlap = overlap
        self.long: LongLine | None = None  # the latest long line that a passage was taken from
        self._counted = 0, base + 1  # the offset that was asked for last, and the number of its line
        self._line = (0, -1)  # the line that was looked at last

    def last_lines(self, count: int) -> list[tuple[int, bytes]]:
        """Yield the last `count` lines (cut to MAX_TEXT) up to this block's end, with their numbers."""
        start = self.data.rfind(b"\n") + 1
        has_rest = start < len(self.data) and (start > 0 or not self.continues)
        rest = [(self.lines + 1, self.data[start : start + MAX_TEXT])] if has_rest else []
        return [*self.lines_before(start, count - len(rest), self.lines + 1), *rest]

    def _earlier(self, count: int, below: int) -> list[tuple[int, bytes]]:
        """Up to `count` lines of the blocks before, with numbers below `below`."""
        return [x for x in self._before if x[0] < below][-count:] if count > 0 else []

    def number(self, at: int) -> int:
        """Yield the number of the line at offset `at`: mostly one near the one that was asked for last."""
        place, number = self._counted
        if at >= place:
            number += self.data.count(b"\n", place, at)
        elif place - at < at:
            number -= self.data.count(b"\n", at, place)
        else:
            number = self.base + 1 + self.data.count(b"\n", 0, at)
        self._counted = at, number
        return number

    def line_start(self, at: int) -> int:
        """Yield where the line at offset `at` begins in this block."""
        if not self._line[0] <= at <= self._line[1]:
            end = self.data.find(b"\n", at)
            self._line = (self.data.rfind(b"\n", 0, at) + 1, len(self.data) if end < 0 else end)
        return self._line[0]

    def line_end(self, at: int) -> int:
        """Yield where the line at offset `at` ends, its line end not counted."""
        self.line_start(at)
        return self._line[1]

    def passage(self, at: int, held: LongLine | None) -> Passage:
        """Yield the passage around the literal that ends behind offset `at`. `held`: the long line that goes on."""
        start, end = self.line_start(at), self.line_end(at)
        first, last = start, end
        if self.has_returns:
            carriage = self.data.find(b"\r", at, min(end, at + PASSAGE_BYTES))
            last = end if carriage < 0 else carriage
            reach = start if end - start <= MAX_TEXT else max(start, at - PASSAGE_BYTES)
            first = self.data.rfind(b"\r", reach, at) + 1 or start
        long = held if start == 0 else None
        if end - start <= MAX_TEXT and long is None:
            return Passage(self, first, last, None)
        if at - first > PASSAGE_BYTES - LEAD_BYTES:
            first = max(first, at - LEAD_BYTES)
        if long is None:
            if self.long is None or self.long.number != self.number(start):
                self.long = LongLine(self.number(start), self.data[start : min(end, start + MAX_TEXT)])
            long = self.long
        passage = Passage(self, first, min(last, first + PASSAGE_BYTES), long)
        passage.place = long.add(passage.long_text())
        return passage

    def lines_from(self, at: int) -> Iterator[bytes]:
        """Yield the lines from offset `at`, a line start, each cut to MAX_TEXT; not what continues a line before."""
        data, at = self.data, at or self.skipped()
        while at < len(data):
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            yield data[at : min(end, at + MAX_TEXT)]
            at = end + 1

    def first_number(self) -> int:
        """Yield the number of the first line that this block holds from its start on."""
        return self.base + 1 + self.continues

    def skipped(self) -> int:
        """Yield where the first line begins that this block holds from its start on."""
        return (self.data.find(b"\n") + 1 or len(self.data)) if self.continues else 0

    def may_follow_frame(self, at: int) -> bool:
        """Tell whether the line before the one that begins at offset `at` may be a traceback's frame; cheap."""
        if at == 0:
            return True  # the line before lies in another block
        return self.data.find(FRAME_MARK, self.data.rfind(b"\n", 0, at - 1) + 1, at) >= 0

    def lines_before(self, at: int, count: int, number: int) -> list[tuple[int, bytes]]:
        """Yield up to `count` lines (cut to MAX_TEXT) before line `number` at offset `at`, with their numbers."""
        near = self.data[max(at - NEAR_BYTES, 0) : at].rsplit(b"\n", count + 1)
        if len(near) == count + 2 and not near[-1] and not self.continues:
            return list(enumerate(near[1:-1], number - count))
        found: list[tuple[int, bytes]] = []
        start, floor = self.line_start(at), self.skipped()
        while start > floor and len(found) < count:
            begin = max(self.data.rfind(b"\n", 0, start - 1) + 1, floor)
            number -= 1
            found.append((number, self.data[begin : min(start - 1, begin + MAX_TEXT)]))
            start = begin
        return [*self._earlier(count - len(found), number), *found[::-1]]
