"""The bounded copy of a stream that `diagnose run` keeps: parts in a folder, written as they come, joined when wanted."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from contextlib import suppress

HEAD_BYTES = 8 << 20  # start-up lines: versions, world size, launcher's settings
TAIL_BYTES = 32 << 20  # what led to the end, also where 64 ranks print their tracebacks
_TAIL_PARTS = 4  # with the one that grows one more
_BLOCK_BYTES = 1 << 20
_MOST_FILES = 4_000  # of a larger folder, the first ones found
_PART = re.compile(r"(.+)\.(\d{1,9})\.part")  # stdout.0.part is the head


def open_new(path: str) -> int:
    """Opens a file for its owner only; one that lies there is put aside, and a link never followed."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


class Kept:
    """Where the copy of one stream goes: a head, and as many of the parts behind it as hold `tail_bytes`."""

    __slots__ = ("_number", "_part_bytes", "_room_bytes", "fd", "path")

    def __init__(self, path: str, tail_bytes: int = TAIL_BYTES, head_bytes: int = HEAD_BYTES) -> None:
        self.path, self._part_bytes = path, max(1, tail_bytes // _TAIL_PARTS)
        self._number, self._room_bytes = 0, head_bytes
        clear(path)  # of an earlier run that was killed
        self.fd = open_new(f"{path}.0.part")

    def write(self, data: memoryview) -> None:
        """Stores what the stream carried; a full disk loses the copy, not the job."""
        with suppress(OSError):
            while data:
                if self._room_bytes <= 0:
                    self._begin(self._number + 1)
                count = os.write(self.fd, data[: self._room_bytes])
                self._room_bytes -= count
                data = data[count:]

    def go_on(self) -> None:
        """Takes up the copy where one who was killed left it."""
        with suppress(OSError):
            self._begin(1 + max(_numbers(self.path), default=0))

    def _begin(self, number: int) -> None:
        fd = open_new(f"{self.path}.{number}.part")
        os.close(self.fd)
        self.fd, self._number, self._room_bytes = fd, number, self._part_bytes
        if number - _TAIL_PARTS > 1:
            os.unlink(f"{self.path}.{number - _TAIL_PARTS - 1}.part")


def streams_in(folder: str) -> list[str]:
    """Yield the paths of the copies in a folder, as `Kept` has them."""
    return sorted({match[1] for path in glob.glob(f"{glob.escape(folder)}/*.part") if (match := _PART.fullmatch(path))})


def join(path: str, *, live: bool = False) -> int:
    """Write a copy's parts in order into `path`.log; yield how many bytes in the middle were not kept. The parts go, unless
    the stream still grows (`live`); a stream that carried nothing leaves no log."""
    missing, before = 0, 0
    with open(open_new(f"{path}.log"), "wb") as log:
        for number in _numbers(path):
            with suppress(FileNotFoundError), open(f"{path}.{number}.part", "rb") as part:  # it may be overtaken
                if number > before + 1:
                    missing = (number - before - 1) * os.fstat(part.fileno()).st_size
                    log.write(f"\n[diagnose run: {missing} bytes here are not kept]\n".encode())
                while block := part.read(_BLOCK_BYTES):
                    log.write(block)
                before = number
        is_empty = log.tell() == 0
    if not live:
        clear(path)
    if is_empty:
        os.unlink(f"{path}.log")
    return missing


def clear(path: str) -> None:
    """Remove a copy's parts."""
    for number in _numbers(path):
        with suppress(OSError):
            os.unlink(f"{path}.{number}.part")


def _numbers(path: str) -> list[int]:
    found = (_PART.fullmatch(part) for part in glob.glob(f"{glob.escape(path)}.*.part"))
    return sorted(int(match[2]) for match in found if match and match[1] == path)


def fingerprint(patterns: Sequence[str]) -> tuple[int, int, float]:
    """Count, bytes and newest change of the files that match or lie below: what any line written changes."""
    count, size_bytes, newest = 0, 0, 0.0
    waiting = [path for pattern in patterns for path in glob.glob(pattern)]
    while waiting and count < _MOST_FILES:
        path = waiting.pop()
        try:
            if os.path.isdir(path):
                waiting += [entry.path for entry in os.scandir(path) if not entry.is_symlink()]
                continue
            status = os.stat(path)
        except OSError:
            continue
        count, size_bytes, newest = count + 1, size_bytes + status.st_size, max(newest, status.st_mtime)
    return count, size_bytes, newest
