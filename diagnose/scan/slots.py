"""The first and the last hits of one rule by one speaker, and the passages that may still become the last ones.

Verifying each of a thousand repeats would be waste: what comes after the first hits waits, unverified, and only the
latest are asked when the block they lie in is given up. A passage is *sure* where the rule's pattern matched a line of
the same shape; enough sure ones later make all before them worthless, so that a flood costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .kept import Hit, Tally, cap, tally_of
from .passages import Passage, TextBlock
from .scan_rules import RuleForms

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
