"""The lines around hits, taken from the recent blocks of a source."""

from __future__ import annotations

from collections import deque

from .kept import Hit
from .passages import Passage, TextBlock
from .voices import MAX_TEXT
from .walks import AFTER, Walk, walk_for
from .windows import BEFORE, Windows

NEAR_BYTES = MAX_TEXT // 2  # of a block on either side of a hit, in which its neighbours most often stand


class Surroundings:
    """Keeps for each hit its line, its neighbours, and what it opens, as far as it is read."""

    def __init__(self, windows: Windows, ring: deque[TextBlock]) -> None:
        self._windows = windows
        self._ring = ring

    def keep(self, passage: Passage, hit: Hit, want: str) -> None:
        """Keep the surroundings of one hit."""
        windows, span = self._windows, (hit.line, want)
        if passage.long:
            windows.long[hit.line] = passage.text()
        if not windows.begin(span):
            return
        block = passage.block
        start, end = passage.line()
        if want == "near" and not passage.long and (texts := _neighbours(block, start)):
            windows.keep_run(span, hit.line - BEFORE, texts)
            return
        own = passage.long.start if passage.long else block.data[start : min(end, start + MAX_TEXT)]
        walk = walk_for(hit.line, want, own)
        if walk is not None:
            windows.keep(span, block.lines_before(start, BEFORE, hit.line))
        windows.keep(span, [(hit.line, own)])
        if walk is not None and self._lead(walk, block, end + 1):
            windows.open.append(walk)

    def _lead(self, walk: Walk, block: TextBlock, at: int) -> bool:
        """Lead a walk from offset `at` over what is read; tell whether it is still open."""
        number = walk.line + 1
        for later, start in self._rest_of(block, at):
            first = start or later.skipped()
            self._windows.keep(walk.span, walk.read(later.voices, first, number if start else later.first_number()))
            if not walk.is_open():
                return False
        return True

    def _rest_of(self, block: TextBlock, at: int) -> list[tuple[TextBlock, int]]:
        """The block from `at` on, and the blocks after it that are read already."""
        ring = self._ring
        if not ring or block is ring[-1] or block not in ring:
            return [(block, at)]
        blocks = list(ring)
        return [(block, at), *((b, 0) for b in blocks[blocks.index(block) + 1 :])]

    def go_on(self, block: TextBlock) -> None:
        """Lead what is open through a new block."""
        for walk in self._windows.open:
            self._windows.keep(walk.span, walk.read(block.voices, block.skipped(), block.first_number()))
        self._windows.open[:] = [w for w in self._windows.open if w.is_open()]


def _neighbours(block: TextBlock, at: int) -> list[str] | None:
    """The texts of BEFORE lines, the one at offset `at` and AFTER more, where this block holds all and all are short."""
    before = block.data[max(at - NEAR_BYTES, 0) : at].rsplit(b"\n", BEFORE + 1)
    after = block.data[at : at + NEAR_BYTES].split(b"\n", AFTER + 1)
    if len(before) < BEFORE + 2 or len(after) < AFTER + 2:
        return None
    text = b"\n".join([*before[1:-1], *after[:-1]]).decode("utf-8", "replace")
    texts = text.split("\n")
    return [x.rstrip("\r") for x in texts] if "\r" in text else texts
