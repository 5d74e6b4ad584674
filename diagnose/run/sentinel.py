"""The sentinel: a small process that stands in the job's process group and notes what reaches the group.

A signal that reached it too (Ctrl-C, `kill -- -PGID`, `timeout`, `scancel`) has reached the job already; forwarding it
would make two of one, and a launcher that gets a second SIGTERM aborts its clean-up. It also looks whether anything in
the launcher's log folder moves: a stalled file system then holds up the sentinel and nothing else.
"""

from __future__ import annotations

import glob
import os
import select
import signal
from collections.abc import Collection, Sequence

from .board import Board

_LOOK_S = 30.0  # how often the log folder is looked at, at most: a file server has better things to do
_PARENT_S = 5.0  # how soon it is gone after a parent that was killed
_HIGHEST_FD = 4096
_MOST_FILES = 4_000  # of a larger folder, the first ones found


def start_sentinel(board: Board, signals: Collection[int], patterns: Sequence[str], hang_after_s: float | None) -> int:
    """Forks the sentinel, which watches the files that match `patterns`; returns its pid."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _stand(board, signals, patterns, parent, hang_after_s)
        finally:
            os._exit(0)
    return pid


def _stand(
    board: Board, signals: Collection[int], patterns: Sequence[str], parent: int, hang_after_s: float | None
) -> None:
    signal.set_wakeup_fd(-1)
    for number in signals:
        signal.signal(number, lambda got, _frame: board.note_signal(got))
    os.closerange(0, _HIGHEST_FD)  # it must keep no pipe open whose end somebody waits for
    patterns = patterns if hang_after_s else ()
    pause_s = min(_LOOK_S, hang_after_s / 4) if hang_after_s else _PARENT_S
    before = _fingerprint(patterns)
    while os.getppid() == parent:
        select.select([], [], [], pause_s)
        now = _fingerprint(patterns)
        if now != before:
            board.touch_folder()
            before = now


def _fingerprint(patterns: Sequence[str]) -> tuple[int, int, float]:
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
