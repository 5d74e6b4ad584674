"""The first and the last hits of one rule by one speaker, and the passages that may still become the last ones.

Verifying each of a thousand repeats would be waste: what comes after the first hits waits, unverified, and only the
latest are asked when the block they lie in is given up. A passage is *sure* where the rule's pattern matched a line of
the same shape; enough sure ones later make all before them worthless, so that a flood costs next to nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .kept import Hit, Tally, cap, tally_of
from .passages import Passage, TextBlock
from .scan_rules import RuleForms
from .voices import MAX_TEXT
from .walks import AFTER, Walk, walk_for
from .windows import BEFORE, Windows

NEAR_BYTES = MAX_TEXT // 2  # of a block on either side of a hit, in which its neighbours most often stand
SPARE = 24  # sure ones more than are kept, before what they make worthless is dropped

Verify = Callable[[Passage, RuleForms, tuple[int, ...]], "tuple[Hit | None, bool]"]
Surround = Callable[[Passage, Hit, str], None]


# A passage that was not verified: block, start, stop, the forms it may match, whether it is sure to, and the passage
# itself where it is not simply a line.
Waiting = tuple[TextBlock, int, int, tuple[int, ...], bool, "Passage | None"]


@dataclass(slots=True, eq=False)
class Slot:
    """One rule by one speaker."""

    speaker: str
    rule: RuleForms
    most: int = 0  # hits that are kept at either end
    first: list[Hit] = field(default_factory=list)
    last: list[Hit] = field(default_factory=list)
    held: list[Passage | None] = field(default_factory=list)  # of `last`, those whose surroundings are not kept yet
    waiting: list[Waiting] = field(default_factory=list)
    is_full: bool = False
    sure: int = 0  # how many of those that wait are

    def add_first(self, hit: Hit) -> None:
        """Keep one of the first hits."""
        self.first.append(hit)
        self.is_full = len(self.first) >= self.most

    def wait(self, later: Sequence[Waiting]) -> None:
        """Let passages wait, in their order; give up what can no longer be among the last."""
        self.waiting += later
        self.sure += sum([waiting[4] for waiting in later])
        if self.sure >= self.most + SPARE:
            self._keep_sure()

    def _keep_sure(self) -> None:
        """Drop all before the last so many sure ones."""
        left, index = self.most, len(self.waiting)
        while left:
            index -= 1
            left -= self.waiting[index][4]
        del self.waiting[:index]
        self.sure = self.most
        self.last, self.held = [], []

    def has_in(self, block: TextBlock) -> bool:
        """Tell whether something of it lies in this block, the oldest one, that may be among the last."""
        if self.sure >= self.most:
            self._keep_sure()
        if self.waiting and self.waiting[0][0] is block:
            return True
        return any(p is not None and p.block is block for p in self.held)

    def settle(self, verify: Verify, surround: Surround, leaving: TextBlock | None) -> list[TextBlock]:
        """Verify the latest of what waits, and keep the surroundings of hits whose block leaves (None: of all).

        Yield the blocks that hold hits whose surroundings are still to be kept.
        """
        kept: list[tuple[Hit, Passage]] = []
        while self.waiting and len(kept) < self.most:
            block, start, stop, forms, _, held = self.waiting.pop()
            passage = held or Passage(block, start, stop, None, is_line=True)
            hit, _ = verify(passage, self.rule, forms)
            if hit is not None:
                kept.append((hit, passage))
        self.waiting.clear()
        self.sure = 0
        self.last = [*self.last, *(hit for hit, _ in kept[::-1])][-self.most :]
        self.held = [*self.held, *(passage for _, passage in kept[::-1])][-self.most :]
        for index, late in enumerate(self.held):
            if late is not None and (leaving is None or late.block is leaving):
                surround(late, self.last[index], self.rule.want)
                self.held[index] = None
        return [p.block for p in self.held if p is not None]

    def tally(self) -> Tally:
        """Yield what is kept of it."""
        return tally_of([*self.first, *self.last], self.rule.want, self.rule.census)


def slot_for(speaker: bytes, rule: RuleForms) -> Slot:
    """Yield an empty slot."""
    return Slot(speaker.decode("utf-8", "replace"), rule, cap(rule.census)[1])


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
