"""How far reading is, in one line on standard error: redrawn on a terminal, now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

REDRAW_S = 0.2
REPEAT_S = 10.0  # where lines pile up: a batch job's own log


class ProgressLine:
    """Told (source, bytes read of it so far), says how many files and bytes were read."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._bytes: dict[str, int] = {}
        self._total = 0
        self._last_s = time.monotonic() - (0.0 if self._is_terminal else REPEAT_S)

    def __call__(self, source: str, count: int) -> None:
        """Take in what was read."""
        before = self._bytes.get(source, 0)
        if count > before:
            self._bytes[source] = count
            self._total += count - before
        now_s = time.monotonic()
        if now_s - self._last_s >= (REDRAW_S if self._is_terminal else REPEAT_S):
            self._last_s = now_s
            self._say("\r" if self._is_terminal else "", "" if self._is_terminal else "\n")

    def finish(self) -> None:
        """Leave the last state."""
        if self._bytes:
            self._say("\r" if self._is_terminal else "", "\n")

    def _say(self, before: str, after: str) -> None:
        text = f"diagnose: read {self._total / 1e6:,.1f} MB of {len(self._bytes):,} files"
        self._stream.write(f"{before}{text}{after}")
        self._stream.flush()
