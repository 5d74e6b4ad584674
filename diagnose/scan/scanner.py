"""One source's blocks in, its `SourceScan` out: the map step.

No Python per uninteresting line: the matcher goes over the block, and only passages that hold a literal are looked
at. A rule's first hits by a speaker are verified at once; what comes later waits in the ring of recent blocks, and of
what leaves the ring only the latest hits are verified and kept. So first and last hits are exact, whatever the blocks.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from itertools import islice
from operator import itemgetter

from ..lines.lazy_pattern import lazy
from ..lines.shapes import Kind
from ..sources.blocks import Block
from .kept import Hit
from .passages import MAX_LOOKED_AT, LongLine, Passage, TextBlock
from .progress import ProgressReader
from .scan import MAX_KEYS, TOO_MANY_KEYS, Edge, SourceScan
from .scan_rules import NO_MATCH, RuleForms, ScanRules
from .shape_memory import NOWHERE, Place, ShapeMemory, Waits
from .slots import Slot, Surroundings, Waiting, slot_for
from .verifying import Verifier
from .voices import MAX_TEXT, fast_speaker
from .windows import HEAD_LINES, TAIL_LINES, cut_opening, decode

__all__ = ["ScanRules", "Scanner"]

MAX_OFFSET = 1 << 62  # behind any literal
START = itemgetter(1)  # of what waits
RING_BYTES = 16 << 20  # of recent blocks, in which what waits is verified in one go
PRUNE_SPANS = 2_000  # kept surroundings, before those of hits that later ones replaced are dropped
HEAD_BYTES = 512  # of a passage: who speaks
MAX_NAMED = 4  # ranks that a line names
# Tells speakers apart that no prefix names: `rank 3`, `Thread 4711 (idle)`, `Thread 0x00007f11 (most recent call first)`.
WHO = lazy(
    rb"\b(?:(?i:rank|pid|task|gpu)[\s:=_]{0,3}(?=\d)|(?:Thread|Current thread|for thread|LWP|TID) (?:0x)?(?=[0-9a-fA-F]))"
    rb"([0-9a-fA-F]{1,16})"
)


class Scanner:
    """Reads one source or one part of it, block by block; every block ends at a line end or within a long line."""

    def __init__(
        self, rules: ScanRules, name: str, kind: str = "text", *, later_part: bool = False, head_lines: int = HEAD_LINES
    ) -> None:
        self._rules = rules
        self._scan = SourceScan(name, kind)
        self._windows = self._scan.windows
        self._opening = b"" if later_part else None
        self._windows.is_all_opening = later_part
        self._head_lines = head_lines
        self._ring: deque[TextBlock] = deque()
        self._ring_bytes = 0
        self._slots: dict[tuple[int, bytes], Slot] = {}
        self._blocks: dict[TextBlock, dict[Slot, None]] = {}  # by block of the ring: slots with passages in it
        self._met: list[Waits] = []  # those with lines in the latest block
        self._later: dict[Slot, list[Waiting]] = {}  # what waits of the latest block, until it is read
        self._verifier = Verifier(rules)
        self._shapes = ShapeMemory(rules)
        self._surroundings = Surroundings(self._windows, self._ring)
        self._progress = ProgressReader(rules.progress)
        self._long: LongLine | None = None  # the line that the latest block ended in
        self._spans_at_prune = 0

    def feed(self, block: Block) -> None:
        """Read one block."""
        data = block.data
        self._scan.bytes += block.size
        if not data:
            return
        previous = self._ring[-1] if self._ring else None
        text = TextBlock(data, self._scan.lines, previous, continues=block.continues, overlap=block.overlap)
        self._surroundings.go_on(text)
        self._match(text, self._rules.find(data))
        self._progress.feed(text)
        self._remember(text, block)
        self._scan.lines = text.lines()
        self._scan.ends_line = data.endswith(b"\n")
        self._scan.is_blank = self._scan.is_blank and data.isspace()

    def finish(self) -> SourceScan:
        """Yield what was found, as a part that others may precede or follow."""
        for slot in self._slots.values():
            if slot.waiting or any(slot.held):
                slot.settle(self._verifier.verify, self._surroundings.keep, None)
        tallies = {(slot.rule.rule.id, slot.speaker): slot.tally() for slot in self._slots.values()}
        self._scan.tallies.update(sorted(tallies.items()))
        self._scan.progress.update(self._progress.finish())
        if self._ring:
            self._windows.last.extend((n, decode(raw)) for n, raw in self._ring[-1].last_lines(TAIL_LINES))
        self._windows.opening = self._opening
        self._scan.gaps += tuple(f"pattern of {rule} ran out of time" for rule in sorted(self._verifier.timeouts))
        self._scan.prune()
        return self._scan

    # --- hits -----------------------------------------------------------------------------------------------

    def _match(self, block: TextBlock, found: list[tuple[int, int]]) -> None:
        """Look at the passages with literals."""
        hits = [x for x in found if x[0] > block.overlap] if block.overlap else found
        hits.append((MAX_OFFSET, 0))
        data, is_parted, waits_of = block.data, block.has_returns(), self._shapes.waits_of
        begin = block.skipped()
        passage, start, stop = None, 0, -1
        literals: tuple[int, ...] = ()  # of the passage
        for end, literal in hits:
            if end <= stop:
                if literals and literal not in literals:
                    literals += (literal,)
                continue
            if literals:
                waits = waits_of(literals, data[start:stop]) if passage is None or passage.is_line() else None
                if waits is None:
                    self._look(passage or Passage(block, start, stop, None, is_line=True), literals)
                elif waits is not NOWHERE:
                    if not waits.starts:
                        self._met.append(waits)
                    waits.starts.append(start)
            if end == MAX_OFFSET:
                break
            start, stop = data.rfind(b"\n", 0, end) + 1, data.find(b"\n", end)
            passage, literals = None, (literal,)
            if not 0 <= stop - start <= MAX_TEXT or start < begin or (is_parted and data.find(b"\r", start, stop) >= 0):
                passage = block.passage(end - 1, self._long if block.continues else None)
                start, stop = passage.at, passage.end
                literals = literals if passage.long is None or passage.long.looked_at <= MAX_LOOKED_AT else ()
        self._settle_waiting(block)

    def _look(self, passage: Passage, literals: tuple[int, ...]) -> None:
        """Verify what the literals in one passage may mean, or let it wait where the rule has hit often."""
        block, start, stop = passage.block, passage.at, passage.end
        meaning = self._shapes.meaning(literals)
        kind = self._shapes.kind_of(meaning, block.data[start:stop]) if passage.is_line() else None
        head = block.data[start : min(start + HEAD_BYTES, stop)]
        plain = fast_speaker(head[:256] if passage.long is None else passage.long.head[:256])
        first = passage.block.data[passage.at]
        places: list[Place] = []
        is_settled = True  # whether the next line of this kind by this speaker would go the same way
        ranks: list[re.Match[bytes]] | None = None
        for rule in meaning.rules:
            known = self._rules.readings.get((rule.forms, kind, first)) if kind is not None else None
            if known is NO_MATCH:
                continue
            speaker = plain
            if rule.census and rule.rule.match == "block":  # an entry of torchrun's summary names its rank below its head
                speaker = _named_in(plain, WHO.finditer(block.data, start, start + HEAD_BYTES))
                is_settled = False
            elif rule.census:
                ranks = list(islice(WHO.finditer(head), MAX_NAMED)) if ranks is None else ranks
                speaker = _named_in(plain, ranks)
            slot = self._slots.get((rule.number, speaker))
            if slot is None or not slot.is_full:
                is_settled &= self._try(passage, rule, speaker, kind, slot) is False
            elif (is_sure := not rule.is_line or known is not None or self._try_full(passage, rule, kind)) is not None:
                places.append((slot, rule.forms, is_sure))
        self._let_wait(block, start, stop, places, None if kind is not None else passage)
        if is_settled and kind is not None:
            self._shapes.know(meaning, kind, block.data[start:stop], places, [m.span(1) for m in ranks or ()])

    def _try(self, passage: Passage, rule: RuleForms, speaker: bytes, kind: Kind | None, slot: Slot | None) -> bool | None:
        """Verify at once; tell whether all lines of its kind match (None: it cannot be told)."""
        hit, is_telling = self._verifier.verify(passage, rule, rule.forms, kind)
        if hit is not None:
            self._add(passage, rule, speaker, slot, hit)
        return hit is not None if is_telling and rule.is_line and kind is not None and rule.marks is not None else None

    def _try_full(self, passage: Passage, rule: RuleForms, kind: Kind | None) -> bool | None:
        """Tell whether a passage that may wait is sure to match; None where it does not match."""
        if kind is None or rule.marks is None:
            return False
        hit, is_telling = self._verifier.verify(passage, rule, rule.forms, kind)
        return (True if hit is not None else None) if is_telling else False

    def _let_wait(
        self, block: TextBlock, start: int, stop: int, places: Sequence[Place], held: Passage | None = None
    ) -> bool:
        """Queue a passage for its slots; tell whether it counts where it is sure to match."""
        is_quoted = bool(places) and (held is not None or block.may_follow_frame(start))
        for slot, forms, is_sure in places:
            self._later.setdefault(slot, []).append((block, start, stop, forms, is_sure and not is_quoted, held))
        return not is_quoted

    def _settle_waiting(self, block: TextBlock) -> None:
        """Let wait what can still be among the last hits when the block is read."""
        for waits in self._met:
            needed = max(slot.most for slot, _, _ in waits.places) if all(p[2] for p in waits.places) else MAX_OFFSET
            for start in reversed(waits.starts):
                stop = block.data.find(b"\n", start)
                needed -= self._let_wait(block, start, stop if stop >= 0 else len(block.data), waits.places)
                if not needed:
                    break
            waits.starts = []
        self._met = []
        for slot, later in self._later.items():
            slot.wait(sorted(later, key=START))
        self._blocks[block] = dict.fromkeys(self._later)
        self._later = {}

    def _add(self, passage: Passage, rule: RuleForms, speaker: bytes, slot: Slot | None, hit: Hit) -> None:
        if self._is_edge(passage, rule):
            who = speaker.decode("utf-8", "replace")
            self._scan.edge += (Edge(hit, who, rule.want, rule.census),)
        else:
            if slot is None:
                if len(self._slots) >= MAX_KEYS:
                    self._scan.gaps = tuple(sorted({*self._scan.gaps, TOO_MANY_KEYS}))
                    return
                slot = self._slots[(rule.number, speaker)] = slot_for(speaker, rule)
            slot.add_first(hit)
        self._surroundings.keep(passage, hit, rule.want)

    def _is_edge(self, passage: Passage, rule: RuleForms) -> bool:
        """Whether the line before, which may make this one quoted code, belongs to another part."""
        block = passage.block
        return rule.is_line and passage.at == 0 and block.base == 0 and not block.continues

    # --- what is remembered ---------------------------------------------------------------------------------

    def _remember(self, text: TextBlock, block: Block) -> None:
        """Keep head, tail and opening, put the block into the ring, and settle what leaves it."""
        self._keep_head(text)
        if block.cut and not block.continues:
            start = text.line_start(len(text.data))
            number = text.number(start)
            self._long = text.long if text.long and text.long.number == number else None
            self._long = self._long or LongLine(number, text.data[start : start + MAX_TEXT])
        self._ring.append(text)
        self._ring_bytes += len(text.data)
        # What nothing waits in goes at once: the memory of the next block is then still in the processor's cache.
        while len(self._ring) > 1 and (self._ring_bytes > RING_BYTES or not self._blocks[self._ring[0]]):
            self._let_go(self._ring[0])
        self._prune()

    def _let_go(self, oldest: TextBlock) -> None:
        for slot in list(self._blocks[oldest]):
            if slot.has_in(oldest):
                for block in slot.settle(self._verifier.verify, self._surroundings.keep, oldest):
                    self._blocks[block][slot] = None
        self._ring.popleft()
        del self._blocks[oldest]
        self._ring[0].forget_previous(TAIL_LINES)
        self._ring_bytes -= len(oldest.data)

    def _keep_head(self, text: TextBlock) -> None:
        windows = self._windows
        if len(windows.first) < self._head_lines:
            for number, raw in enumerate(text.lines_from(0), text.first_number()):
                windows.first.append((number, decode(raw)))
                if len(windows.first) >= self._head_lines:
                    break
        if self._opening is not None and windows.is_all_opening:
            new = text.data[text.skipped() :]
            self._opening, windows.is_all_opening = cut_opening(self._opening + new)

    def _prune(self) -> None:
        spans = len(self._windows.spans)
        if spans < PRUNE_SPANS + 3 * self._spans_at_prune // 2:
            return
        wanted = {(h.line, s.rule.want) for s in self._slots.values() for h in [*s.first, *s.last]}
        self._windows.prune(wanted | {(e.hit.line, e.want) for e in self._scan.edge})
        self._spans_at_prune = len(self._windows.spans)


def _named_in(plain: bytes, ranks: Iterable[re.Match[bytes]]) -> bytes:
    return plain + b"|" + b",".join([m[1] for m in islice(ranks, MAX_NAMED)])
