"""Shared memory between `diagnose run` and its two helpers: bytes copied, when last something moved, signals seen.

Plain numbers at fixed places in an anonymous map: no lock, no message, and a helper that is started again goes on
from them. Times are `time.monotonic()` seconds, which all processes of a machine share.
"""

from __future__ import annotations

import mmap
import struct
import time

STREAMS = 2
_TOTALS, _MOVED = 0, 8 * STREAMS
_FOLDER = _MOVED + 8 * STREAMS
_SIGNALS = _FOLDER + 8  # 8 bytes for each, of which Linux numbers 64


class Board:
    """What the processes of one run tell each other."""

    __slots__ = ("_map",)

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, mmap.PAGESIZE)
        for slot in range(STREAMS):
            struct.pack_into("d", self._map, _MOVED + 8 * slot, time.monotonic())

    def total_bytes(self, slot: int) -> int:
        """How many bytes the stream has carried."""
        return int(struct.unpack_from("Q", self._map, 8 * slot)[0])

    def add(self, slot: int, count_bytes: int) -> int:
        """Counts bytes that went through; returns where in the stream they began."""
        before = self.total_bytes(slot)
        struct.pack_into("d", self._map, _MOVED + 8 * slot, time.monotonic())
        struct.pack_into("Q", self._map, 8 * slot, before + count_bytes)
        return before

    def touch_folder(self) -> None:
        """Notes that something in the launcher's log folder changed."""
        struct.pack_into("d", self._map, _FOLDER, time.monotonic())

    def last_move(self) -> float:
        """When anything last moved: a stream or the log folder."""
        return max(float(moved) for moved in struct.unpack_from(f"{STREAMS + 1}d", self._map, _MOVED))

    def note_signal(self, number: int) -> None:
        """Notes that the sentinel, a bystander in the job's process group, got this signal."""
        struct.pack_into("d", self._map, _SIGNALS + 8 * number, time.monotonic())

    def signal_seen(self, number: int) -> float:
        """When the sentinel last got this signal; 0 for never."""
        return float(struct.unpack_from("d", self._map, _SIGNALS + 8 * number)[0])
