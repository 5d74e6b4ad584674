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
        self._stream, self._paths = stream or sys.stderr, paths
        self._whole: int | None = None  # bytes; 0 where they cannot be counted soon
        self._bytes: dict[str, int] = {}
        self._is_drawn = False
        self._last_s = time.monotonic() + PATIENCE_S - REDRAW_S

    def __call__(self, source: str, count: int) -> None:
        """Take in what was read."""
        self._bytes[source] = max(count, self._bytes.get(source, 0))
        if time.monotonic() - self._last_s >= REDRAW_S:
            self._last_s, self._is_drawn = time.monotonic(), True
            self._write(f"\r{self._said()}")

    def finish(self) -> None:
        """Take the line away again."""
        if self._is_drawn:
            self._write("\r\x1b[K")

    def _said(self) -> str:
        if self._whole is None:
            found = [files_below(path, set(), Deadline.after(MEASURE_S)) for path in self._paths]
            sizes = [os.path.getsize(file) for files, _ in found for file in files if os.path.isfile(file)]
            self._whole = 0 if any(is_cut for _, is_cut in found) else sum(sizes)
        total = sum(self._bytes.values())
        if not 0 < total <= self._whole:
            return f"diagnose: read {total / 1e6:,.1f} MB of {len(self._bytes):,} files"
        bar = "#" * int(total / self._whole * BAR_WIDTH)
        return f"diagnose: reading [{bar:-<{BAR_WIDTH}}] {total / self._whole:4.0%} of {self._whole / 1e6:,.0f} MB"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
