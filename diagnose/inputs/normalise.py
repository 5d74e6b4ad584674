"""Lines in the dress of a collector (ANSI, docker/CRI/journald JSON, NUL holes) as the lines that were written.

In: bytes that end at a line end. Out: as many lines, so that line numbers stay those of the file: a message of several
lines keeps its one line and is parted by `\\r`, which the line reader splits on; the parts of a partial line
are joined at the place of the first, the others become empty.
"""

from __future__ import annotations

import re

from ..lazy_pattern import lazy
from ..prefixes import split_prefix
from .dress import Written, undress_json, undress_logfmt
from .escaped import ESCAPED_LITERALS, is_escaped, unescape
from .line_changes import change_lines, change_marked_lines
from .rich_boxes import BOX_LITERALS, has_box, unbox
from .tags import TAG_LITERALS, is_tagged_within, untag

# A superset of what `normalise` can change, to be looked for natively in one pass together with other literals:
# a block in which none occurs needs no normalising. (A JSON line begins a block or follows a line end.)
DRESS_LITERALS: tuple[bytes, ...] = (
    b"\x1b", b"\x00", b"\xef\xbb\xbf", b'\n{"', b'\n{ "', b" stdout P ", b" stderr P ",
    b"#033[", b"\\x1b[", b"\\x1B[", b"\\u001b[", b"\\u001B[", b"\\033[", b"\\e[", b"^[[", b"[0m", b"[39m", b"[0;0m",
    b"[31m(", b"[32m(", b"[33m(", b"[34m(", b"[35m(", b"[36m(", b"[1;36m(",
    b' msg="', b"event='", b'event="', b' {"', *ESCAPED_LITERALS, *TAG_LITERALS, *BOX_LITERALS,
)  # fmt: skip

MAX_JOINED_BYTES = 1 << 20  # CRI and docker cut at 16 KiB; a longer chain is passed on in pieces
MAX_HELD_LINES = 4096  # lines of the other stream that may stand between two parts
MAX_HELD_BYTES = 8 << 20

# ESC [ … letter (CSI), ESC ] … BEL (OSC: titles, links), ESC P/X/^/_ … ESC \ (strings), ESC and one or two characters
_ANSI = lazy(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}([@-~])|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)"
    rb"|[PX^_][^\x1b\n]{0,2048}\x1b\\|[ -/]{1,2}[0-~]|[0-~])?"
)
_COLOUR = lazy(rb"\x1b\[[0-9;]{0,64}[mK]")
# The same as syslog (`#033[31m`), a repr or JSON (`\x1b[31m`, `\u001b[31m`, `\033[31m`) or `cat -v` (`^[[0m`) write it.
_WRITTEN_ANSI = lazy(rb"(?:#033|\\(?:x1[bB]|u001[bB]|033|e)|\^\[)\[[0-9;?]{0,32}([A-Za-z])")
_WRITTEN_MARK = (b"#033[", b"^[[")
_WRITTEN_BACKSLASH = lazy(rb"\\(?:x1[bB]|u001[bB]|033|e)\[")
# A collector that drops control characters leaves `[36m(Trainer pid=28717)[0m text`; only a colour with its reset goes,
# vLLM's `[0;0m` too, and one before the name of a Ray process, whose reset a copied message left behind.
_BARE_RESET = lazy(rb"\[(?:(?:0(?:;0)?|39)m|(?:1;36|3[1-6])m\((?:raylet|autoscaler|\w{1,80} pid=\d))")
_BARE_COLOUR = lazy(rb"\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m")
# Cursor movements start another text on the screen, as a carriage return does; colours and erasures print nothing.
_MOVES = frozenset([b"A", b"B", b"E", b"F", b"G", b"H", b"f"])

# 2026-04-22T21:34:20.123456789Z stderr P first 16 KiB of a line
_CRI = lazy(rb"(\d{4}-\d\d-\d\dT[0-9:.]{8,18}(?:Z|[+-]\d\d:\d\d) (stdout|stderr)) ([PF])(?::[A-Z:]{1,8})? ")
_CRI_PARTIAL = lazy(rb" std(?:out|err) P ")
# Docker's own form without escapes: nearly all lines of nearly all files, and 10 times faster than as JSON
_DOCKER = lazy(rb'(?m)^\{"log":"([^"\\\n]*)\\n","stream":"(stdout|stderr)","time":"([0-9T:.Z+-]{20,40})"\}$')
_JSON_LINE = lazy(rb'\n\{ ?"')
# A program's own JSON behind what a collector puts before each line: `trainer-1  | {"message":"text","level":"info"}`
_BEHIND = lazy(
    rb'(?m)^((?!\{)[^\n{]{1,200}? )(?=\{"[^\n]{0,8000}?"(?:message|msg|text|event|log)" ?: ?")([^\n]+)'
)
_LOGFMT = lazy(rb'(?m)^(?:time|ts|t|timestamp)="?[0-9][^"\s]{9,40}"? [^\n]{0,400}?\bmsg="')
# structlog's KeyValueRenderer and LogfmtRenderer: `timestamp='2026-…' level='error' event='text' rank=2`
_KEYED = lazy(
    rb"""(?m)^(?:\w{1,20}=(?:'[^'\n]{0,80}'|"[^"\n]{0,80}"|[^\s'"]{1,80}) ){0,8}event=['"]"""
)
_EVENT = (b"event='", b'event="')
_NUL, _BOM = b"\x00", b"\xef\xbb\xbf"
_JSON_STARTS = (b'{"', b'{ "')
_JSON_MARKS = (b'\n{"', b'\n{ "')
_CRI_MARKS = (b" stdout P ", b" stderr P ")
_LOGFMT_MARK, _BEHIND_MARK = b' msg="', b' {"'
_RECORD_MARKS = frozenset((*_JSON_MARKS, *_CRI_MARKS, _LOGFMT_MARK, *_EVENT, _BEHIND_MARK))
# What is looked for where such a mark was found; a text that begins with a blank takes longest to look for.
_RECORD_TEXTS = ((_JSON_MARKS[0], b'{"'), (_JSON_MARKS[1], b'{ "'), (_LOGFMT_MARK, b'msg="'), *((e, e) for e in _EVENT))

Marks = frozenset[bytes]


def marks_of(data: bytes) -> Marks:
    """Yields which of DRESS_LITERALS stand in `data`; one that follows a line end counts at the start too."""
    found = {literal for literal in DRESS_LITERALS if literal in data}
    return frozenset(found | marks_at_start(data))


def marks_at_start(data: bytes) -> set[bytes]:
    """Yields the marks of a JSON line with which `data` begins."""
    return {mark for mark in _JSON_MARKS if data.startswith(mark[1:])}


def needs_normalising(data: bytes) -> bool:
    """Tells whether `normalise` could change `data`; tests for rare bytes first, which is nearly free."""
    return (
        b"\x1b" in data
        or b"\x00" in data
        or _has_json_line(data)
        or (b"\xef" in data and _BOM in data)
        or (b"\\" in data and _WRITTEN_BACKSLASH.search(data) is not None)
        or any(mark[:1] in data and mark in data for mark in _WRITTEN_MARK)
        or _BARE_RESET.search(data) is not None
        or _CRI_PARTIAL.search(data) is not None
        or _has_logfmt_line(data)
        or is_escaped(data)
        or is_tagged_within(data)
        or has_box(data)
        or (b' {"' in data and _BEHIND.search(data) is not None)
    )


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
        """Gives the lines that are complete; over all calls as many line ends come out as went in.

        `marks`: those of `data`, where they are known already. Only what they stand for is looked for.
        """
        marks = marks_of(data) if marks is None else marks
        if _NUL in marks or _BOM in marks:
            data = data.translate(None, _NUL)  # `replace` takes five times as long where a block is full of them
            data = data.replace(_BOM, b"")
            marks = marks_of(data)
        if self._open or marks & _RECORD_MARKS:
            data, marks = self._without_records(data, marks)
        return _undressed(data, marks)

    def _without_records(self, data: bytes, marks: Marks) -> tuple[bytes, Marks]:
        """Gives the text of records in their places, and the marks that it bears beside those of the others."""
        texts: list[bytes] = []
        has_json = not marks.isdisjoint(_JSON_MARKS)
        if has_json and b'{"log":"' in data:
            data = _DOCKER.sub(rb"\3 \2 F \1", data)
        has_partial = not marks.isdisjoint(_CRI_MARKS) and _CRI_PARTIAL.search(data) is not None
        if self._open or has_partial or has_json or _has_logfmt_line(data):
            in_place = None if self._open or has_partial else _in_place(data, marks, texts)
            if in_place is None:
                data = self._join(data)
                marks = marks_of(data)
            else:
                data = in_place
        marks = marks.union(*map(marks_of, texts))
        if _BEHIND_MARK in marks:
            data = change_marked_lines((b'{"',), data, lambda line: _BEHIND.sub(lambda found: _of_program(found, texts), line))
        return data, marks.union(*map(marks_of, texts))

    def finish(self) -> bytes:
        """Gives what was held back when the stream ended inside a partial line."""
        rest = self._release(len(self._held))
        self._open.clear()
        return _undressed(rest, marks_of(rest))

    def _join(self, data: bytes) -> bytes:
        held = self._held
        for line in data.splitlines(keepends=True) if b"\r" not in data else _split(data):
            body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
            place = len(held)
            held.append(line)
            if not body.startswith(_JSON_STARTS) and (found := _CRI.match(body)) is not None:
                self._place_cri(body, end, place, found)
            elif (written := _record(body)) is not None:
                self._place(written.text, end, place, written.stream, written.is_partial)
        if not self._open:
            return self._release(len(held))
        first = min(partial.place for partial in self._open.values())
        if len(held) - first > MAX_HELD_LINES or sum(map(len, held[first:])) > MAX_HELD_BYTES:
            ready = self._release(len(held))
            self._open.clear()
            return ready
        return self._release(first)

    def _place_cri(self, body: bytes, end: bytes, place: int, found: re.Match[bytes]) -> None:
        is_partial = found[3] == b"P"
        if is_partial or found[2] in self._open:
            self._place(found[1] + b" F " + body[found.end() :], end, place, found[2], is_partial)

    def _place(self, text: bytes, end: bytes, place: int, stream: bytes, is_partial: bool) -> None:
        """Puts a line's text where its first part stands."""
        partial = self._open.get(stream)
        if partial is None:
            self._held[place] = text + end
            if is_partial:
                self._open[stream] = _Partial(place, [text], end)
            return
        partial.parts.append(_without_prefix(text, partial.parts[0]))
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


class _Partial:
    """An open line: where its first part stands among the held lines, its parts, and the end of that place."""

    __slots__ = ("end", "parts", "place", "size")

    def __init__(self, place: int, parts: list[bytes], end: bytes) -> None:
        self.place = place
        self.parts = parts
        self.size = len(parts[0])
        self.end = end

    def joined(self) -> bytes:
        return b"".join(self.parts) + self.end


def _in_place(data: bytes, marks: Marks, texts: list[bytes]) -> bytes | None:
    """Gives what `_join` does where each record is one whole line, as nearly always; the others are not looked at.

    None where one is not. What the records hold is added to `texts`.
    """
    has_partial = False

    def change(line: bytes) -> bytes:
        nonlocal has_partial
        written = _record(line)
        if written is None:
            return line
        has_partial |= written.is_partial
        texts.append(written.text)
        return written.text

    changed = change_marked_lines([text for mark, text in _RECORD_TEXTS if mark in marks], data, change)
    return None if has_partial else changed


def _record(line: bytes) -> Written | None:
    """What a collector or a logger put into a line of JSON, or of keys and values."""
    if line.startswith(_JSON_STARTS):
        return undress_json(line)
    if _CRI.match(line) is not None or not (_LOGFMT_MARK in line or any(m in line for m in _EVENT)):
        return None
    text = undress_logfmt(line)
    return None if text is None else Written(text, False, b"logfmt")


def _of_program(found: re.Match[bytes], texts: list[bytes]) -> bytes:
    """The text of a record behind a prefix that the tables know; a dict that was printed stays as it is."""
    place = found[1].decode("utf-8", "replace")
    record = found[2].removesuffix(b"\r")
    written = undress_json(record) if split_prefix(f"{place}[rank0]: x").rank == 0 else None
    if written is None or written.is_partial:
        return found[0]
    texts.append(found[1] + written.text.replace(b"\r", b"\r" + found[1]))
    return texts[-1] + found[2][len(record) :]


def _undressed(data: bytes, marks: Marks) -> bytes:
    """Takes off what is put around parts of lines, in the order in which it was put on."""
    for literals, change in _LAYERS:
        if not marks.isdisjoint(literals):
            changed = change(data)
            if changed != data:
                data, marks = changed, marks_of(changed)
    return data


def strip_ansi(data: bytes) -> bytes:
    """Removes colours and other terminal sequences, real ones and written ones; a cursor movement becomes `\\r`."""
    if b"\x1b" in data:
        data = _COLOUR.sub(b"", data)  # nearly all of them; without a call per match it is twice as fast
        data = _ANSI.sub(_replacement, data)
    has_written = b"\\" in data and _WRITTEN_BACKSLASH.search(data) is not None
    if has_written or any(mark in data for mark in _WRITTEN_MARK):
        data = _WRITTEN_ANSI.sub(_replacement, data)
    return change_lines(_BARE_RESET, data, _strip_bare)


_ANSI_LITERALS = tuple(x for x in DRESS_LITERALS if x == b"\x1b" or (b"[" in x and x not in TAG_LITERALS))
_LAYERS = (
    (ESCAPED_LITERALS, unescape),
    (_ANSI_LITERALS, strip_ansi),
    (TAG_LITERALS, untag),
    (BOX_LITERALS, unbox),
)


def _strip_bare(line: bytes) -> bytes:
    is_pair = any(_BARE_RESET.fullmatch(colour) is None for colour in _BARE_COLOUR.findall(line))
    return _BARE_COLOUR.sub(b"", line) if is_pair else line


def _replacement(found: re.Match[bytes]) -> bytes:
    return b"\r" if found[1] in _MOVES else b""


def _without_prefix(text: bytes, first: bytes) -> bytes:
    """Drops a following part's own `time stream F `: the first part has said it."""
    found = _CRI.match(text)
    return text[found.end() :] if found is not None and _CRI.match(first) is not None else text


def _has_json_line(data: bytes) -> bool:
    return data.startswith(_JSON_STARTS) or (b"{" in data and _JSON_LINE.search(data) is not None)


def _has_logfmt_line(data: bytes) -> bool:
    if _LOGFMT_MARK in data and _LOGFMT.search(data) is not None:
        return True
    return any(mark in data for mark in _EVENT) and _KEYED.search(data) is not None


def _split(data: bytes) -> list[bytes]:
    """Splits at line feeds only; `bytes.splitlines` would also split at carriage returns, which count no line."""
    lines = data.split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended
