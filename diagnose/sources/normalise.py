"""Lines in the dress of a collector (ANSI, docker/CRI/journald JSON, NUL holes) as the lines that were written.

In: bytes that end at a line end. Out: as many lines, so that line numbers stay those of the file: a message of several
lines keeps its one line and is parted by `\\r`, which the line reader splits on; the parts of a partial line
are joined at the place of the first, the others become empty.
"""

from __future__ import annotations

import io
import re
from collections.abc import Set
from dataclasses import dataclass

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from .collector_json import Written, undress_json, undress_logfmt
from .escapes import ANSI_LITERALS, ESCAPED_LITERALS, TAG_LITERALS, strip_ansi, unescape, untag
from .unwrap import BOX_LITERALS, unbox

MAX_JOINED_BYTES = 1 << 20  # CRI and docker cut at 16 KiB; a longer chain is passed on in pieces
MAX_HELD_LINES = 4096  # lines of the other stream that may stand between two parts
MAX_HELD_BYTES = 8 << 20

_CRI, _DOCKER, _BEHIND, _LOGFMT, _KEYED = (lazy(row.encode()) for row in patterns(__file__, "normalise"))
_EVENT = (b"event='", b'event="')
_NUL, _BOM = b"\x00", b"\xef\xbb\xbf"
_JSON_STARTS = (b'{"', b'{ "')
_JSON_MARKS = (b'\n{"', b'\n{ "')
_CRI_MARKS = (b" stdout P ", b" stderr P ")
_LOGFMT_MARK, _BEHIND_MARK = b' msg="', b' {"'
_TEXT_KEYS = (b'"message"', b'"msg"', b'"text"', b'"event"', b'"log"')  # a dict without one is no record: most are metrics
RECORD_MARKS = frozenset((*_JSON_MARKS, *_CRI_MARKS, _LOGFMT_MARK, *_EVENT, *_TEXT_KEYS))  # on lines that may be records
# A superset of what `normalise` can change, to be looked for natively in one pass together with other literals:
# a block in which none occurs needs no normalising. (A JSON line begins a block or follows a line end.)
DRESS_LITERALS: tuple[bytes, ...] = (
    _NUL, _BOM, *sorted(RECORD_MARKS), *ANSI_LITERALS, *ESCAPED_LITERALS, *TAG_LITERALS, *BOX_LITERALS,
)  # fmt: skip
_DOCKER_START = b'{"log":"'

Marks = Set[bytes]  # which of DRESS_LITERALS stand in a text


def marks_of(data: bytes) -> set[bytes]:
    """Yields the marks of `data`; one that follows a line end counts at its start too."""
    return marks_at_start(data) | {literal for literal in DRESS_LITERALS if literal in data}


def marks_at_start(data: bytes) -> set[bytes]:
    """Yields the mark of a JSON line with which `data` begins."""
    return {mark for mark in _JSON_MARKS if data.startswith(mark[1:])}


def normalise(data: bytes) -> bytes:
    """Gives `data` as it was written before collectors dressed it, with as many lines."""
    normaliser = Normaliser()
    return normaliser.feed(data) + normaliser.finish()


class Normaliser:
    """Normalises a stream block after block; holds lines back while a partial line is still open."""

    def __init__(self) -> None:
        self._held: list[bytes] = []  # lines (with their ends) from the first open partial line on
        self._open: dict[bytes, _Partial] = {}  # by stream

    @property
    def is_open(self) -> bool:
        """Tells whether lines are held back: then the next block must be fed too, whatever it looks like."""
        return bool(self._held)

    def feed(self, data: bytes, marks: Marks | None = None) -> bytes:
        """Gives the lines that are complete; over all calls as many line ends come out as went in. `marks`: those of
        `data`, where they are known already. Only what they stand for is looked for."""
        marks = marks_of(data) if marks is None else marks
        if _NUL in marks or _BOM in marks:
            data = data.translate(None, _NUL)  # `replace` takes five times as long where a block is full of them
            data = data.replace(_BOM, b"")
            marks = marks_of(data)
        if _JSON_MARKS[0] in marks and _DOCKER_START in data:
            data = _DOCKER.sub(rb"\3 \2 F \1", data)
            marks = marks_of(data)
        if not self._open and RECORD_MARKS.isdisjoint(marks):
            return _undressed(data, marks)
        joined = self._join(data)
        joined = _BEHIND.sub(_of_program, joined) if _BEHIND_MARK in joined else joined
        return _undressed(joined, marks_of(joined))

    def finish(self) -> bytes:
        """Gives what was held back when the stream ended inside a partial line."""
        rest = self._release(len(self._held))
        self._open.clear()
        return _undressed(rest, marks_of(rest)) if rest else rest

    def _join(self, data: bytes) -> bytes:
        held = self._held
        for line in io.BytesIO(data):  # split at line feeds only: a carriage return counts no line
            body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
            place = len(held)
            held.append(line)
            if not body.startswith(_JSON_STARTS) and (found := _CRI.match(body)) is not None:
                if found[3] == b"P" or found[2] in self._open:
                    text = found[1] + b" F " + body[found.end() :]
                    self._place(text, end, place, found[2], is_partial=found[3] == b"P")
            elif (written := _record(body)) is not None:
                self._place(written.text, end, place, written.stream, is_partial=written.is_partial)
        if not self._open:
            return self._release(len(held))
        first = min(partial.place for partial in self._open.values())
        if len(held) - first > MAX_HELD_LINES or sum(map(len, held[first:])) > MAX_HELD_BYTES:
            ready = self._release(len(held))
            self._open.clear()
            return ready
        return self._release(first)

    def _place(self, text: bytes, end: bytes, place: int, stream: bytes, *, is_partial: bool) -> None:
        """Puts a line's text where its first part stands."""
        partial = self._open.get(stream)
        if partial is None:
            self._held[place] = text + end
            if is_partial:
                self._open[stream] = _Partial(place, [text], end, len(text))
            return
        found = _CRI.match(text) if _CRI.match(partial.parts[0]) else None
        partial.parts.append(text[found.end() :] if found else text)  # the first part has said `time stream F `
        partial.size += len(partial.parts[-1])
        self._held[place] = end
        if not is_partial or partial.size > MAX_JOINED_BYTES:
            self._held[partial.place] = partial.joined()
            del self._open[stream]

    def _release(self, count: int) -> bytes:
        for partial in self._open.values():
            if partial.place < count:
                self._held[partial.place] = partial.joined()
        ready = b"".join(self._held[:count])
        del self._held[:count]
        for partial in self._open.values():
            partial.place -= count
        return ready


@dataclass(slots=True)
class _Partial:
    """An open line: where its first part stands among the held lines, its parts, the end of that place, and the bytes."""

    place: int
    parts: list[bytes]
    end: bytes
    size: int

    def joined(self) -> bytes:
        return b"".join(self.parts) + self.end


def _record(line: bytes) -> Written | None:
    """What a collector or a logger put into a line of JSON, or of keys and values."""
    if line.startswith(_JSON_STARTS):
        return undress_json(line)
    if _LOGFMT.match(line) is None and (_KEYED.match(line) is None or _CRI.match(line) is not None):
        return None
    text = undress_logfmt(line)
    return None if text is None else Written(text, False, b"logfmt")


def _of_program(found: re.Match[bytes]) -> bytes:
    """The text of a record behind a prefix that the tables know; a dict that was printed stays as it is."""
    place = found[1].decode("utf-8", "replace")
    record = found[2].removesuffix(b"\r")
    written = undress_json(record) if split_prefix(f"{place}[rank0]: x").rank == 0 else None
    if written is None or written.is_partial:
        return found[0]
    return found[1] + written.text.replace(b"\r", b"\r" + found[1]) + found[2][len(record) :]


def _undressed(data: bytes, marks: Marks) -> bytes:
    """Takes off what is put around parts of lines, one layer after the other, where its marks stand."""
    for literals, change in _LAYERS:
        if not literals.isdisjoint(marks):
            changed = change(data)
            if changed != data:
                data, marks = changed, marks_of(changed)
    return data


_LAYERS = (
    (frozenset(ESCAPED_LITERALS), unescape),
    (frozenset(ANSI_LITERALS), strip_ansi),
    (frozenset(TAG_LITERALS), untag),
    (frozenset(BOX_LITERALS), unbox),
)
