"""The bounded copy of a stream: its head and a ring of its tail, in one file of fixed size.

In: bytes and where in the stream they stand. Out: after `unroll`, a log file: head, one line that says how much is
missing, tail. The place of a byte follows from its number alone, so that a copier that is started again goes on.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ..lines.record import record

HEAD_BYTES = 8 << 20  # start-up lines: versions, world size, launcher's settings
TAIL_BYTES = 32 << 20  # what led to the end, also where 64 ranks print their tracebacks
_LIVE_SLACK_BYTES = 4 << 20  # of a running job, the oldest part of the ring may be overwritten while it is read
_BLOCK_BYTES = 1 << 20


def open_new(path: str) -> int:
    """Opens a file for its owner only; one that lies there is put aside, and a link never followed."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


@record
class Kept:
    """Where a stream's copy lies: bytes 0..head of the file are the head, the rest is the ring."""

    path: str
    head_bytes: int = HEAD_BYTES
    tail_bytes: int = TAIL_BYTES

    def write(self, fd: int, start: int, data: memoryview) -> None:
        """Stores bytes that stand at `start` of the stream; a full disk loses the copy, not the job."""
        try:
            while data:
                offset, room = self._place(start)
                count = os.pwrite(fd, data[:room], offset)
                start, data = start + count, data[count:]
        except OSError:
            return

    def _place(self, start: int) -> tuple[int, int]:
        if start < self.head_bytes:
            return start, self.head_bytes - start
        around = (start - self.head_bytes) % self.tail_bytes
        return self.head_bytes + around, self.tail_bytes - around

    def unroll(self, total_bytes: int, target: str, live: bool = False) -> int:
        """Writes the kept bytes in order to `target`; returns how many of the stream's bytes are missing."""
        missing = max(0, total_bytes - self.head_bytes - self.tail_bytes)
        if missing and live:
            missing = min(missing + _LIVE_SLACK_BYTES, total_bytes - self.head_bytes)
        source = os.open(self.path, os.O_RDONLY)
        sink = open_new(target)
        try:
            head_end = min(total_bytes, self.head_bytes)
            self._copy(source, sink, 0, head_end)
            if missing:
                os.write(sink, f"\n[diagnose run: {missing} bytes after the first {head_end} are not kept]\n".encode())
            self._copy(source, sink, head_end + missing, total_bytes)
        finally:
            os.close(source)
            os.close(sink)
        return missing

    def _copy(self, source: int, sink: int, start: int, end: int) -> None:
        while start < end:
            offset, room = self._place(start)
            data = os.pread(source, min(room, end - start, _BLOCK_BYTES), offset)
            if not data:
                return
            os.write(sink, data)
            start += len(data)
