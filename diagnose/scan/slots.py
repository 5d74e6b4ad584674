"""The first and the last hits of one rule by one speaker, and what is kept of the lines around hits.

Verifying each of a thousand repeats would be waste: what comes after the first hits waits, and only the latest are asked
when the blocks that they lie in are given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .kept import Hit, Tally, cap, tally_of
from .passages import Passage, TextBlock
from .readings import Reading, RuleForms
from .verifying import Verifier
from .voices import MAX_TEXT
from .walks import AFTER, Walk, walk_for
from .windows import BEFORE, Windows

NEAR_BYTES = MAX_TEXT // 2  # of a block on either side of a hit, in which its neighbours most often stand


@dataclass(slots=True, eq=False)
class Slot:
    """One rule by one speaker."""

    speaker: str
    rule: RuleForms
    most: int = 0  # hits that are kept at either end
    first: list[Hit] = field(default_factory=list)
    last: list[Hit] = field(default_factory=list)
    later: list[tuple[Passage, RuleForms, Reading | None]] = field(default_factory=list)  # unverified; how it is read, if known

    @classmethod
    def of(cls, speaker: bytes, rule: RuleForms) -> Slot:
        """Yield an empty slot."""
        return cls(speaker.decode("utf-8", "replace"), rule, cap(rule.census)[1])

    def settle(self, verifier: Verifier) -> list[tuple[Passage, Hit]]:
        """Verify the latest of what waits; yield those that are among the last hits, the latest first."""
        kept: list[tuple[Passage, Hit]] = []
        while self.later and len(kept) < self.most:
            passage, rule, reading = self.later.pop()
            hit = reading.hit(passage.raw(), passage.number()) if reading else verifier.verify(passage, rule)[0]
            if hit is not None:
                kept.append((passage, hit))
        self.later.clear()
        self.last = [*self.last, *(hit for _, hit in reversed(kept))][-self.most :]
        return kept

    def tally(self) -> Tally:
        """Yield what is kept of it."""
        return tally_of([*self.first, *self.last], self.rule.want, self.rule.census)


class Surroundings:
    """Keeps for each hit its line, its neighbours, and what it opens, as far as it is read."""

    def __init__(self, windows: Windows, ring: Sequence[TextBlock]) -> None:
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
        return [(block, at), *((b, 0) for b in ring[ring.index(block) + 1 :])]

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
