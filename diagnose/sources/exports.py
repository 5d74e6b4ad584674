"""Log lines in the files that consoles and editors export, as the lines that were logged.

In: an answer of Loki's interface, threads that py-spy wrote as JSON, a table (CSV, TSV), a notebook, a web page. Out: the
lines, of all but Loki's answer where they stand in the file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from .bounds import read_up_to
from .collector_json import collectors, printed_time
from .escapes import string_of

_PIECES, *_OTHERS = patterns(__file__, "exports")
_PIECE = lazy(_PIECES)
_OPENS, _ITEM, PAGE, _TAG, _BREAK, _PRE = (lazy(row.encode()) for row in _OTHERS)


class Reader:
    """Gives the lines that were printed, block after block, as many as it is fed."""

    def feed(self, data: bytes, /) -> bytes:
        """Yield the lines that are complete, as many as `data` has: over all calls as many line ends come out as go in."""
        raise NotImplementedError

    def finish(self) -> bytes:
        """Yield what was held back."""
        return b""


# --- Loki -------------------------------------------------------------------------------------------------------
# `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"pod":"p"},"values":[["17…","text"]]}]}}`, which
# `curl …/loki/api/v1/query_range` and Grafana save, becomes `2026-11-20T17:03:28.123456+00:00 [pod/p/c] text`

MAX_ANSWER_BYTES = 16 << 20  # Loki gives 5,000 lines at most, unless it is told to
MAX_LINES = 100_000  # twenty times as many; a line takes 16 us and a third of a kilobyte
_UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, RecursionError)

Entry = tuple[int, int, int, str]  # time in ns, number of the stream, place in it, line


def lines_of_answer(read: Callable[[int], bytes | None], damage: list[str]) -> list[str]:
    """Yield the lines, woven by time; of a broken answer the whole ones, which `damage` then says."""
    data = read_up_to(MAX_ANSWER_BYTES + 1, read)
    entries = None
    is_large = len(data) > MAX_ANSWER_BYTES or data.count(b'["') > MAX_LINES
    if not is_large:
        with suppress(*_UNREADABLE):
            entries = _answered(json.loads(data), damage)
    if entries is None:
        entries = sorted(_whole_entries(data.decode("utf-8", "replace")))
        what = "larger than is read" if is_large else "cut off or broken"
        damage.append(f"an answer of Loki that is {what}: {len(entries) or 'no'} lines of it could be read; ask it again")
    return [line for *_, line in entries]


def _answered(answer: dict[str, Any], damage: list[str]) -> list[Entry]:
    """The lines of a whole answer, oldest first; an answer that says why there are none has this reason in `damage`."""
    if answer["status"] != "success":
        damage.append(f"Loki answered with an error, not with lines ({str(answer.get('error'))[:200]})")
        return []
    return sorted(entry for number, each in enumerate(answer["data"]["result"]) for entry in _entries(number, each))


def _entries(number: int, answered: dict[str, Any]) -> Iterator[Entry]:
    """Each line with what it is sorted by: of one moment, a stream's lines keep the order in which they were sent."""
    values = [(int(value[0]), str(value[1])) for value in answered["values"]]
    if values and values[0][0] > values[-1][0]:
        values.reverse()  # newest first, as Loki answers by itself
    labels = answered.get("stream") or {}
    pod = labels.get("pod") or labels.get("pod_name") or labels.get("instance")
    who = f"[pod/{pod}/{labels.get('container') or 'main'}] " if pod else ""
    for place, (time_ns, text) in enumerate(values):
        for line in text.rstrip("\r\n").split("\n"):
            yield time_ns, number, place, f"{printed_time(time_ns // 1000)} {who}{line}"


def _whole_entries(text: str) -> Iterator[Entry]:
    """The first lines, each under the labels before it; a piece that is broken spoils no other."""
    streams: list[dict[str, Any]] = []
    for piece in islice(_PIECE.finditer(text), MAX_LINES):
        with suppress(*_UNREADABLE):
            if piece["time"] is None:
                labels = json.loads(f"{{{piece['labels']}}}") if piece["labels"] else {}
                streams.append({**labels, "values": []})
            elif streams:
                streams[-1]["values"].append([piece["time"], json.loads(piece["line"])])
    for number, each in enumerate(streams):
        with suppress(*_UNREADABLE):
            yield from _entries(number, each)


# --- `py-spy dump --json`: the threads of processes, as py-spy prints them else, from the line on where each stands ---

MAX_STACKS_BYTES = 16 << 20  # a hundred times what a thousand threads take
_BETWEEN = lazy(r"[\s\[\],]*")
_DECODER = json.JSONDecoder()


def lines_of_threads(read: Callable[[int], bytes | None], damage: list[str]) -> list[str]:
    """Yield the lines; where the threads are cut off, `damage` says so."""
    text = read_up_to(MAX_STACKS_BYTES + 1, read).decode("utf-8", "replace")
    lines, at, number, pid = list[str](), 0, 0, None
    with suppress(ValueError, RecursionError):
        while (begin := at + len(_BETWEEN.match(text, at)[0])) < len(text):  # type: ignore[index]
            thread, end = _DECODER.raw_decode(text, begin)
            number, at = number + text.count("\n", at, begin), end
            if isinstance(thread, dict) and isinstance(thread.get("frames"), list) and isinstance(thread.get("pid"), int):
                lines += [""] * (number - len(lines))
                lines += [f"Process {thread['pid']}: "] if thread["pid"] != pid else []
                lines += _as_printed(thread)
                pid = thread["pid"]
            number += text.count("\n", begin, end)
    if text[at:].strip() != "]":
        damage.append("cut off or broken: the threads behind that place are missing")
    return lines


def _as_printed(thread: dict[str, Any]) -> Iterator[str]:
    state = ("active" if thread.get("active") else "idle") + ("+gil" if thread.get("owns_gil") else "")
    name = f': "{named}"' if (named := thread.get("thread_name")) else ""
    yield f"Thread {thread.get('os_thread_id') or thread.get('thread_id')} ({state}){name}"
    for frame in (f for f in thread["frames"] if isinstance(f, dict)):
        file = frame.get("short_filename") or frame.get("filename") or frame.get("module") or ""
        line = f":{frame['line']}" if isinstance(frame.get("line"), int) else ""
        yield f"    {frame.get('name') or '??'} ({file}{line})"


READ_WHOLE = {"loki": lines_of_answer, "json-stacks": lines_of_threads}  # by kind of source


# --- tables: a column of messages among columns of times, hosts and services ---------------------------------------

MAX_RECORD = 1 << 20  # bytes; a longer one is an open quotation mark that nobody closes
MAX_HEADER = 2_000


def delimiter_of(head: bytes) -> str | None:
    """Yield what parts the columns of a table of log lines, as CloudWatch, Datadog, Splunk and Azure export it."""
    header, end, _ = head.partition(b"\n")
    if not end or len(header) > MAX_HEADER:
        return None
    for delimiter in (",", "\t", ";"):
        names = _names(header, delimiter)
        if _first_of(names, "messages") >= 0 and max(_first_of(names, "times"), _first_of(names, "others")) >= 0:
            return delimiter
    return None


class TableReader(Reader):
    """Reads the messages of a table; one of several lines stands on the first of its own, parted by `\\r`."""

    def __init__(self) -> None:
        self._delimiter: str | None = None
        self._message = self._time = -1
        self._open: list[bytes] = []  # lines of a record whose quotation mark is still open
        self._open_bytes = 0
        self._is_quoted = False

    def feed(self, data: bytes, /) -> bytes:
        """Yield the lines of the records that are complete."""
        *lines, last = data.split(b"\n")
        out: list[bytes] = []
        if self._delimiter is None and lines:
            self._delimiter = delimiter_of(data) or ","
            names = _names(lines.pop(0), self._delimiter)
            self._message, self._time = _first_of(names, "messages"), _first_of(names, "times")
            out.append(b"")
        for line in lines:
            out += self._read(line)
        return b"".join([line + b"\n" for line in out]) + b"\n".join(self._read(last) if last else [])

    def finish(self) -> bytes:
        """Yield a record that the end of the file cut off."""
        return b"\n".join(self._open)

    def _read(self, line: bytes) -> list[bytes]:
        """The texts of the record that `line` ends."""
        self._open.append(line)
        self._open_bytes += len(line) + 1
        self._is_quoted ^= line.count(b'"') % 2 == 1
        if self._is_quoted and self._open_bytes < MAX_RECORD:
            return []
        record, self._open, self._open_bytes, self._is_quoted = self._open, [], 0, False
        if not line and len(record) == 1:
            return [b""]
        text = b"\n".join(record).decode("utf-8", "surrogateescape").replace("\r\n", "\n").rstrip("\r")
        fields = _row(text, self._delimiter or ",")
        if len(fields) <= max(self._message, self._time):
            return record
        when = f"{fields[self._time]} " if self._time >= 0 and fields[self._time] else ""
        printed = "\r".join([when + part for part in fields[self._message].rstrip("\n").split("\n")])
        return [printed.encode("utf-8", "surrogateescape"), *[b""] * (len(record) - 1)]


def _first_of(names: list[str], kind: str) -> int:
    """Which column is the first of this kind, as `collectors.yaml` lists them; -1: none is."""
    return next((n for n, name in enumerate(names) if name in collectors()["columns"][kind]), -1)


def _names(header: bytes, delimiter: str) -> list[str]:
    row = _row(header.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r"), delimiter)
    return [name.strip().lower() for name in row] if len(row) > 1 else []


def _row(text: str, delimiter: str) -> list[str]:
    with suppress(csv.Error):
        return next(csv.reader([text], delimiter=delimiter), [])
    return []


# --- notebooks and web pages -------------------------------------------------------------------------------------


class LineMask(Reader):
    """Keeps some lines, or parts of them, and blanks the others, block after block: as many come out."""

    def feed(self, data: bytes, /) -> bytes:
        """Yield `data` with as many lines."""
        return b"\n".join([self._keep(line) for line in data.split(b"\n")])

    def _keep(self, line: bytes) -> bytes:
        raise NotImplementedError


class NotebookMask(LineMask):
    """Keeps what the cells of a notebook printed, of the JSON that Jupyter writes, a string a line; all else is blank."""

    _is_output = False

    def _keep(self, line: bytes) -> bytes:
        if not self._is_output:
            self._is_output = _OPENS.match(line) is not None
            return b""
        found = _ITEM.match(line)
        self._is_output = found is not None
        return string_of(found[1]) if found else b""


class PageMask(LineMask):
    """Keeps what stands inside `<pre>`, without its tags; of a page that has none, all text. Entities go later."""

    _has_pre: bool | None = None
    _is_inside = False

    def feed(self, data: bytes, /) -> bytes:
        """Yield `data` with as many lines."""
        if self._has_pre is None:
            self._has_pre = _PRE.search(data) is not None
        return super().feed(data)

    def _keep(self, line: bytes) -> bytes:
        if self._has_pre and b"<" in line:
            kept, at = b"", 0
            for tag in _PRE.finditer(line):
                kept += line[at : tag.start()] if self._is_inside else b""
                self._is_inside, at = not tag[1], tag.end()
            line = kept + (line[at:] if self._is_inside else b"")
        elif self._has_pre and not self._is_inside:
            return b""
        return _TAG.sub(b"", _BREAK.sub(b"\r", line))
