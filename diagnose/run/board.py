"""The sentinel, which notes what reaches the job's process group and its log folder, and the board that it notes it on.

The sentinel stands in the job's process group: a signal that reached it too (Ctrl-C, `kill -- -PGID`, `timeout`,
`scancel`) has reached the job already; forwarding it would make two of one, and a launcher that gets a second SIGTERM
aborts its clean-up. It also looks whether anything in the launcher's log folder moves: a stalled file system then holds
up the sentinel and nothing else.
"""

from __future__ import annotations

import glob
import mmap
import os
import select
import signal
import struct
import time
from collections.abc import Collection, Sequence

HIGHEST_FD = 4096  # what a parent that leaks descriptors may have handed us
_LOOK_S = 30.0  # how often the log folder is looked at, at most: a file server has better things to do
_PARENT_S = 5.0  # how soon the sentinel is gone after a parent that was killed
_MOST_FILES = 4_000  # of a larger folder, the first ones found


class Board:
    """When the job last showed life, and when each signal reached its process group: numbers in an anonymous map.

    No lock, no message. Times are `time.monotonic()` seconds, which all processes of a machine share.
    """

    __slots__ = ("_map",)

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, mmap.PAGESIZE)
        self.note()

    def note(self, signal_number: int = 0) -> None:
        """Notes that a signal came to a bystander in the job's process group; 0: that something moved."""
        struct.pack_into("d", self._map, 8 * signal_number, time.monotonic())

    def last(self, signal_number: int = 0) -> float:
        """When that was; 0 for never."""
        return float(struct.unpack_from("d", self._map, 8 * signal_number)[0])


def start_sentinel(board: Board, signals: Collection[int], patterns: Sequence[str], hang_after_s: float | None) -> int:
    """Forks the sentinel, which watches the files that match `patterns`; returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.set_wakeup_fd(-1)
        for number in signals:
            signal.signal(number, lambda got, _frame: board.note(got))
        os.closerange(0, HIGHEST_FD)  # it must keep no pipe open whose end somebody waits for
        pause_s = min(_LOOK_S, hang_after_s / 4) if hang_after_s else _PARENT_S
        before = fingerprint(patterns) if hang_after_s else None
        while os.getppid() == parent:
            select.select([], [], [], pause_s)
            if before is not None and before != (before := fingerprint(patterns)):
                board.note()
    finally:
        os._exit(0)


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
