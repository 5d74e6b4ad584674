"""How far reading is, in one line of a terminal that is redrawn."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from ..sources.bounds import Deadline
from ..sources.paths import files_below

PATIENCE_S = 1.0  # what is read sooner needs no bar
REDRAW_S = 0.2
MEASURE_S = 0.2  # so long may it take to find out how much there is
BAR_WIDTH = 24


class ProgressLine:
    """Told (source, bytes read of it so far), says how many files and bytes were read, of `paths` if they are known."""

    def __init__(self, stream: TextIO | None = None, paths: Sequence[str] = ()) -> None:
        self._stream = stream or sys.stderr
        self._paths = paths
        self._whole: int | None = None  # bytes; 0 where they cannot be counted soon
        self._bytes: dict[str, int] = {}
        self._total = 0
        self._is_drawn = False
        self._last_s = time.monotonic() + PATIENCE_S - REDRAW_S

    def __call__(self, source: str, count: int) -> None:
        """Take in what was read."""
        before = self._bytes.get(source, 0)
        if count > before:
            self._bytes[source] = count
            self._total += count - before
        now_s = time.monotonic()
        if now_s - self._last_s >= REDRAW_S:
            self._last_s = now_s
            self._say()

    def finish(self) -> None:
        """Take the line away again."""
        if self._is_drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _say(self) -> None:
        self._is_drawn = True
        if self._whole is None:
            found = [files_below(path, set(), Deadline.after(MEASURE_S)) for path in self._paths]
            sizes = [os.path.getsize(file) for files, _ in found for file in files if os.path.isfile(file)]
            self._whole = 0 if any(is_cut for _, is_cut in found) else sum(sizes)
        text = f"diagnose: read {self._total / 1e6:,.1f} MB of {len(self._bytes):,} files"
        if 0 < self._total <= self._whole:
            share = self._total / self._whole
            bar = "#" * int(share * BAR_WIDTH)
            text = f"diagnose: reading [{bar:-<{BAR_WIDTH}}] {share:4.0%} of {self._whole / 1e6:,.0f} MB"
        self._stream.write(f"\r{text}")
        self._stream.flush()
