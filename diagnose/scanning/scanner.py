"""One source's blocks in, its `SourceScan` out: the map step.

No Python per uninteresting line: the matcher goes over the block, and only passages that hold a literal are looked
at. A rule's first hits by a speaker are verified at once; what comes later waits in the ring of recent blocks, and of
what leaves the ring only the latest hits are verified and kept. So first and last hits are exact, whatever the blocks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ..blocks import Block
from ..lazy_pattern import lazy
from ..matcher import PatternTimeout, read_fields
from ..prefixes import fast_speaker
from ..rule import Form
from ..scan import MAX_KEYS, TOO_MANY_KEYS, Edge, Hit, SourceScan, cap, tally_of
from ..shapes import DIGITS, MAX_SHAPE_BYTES
from .passages import LongLine, Passage, TextBlock
from .progress import ProgressReader
from .scan_rules import RuleForms, ScanRules
from .windows import BEFORE, HEAD_LINES, MAX_TEXT, TAIL_LINES, cut_opening, decode, is_frame, walk_for

__all__ = ["ScanRules", "Scanner"]

MAX_SHAPES = 15_000
MIN_FAILURES = 8  # before a second pattern is compiled
MAX_OFFSET = 1 << 62  # behind any literal
RING_BYTES = 16 << 20  # of recent blocks, in which what waits is verified in one go
PRUNE_SPANS = 2_000  # kept surroundings, before those of hits that later ones replaced are dropped
WHO = lazy(rb"\b(?i:rank|pid|task|gpu)[\s:=_]{0,3}(\d{1,7})")  # tells speakers apart that no prefix names
SKIPPED_STARTS = ("+ ", "++ ", "│", "❱", "┃")  # echoes of `set -x`, frames of rich boxes: quoted code


# Block, start and end of a passage, its candidates, and the passage itself where it is not simply a line.
_Pending = tuple[TextBlock, int, int, tuple[int, ...], "Passage | None"]


@dataclass(slots=True, eq=False)
class _Slot:
    """One rule by one speaker: what is verified, and the passages that are not yet."""

    speaker: str
    rule: RuleForms
    first: list[Hit] = field(default_factory=list)
    last: list[Hit] = field(default_factory=list)
    held: list[Passage | None] = field(default_factory=list)  # of `last`, those whose surroundings are not kept yet
    pending: list[_Pending] = field(default_factory=list)
    is_full: bool = False

    def has_in(self, block: TextBlock) -> bool:
        """Tell whether something of it still waits in this block, the oldest one."""
        if self.pending and self.pending[0][0] is block:
            return True
        return any(p is not None and p.block is block for p in self.held)


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
        self._slots: dict[tuple[int, bytes], _Slot] = {}
        self._progress = ProgressReader(rules.progress)
        self._ring: deque[TextBlock] = deque()
        self._blocks: dict[TextBlock, dict[_Slot, None]] = {}  # by block of the ring: slots with passages in it
        self._ring_bytes = 0
        self._waiting: dict[_Slot, None] = {}  # slots with pending passages in the latest block
        # Lines repeat with other numbers. By literals and shape: nothing (no rule matches), or by speaker the slots in
        # which such a line waits; and by forms and shape: what did not match.
        self._known: dict[tuple[tuple[int, ...], bytes], dict[bytes, list[tuple[_Slot, tuple[int, ...]]]]] = {}
        self._barren: set[tuple[tuple[int, ...], bytes]] = set()
        self._failures: dict[tuple[int, ...], int] = {}  # how often forms did not match
        self._long: LongLine | None = None  # the line that the latest block ended in
        self._spans_at_prune = 0
        self._timeouts: set[str] = set()

    def feed(self, block: Block) -> None:
        """Read one block."""
        data = block.data
        if not data:
            return
        previous = self._ring[-1] if self._ring else None
        text = TextBlock(data, self._scan.lines, previous, continues=block.continues, overlap=block.overlap)
        self._waiting = self._blocks[text] = {}
        self._go_on(text)
        has_progress = self._match(text, self._rules.find(data))
        self._progress.feed(text, is_worth=has_progress)
        self._remember(text, block)
        self._scan.bytes += len(data) - block.overlap
        self._scan.lines = text.lines()
        self._scan.ends_line = data.endswith(b"\n")

    def finish(self) -> SourceScan:
        """Yield what was found, as a part that others may precede or follow."""
        for slot in self._slots.values():
            if slot.pending or any(slot.held):
                self._settle(slot, None)
        for slot in self._slots.values():
            tally = tally_of([*slot.first, *slot.last], slot.rule.want, slot.rule.census)
            self._scan.tallies[(slot.rule.rule.id, slot.speaker)] = tally
        self._scan.tallies = dict(sorted(self._scan.tallies.items()))
        self._scan.progress = self._progress.finish()
        if self._ring:
            self._windows.last.extend((n, decode(raw)) for n, raw in self._ring[-1].last_lines(TAIL_LINES))
        self._windows.opening = self._opening
        self._scan.gaps += [f"pattern of {rule} ran out of time" for rule in sorted(self._timeouts)]
        self._scan.prune()
        return self._scan

    # --- hits -----------------------------------------------------------------------------------------------

    def _match(self, block: TextBlock, found: list[tuple[int, int]]) -> bool:
        """Look at the passages with literals; tell whether the block may hold signs of life."""
        main, overlap = self._rules.main_count, block.overlap
        hits = [x for x in found if x[1] < main and x[0] > overlap]
        is_plain = not block.continues
        hits.append((MAX_OFFSET, 0))
        index = 0
        while (end := hits[index][0]) < MAX_OFFSET:
            line = block.plain_line(end) if is_plain else None
            passage = None if line else block.passage(end - 1, self._long if block.continues else None)
            stop = line[1] if line else passage.end if passage else end
            literals: tuple[int, ...] = (hits[index][1],)
            index += 1
            while hits[index][0] <= stop:
                if hits[index][1] not in literals:
                    literals += (hits[index][1],)
                index += 1
            if line:
                self._look_at_line(block, *line, literals)
            elif passage:
                self._look(passage, literals, None)
        return len(hits) <= len(found) and any(x[1] >= main for x in found)

    def _look_at_line(self, block: TextBlock, start: int, stop: int, literals: tuple[int, ...]) -> None:
        """Look at a plain line, unless one of its shape was looked at before and the outcome is known."""
        raw = block.data[start:stop]
        shape = raw.translate(DIGITS) if stop - start <= MAX_SHAPE_BYTES else None
        if shape is not None:
            known = self._known.get((literals, shape))
            if known is not None:
                if not known:
                    return  # nothing matches a line of this shape
                slots = known.get(fast_speaker(raw[:256]))
                if slots is not None:
                    for slot, forms in slots:
                        slot.pending.append((block, start, stop, forms, None))
                        self._waiting[slot] = None
                    return
        self._look(Passage(block, start, stop, None), literals, shape)

    def _look(self, passage: Passage, literals: tuple[int, ...], shape: bytes | None) -> None:
        """Verify what the literals in one passage may mean, or let it wait where the rule has hit often."""
        head = passage.block.data[passage.at : min(passage.at + 512, passage.end)]
        plain = fast_speaker(head[:256] if passage.long is None else passage.long.head[:256])
        named: bytes | None = None
        full: list[tuple[_Slot, tuple[int, ...]]] = []
        held = None if shape is not None else passage
        settled = shape is not None  # whether the next line of this shape by this speaker would go the same way
        for rule in self._rules.rules_of(literals):
            speaker = plain
            if rule.census:
                if named is None:
                    named = plain + b"|" + b",".join(WHO.findall(head)[:4])
                speaker = named
            slot = self._slots.get((rule.number, speaker))
            if slot is not None and slot.is_full:
                slot.pending.append((passage.block, passage.at, passage.end, rule.forms, held))
                self._waiting[slot] = None
                full.append((slot, rule.forms))
                settled = settled and not rule.census
            elif shape is None or rule.blind is None:
                settled = False
                self._try(passage, rule, speaker, slot)
            elif (rule.forms, shape) not in self._barren:
                if self._try(passage, rule, speaker, slot) or not self._is_barren(passage, rule.forms, rule.blind):
                    settled = False
                else:
                    self._barren.add((rule.forms, shape))
        if settled and shape is not None:
            self._know(literals, shape, plain, full)

    def _try(self, passage: Passage, rule: RuleForms, speaker: bytes, slot: _Slot | None) -> bool:
        hit, may_be_quoted = self._verify(passage, rule, rule.forms)
        if hit is not None:
            self._add(passage, rule, speaker, slot, hit)
        return hit is not None or may_be_quoted

    def _is_barren(self, passage: Passage, forms: tuple[int, ...], blind: tuple[Form, ...]) -> bool:
        """Whether no line that differs in its digits only can match; asked once the forms have failed a few times."""
        self._failures[forms] = self._failures.get(forms, 0) + 1
        if self._failures[forms] < MIN_FAILURES:
            return False
        try:
            return not any(self._rules.main.verify(f, p.message) for f in blind for p in passage.pieces()[1])
        except PatternTimeout:
            return False

    def _know(
        self, literals: tuple[int, ...], shape: bytes, speaker: bytes, full: list[tuple[_Slot, tuple[int, ...]]]
    ) -> None:
        """Remember what becomes of lines of this shape."""
        if len(self._known) + len(self._barren) > MAX_SHAPES:
            self._known.clear()
            self._barren.clear()
        known = self._known.setdefault((literals, shape), {})
        if full:
            known[speaker] = full

    def _add(self, passage: Passage, rule: RuleForms, speaker: bytes, slot: _Slot | None, hit: Hit) -> None:
        if self._is_edge(passage, rule):
            who = speaker.decode("utf-8", "replace")
            self._scan.edge.append(Edge(hit, who, rule.want, rule.census))
        else:
            if slot is None:
                if len(self._slots) >= MAX_KEYS:
                    self._scan.gaps = sorted({*self._scan.gaps, TOO_MANY_KEYS})
                    return
                slot = self._slots[(rule.number, speaker)] = _Slot(speaker.decode("utf-8", "replace"), rule)
            slot.first.append(hit)
            slot.is_full = len(slot.first) >= cap(rule.census)[0]
        self._surround(passage, hit, rule.want)

    def _is_edge(self, passage: Passage, rule: RuleForms) -> bool:
        """Whether the line before, which may make this one quoted code, belongs to another part."""
        block = passage.block
        return rule.is_line and passage.at == 0 and block.base == 0 and not block.continues

    def _verify(self, passage: Passage, rule: RuleForms, forms: tuple[int, ...]) -> tuple[Hit | None, bool]:
        """The hit, if there is one; and whether there would be one if the line were not quoted code."""
        candidates = [self._rules.main.candidates[n] for n in forms]
        if not rule.is_line:
            first, pieces = passage.pieces()
            found = ((i, c) for c in candidates for i, p in enumerate(pieces) if _holds(c.form, p.message))
            index, candidate = next(found, (0, candidates[0]))
            return Hit(rule.rule.id, candidate.index, passage.number(), first + index, None), False
        first, pieces = passage.pieces()
        for index, piece in enumerate(pieces):
            if piece.message.startswith(SKIPPED_STARTS):
                continue
            for candidate in candidates:
                try:
                    match = self._rules.main.verify(candidate.form, piece.message)
                except PatternTimeout:
                    self._timeouts.add(rule.rule.id)
                    continue
                if match:
                    if self._is_quoted(passage):
                        return None, True
                    fields = read_fields(rule.rule, match.groupdict())
                    return Hit(rule.rule.id, candidate.index, passage.number(), first + index, fields), False
        return None, False

    def _is_quoted(self, passage: Passage) -> bool:
        """Whether the line before is a traceback's frame, so that this one is source code."""
        block = passage.block
        if passage.at != block.line_start(passage.at) or (passage.at == 0 and block.continues):
            return False
        before = block.lines_before(passage.at, 1)
        return bool(before) and b'File "' in before[0][1] and is_frame(decode(before[0][1]))

    def _settle(self, slot: _Slot, leaving: TextBlock | None) -> None:
        """Verify the latest of the passages that wait; the earlier ones can be neither first nor last.

        The surroundings of a hit are kept when its block leaves the ring (None: all do), if it still is among the last.
        """
        _, most = cap(slot.rule.census)
        kept: list[tuple[Hit, Passage]] = []
        while slot.pending and len(kept) < most:
            block, start, stop, forms, held = slot.pending.pop()
            passage = held or Passage(block, start, stop, None)
            hit, _ = self._verify(passage, slot.rule, forms)
            if hit is not None:
                kept.append((hit, passage))
                self._blocks[passage.block][slot] = None
        slot.pending.clear()
        slot.last = [*slot.last, *(hit for hit, _ in kept[::-1])][-most:]
        slot.held = [*slot.held, *(passage for _, passage in kept[::-1])][-most:]
        for index, waiting in enumerate(slot.held):
            if waiting is not None and (leaving is None or waiting.block is leaving):
                self._surround(waiting, slot.last[index], slot.rule.want)
                slot.held[index] = None

    # --- surroundings ---------------------------------------------------------------------------------------

    def _surround(self, passage: Passage, hit: Hit, want: str) -> None:
        """Keep the hit's line, its neighbours, and what it opens as far as it is read."""
        windows, span = self._windows, (hit.line, want)
        if passage.long:
            windows.long[hit.line] = passage.text()
        if not windows.begin(span):
            return
        block = passage.block
        start = block.line_start(passage.at)
        end = min(block.line_end(start), start + MAX_TEXT)
        own = passage.long.start if passage.long else block.data[start:end]
        walk = walk_for(hit.line, want, own)
        if walk is not None:
            for number, raw in block.lines_before(start, BEFORE):
                windows.keep(span, number, decode(raw))
        windows.keep(span, hit.line, decode(own))
        if walk is None:
            return
        number = hit.line
        for later, at in self._rest_of(block, block.line_end(passage.at) + 1):
            for raw in later.lines_from(at) if at < len(later.data) else ():
                number += 1
                if walk.takes(raw):
                    windows.keep(span, number, decode(raw))
                if not walk.is_open():
                    return
        windows.open.append(walk)

    def _rest_of(self, block: TextBlock, at: int) -> list[tuple[TextBlock, int]]:
        """The block from `at` on, and the blocks after it that are read already."""
        blocks = list(self._ring)
        later = blocks[blocks.index(block) + 1 :] if block in blocks else []
        return [(block, at), *((b, 0) for b in later)]

    def _go_on(self, block: TextBlock) -> None:
        """Lead what is open through the block."""
        windows = self._windows
        still = []
        for walk in windows.open:
            span = (walk.line, walk.want)
            for number, raw in enumerate(block.lines_from(0), block.base + 1 + block.continues):
                if walk.takes(raw):
                    windows.keep(span, number, decode(raw))
                if not walk.is_open():
                    break
            else:
                still.append(walk)
        windows.open[:] = still

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
        while self._ring_bytes > RING_BYTES and len(self._ring) > 1:
            oldest = self._ring[0]
            for slot in list(self._blocks[oldest]):
                if slot.has_in(oldest):
                    self._settle(slot, oldest)
            self._ring.popleft()
            del self._blocks[oldest]
            self._ring[0].forget_previous(TAIL_LINES)
            self._ring_bytes -= len(oldest.data)
        self._prune()

    def _keep_head(self, text: TextBlock) -> None:
        windows = self._windows
        if len(windows.first) < self._head_lines:
            for number, raw in enumerate(text.lines_from(0), text.base + 1 + text.continues):
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


def _holds(form: Form, message: str) -> bool:
    text = message.lower() if form.ignore_case else message
    return any((x.lower() if form.ignore_case else x) in text for x in form.literals)
