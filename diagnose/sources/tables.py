"""Log lines that a collector exported as a table (CSV, TSV), as the text that was logged, with its time before it.

In: the lines of the file; the first names the columns. Out: as many lines: a quoted message of several lines stands on
the first of its own, parted by `\\r`, on which the line reader splits. Known from exports of CloudWatch, Datadog, Splunk,
Azure and Google Cloud: a column of messages among columns of times, hosts and services.
"""

from __future__ import annotations

import csv

from .form_reader import Reader

_MESSAGES = (
    "message", "@message", "msg", "log", "line", "content", "_raw", "textpayload", "logmessage", "rawdata",
    "jsonpayload.message",
)  # fmt: skip
_TIMES = ("timestamp", "@timestamp", "time", "date", "_time", "timegenerated", "datetime", "receivetimestamp")
_OTHERS = (
    "host", "service", "hostname", "pod", "podname", "container", "severity", "level", "status", "logstream", "@logstream",
)  # fmt: skip
MAX_RECORD = 1 << 20  # bytes; a longer one is an open quotation mark that nobody closes
MAX_HEADER = 2_000


def delimiter_of(head: bytes) -> str | None:
    """Yield what parts the columns of a table of log lines; None for any other text."""
    header, end, _ = head.partition(b"\n")
    if not end or len(header) > MAX_HEADER:
        return None
    for delimiter in (",", "\t", ";"):
        names = _names(header, delimiter)
        if any(name in _MESSAGES for name in names) and any(name in (*_TIMES, *_OTHERS) for name in names):
            return delimiter
    return None


class TableReader(Reader):
    """Reads the messages of a table, block after block."""

    def __init__(self) -> None:
        self._delimiter: str | None = None
        self._message = self._time = -1
        self._open: list[bytes] = []  # lines of a record whose quotation mark is still open
        self._open_bytes = 0
        self._is_quoted = False

    def feed(self, data: bytes) -> bytes:
        """Gives the lines of the records that are complete; over all calls as many line ends come out as went in."""
        *lines, last = data.split(b"\n")
        out: list[bytes] = []
        if self._delimiter is None and lines:
            self._delimiter = delimiter_of(data) or ","
            self._read_header(lines[0])
            out.append(b"")
            del lines[0]
        for line in lines:
            out += self._read(line)
        return b"".join([line + b"\n" for line in out]) + b"\n".join(self._read(last) if last else [])

    def finish(self) -> bytes:
        """Gives a record that the end of the file cut off."""
        return b"\n".join(self._open)

    def _read_header(self, header: bytes) -> None:
        names = _names(header, self._delimiter or ",")
        self._message = next((n for n, name in enumerate(names) if name in _MESSAGES), -1)
        self._time = next((n for n, name in enumerate(names) if name in _TIMES), -1)

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
        try:
            fields = next(csv.reader([text], delimiter=self._delimiter or ","), [])
        except csv.Error:
            return record
        if len(fields) <= max(self._message, self._time):
            return record
        when = f"{fields[self._time]} " if self._time >= 0 and fields[self._time] else ""
        printed = "\r".join([when + part for part in fields[self._message].rstrip("\n").split("\n")])
        return [printed.encode("utf-8", "surrogateescape"), *[b""] * (len(record) - 1)]


def _names(header: bytes, delimiter: str) -> list[str]:
    text = header.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r")
    try:
        row = next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [name.strip().lower() for name in row] if len(row) > 1 else []
