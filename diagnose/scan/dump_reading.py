"""Flight-recorder dumps among the sources: each one reduced by one child process, whatever it lies in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..sources.source import Source
from .scan import Scan, SourceScan

if TYPE_CHECKING:
    from ..recorder.reader import DumpReader

MAX_UNPACKED_BYTES = 128 << 20  # of a dump in an archive, which this process has to unpack; 50 MB were never seen


class DumpReading:
    """Reads dumps into a scan; the process that loads them is started for the first and kept for the others."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._reader: DumpReader | None = None

    def read(self, source: Source) -> SourceScan:
        """Yield the source's row; why it cannot be read is its `skipped`."""
        from ..recorder.reader import DumpReader, Unreadable

        self._reader = self._reader or DumpReader()
        found = self._reader.read(source.name, _content(source))
        row = SourceScan(source.name, "recorder", bytes=source.size or 0)
        if isinstance(found, Unreadable):
            row.skipped = found.reason
        else:
            self._scan.dumps.append(found)
        return row

    def close(self) -> None:
        """End the process."""
        if self._reader is not None:
            self._reader.close()


def _content(source: Source) -> Path | Callable[[], bytes]:
    """The path of a plain file, which the child reads itself; else what unpacks the bytes."""
    if source.path is not None and not source.layers:
        return Path(source.path)

    def unpack() -> bytes:
        stream = source.open()
        try:
            return read_limited(stream.read, MAX_UNPACKED_BYTES)
        finally:
            stream.close()

    return unpack


def read_limited(read: Callable[[int], bytes | None], limit: int) -> bytes:
    """Yield what a stream holds, up to one byte more than the limit."""
    parts, left = [], limit + 1
    while left > 0 and (part := read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
