"""The first and the last hits of one rule by one speaker, and what is kept of the lines around hits.

What comes after the first hits waits, and only the latest are verified when the blocks that they lie in are given up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..catalogue.matcher import PatternTimeout, read_fields
from .kept import BEFORE, Hit, Tally, Windows, cap, decode, is_frame, tally_of
from .passages import Passage, TextBlock
from .scan_rules import Reading, RuleForms, ScanRules
from .voices import MAX_TEXT
from .walks import Walk, walk_for

QUOTED_STARTS = ("+ ", "++ ", "│", "❱", "┃")  # echoes of `set -x`, frames of rich boxes: quoted code …
ASKS_FOR_ECHO = (r"^\+", r"^(?:\+")  # … that is evidence for a pattern only which asks for a command by its `+`


@dataclass(slots=True, eq=False)
class Slot:
    """One rule by one speaker."""

    speaker: str
    rule: RuleForms
    most: int = 0  # hits that are kept at either end
    first: list[Hit] = field(default_factory=list)
    last: list[Hit] = field(default_factory=list)
    # unverified, and how each is read, where that is known
    later: list[tuple[Passage, RuleForms, Reading | None]] = field(default_factory=list)

    @classmethod
    def of(cls, speaker: bytes, rule: RuleForms) -> Slot:
        """Yield an empty slot."""
        return cls(speaker.decode("utf-8", "replace"), rule, cap(rule.census))

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


class Verifier:
    """Asks patterns; remembers which rules' patterns ran out of time."""

    def __init__(self, rules: ScanRules) -> None:
        self._matcher = rules.main
        self.timeouts: set[str] = set()

    def verify(self, passage: Passage, rule: RuleForms) -> tuple[Hit | None, Reading | None, bool]:
        """Yield the hit, if there is one; how a line that is like the passage is read; and whether that holds for all."""
        if not rule.is_line:
            hit = self._found(passage, rule)
            return hit, Reading(rule, hit.form, ()), True
        match, index, form, has_time = self._search(passage, rule)
        if match is None:
            return None, None, has_time
        if _is_quoted(passage):
            return None, None, False
        first, pieces = passage.pieces()
        hit = Hit(rule.rule.id, form, passage.number(), first + index, read_fields(rule.rule, match.groupdict()))
        names = [name for name, text in match.groupdict().items() if text is not None]
        shift = len(pieces[index][0])  # behind so many characters the message begins
        spans = tuple((name, match.start(name) + shift, match.end(name) + shift) for name in names)
        return hit, Reading(rule, form, spans), has_time

    def _found(self, passage: Passage, rule: RuleForms) -> Hit:
        """The hit of a rule that more than a line verifies later."""
        candidates = [self._matcher.index.candidates[n] for n in rule.forms]
        first, pieces = passage.pieces()
        found = (
            (i, c) for c in candidates for i, (_, message) in enumerate(pieces)
            if any(x.lower() in message.lower() if c.form.ignore_case else x in message for x in c.form.literals)
        )  # fmt: skip
        index, candidate = next(found, (0, candidates[0]))
        return Hit(rule.rule.id, candidate.index, passage.number(), first + index, None)

    def _search(self, passage: Passage, rule: RuleForms) -> tuple[re.Match[str] | None, int, int, bool]:
        """The first match, in which piece, of which form of the rule, and whether no pattern ran out of time."""
        has_time = True
        for index, (prefix, message) in enumerate(passage.pieces()[1]):
            is_quoted = message.startswith(QUOTED_STARTS)
            for candidate in (self._matcher.index.candidates[n] for n in rule.forms):
                if is_quoted and not candidate.form.pattern.startswith(ASKS_FOR_ECHO):
                    continue
                try:
                    match = self._matcher.verify_line(candidate, message, prefix)
                except PatternTimeout:
                    self.timeouts.add(rule.rule.id)
                    has_time = False
                    continue
                if match is not None:
                    return match, index, candidate.index, has_time
        return None, 0, 0, has_time


def _is_quoted(passage: Passage) -> bool:
    """Whether the line before is a traceback's frame, so that this one is source code."""
    block = passage.block
    if not block.may_follow_frame(passage.at):
        return False
    if passage.at != passage.line()[0] or (passage.at == 0 and block.continues):
        return False
    before = block.lines_before(passage.at, 1, passage.number())
    return bool(before) and is_frame(decode(before[0][1]))


class Surroundings:
    """Keeps for each hit its line, its neighbours, and what it opens, as far as it is read."""

    def __init__(self, windows: Windows, ring: Sequence[TextBlock]) -> None:
        self._windows = windows
        self._ring = ring
        self.open: list[Walk] = []  # what goes on behind what is read

    def keep(self, passage: Passage, hit: Hit, want: str) -> None:
        """Keep the surroundings of one hit."""
        windows, span = self._windows, (hit.line, want)
        if passage.long:
            windows.long[hit.line] = passage.long.text()
        if not windows.begin(span):
            return
        block = passage.block
        start, end = passage.line()
        own = passage.long.start if passage.long else block.data[start : min(end, start + MAX_TEXT)]
        walk = walk_for(hit.line, want, own)
        if walk is not None:
            windows.keep(span, block.lines_before(start, BEFORE, hit.line))
        windows.keep(span, [(hit.line, own)])
        if walk is not None and self._lead(walk, block, end + 1):
            self.open.append(walk)

    def _lead(self, walk: Walk, block: TextBlock, at: int) -> bool:
        """Lead a walk from offset `at` over what is read; tell whether it is still open."""
        number, ring = walk.line + 1, self._ring
        rest = ring[ring.index(block) + 1 :] if block in ring else []  # the blocks after it that are read already
        for later, start in [(block, at), *((b, 0) for b in rest)]:
            first = start or later.skipped()
            self._windows.keep(walk.span, walk.read(later.voices, first, number if start else later.first_number()))
            if not walk.is_open():
                return False
        return True

    def go_on(self, block: TextBlock) -> None:
        """Lead what is open through a new block."""
        spans = self._windows.spans  # others were dropped
        for walk in (w for w in self.open if w.span in spans):
            self._windows.keep(walk.span, walk.read(block.voices, block.skipped(), block.first_number()))
        self.open = [w for w in self.open if w.is_open() and w.span in spans]
