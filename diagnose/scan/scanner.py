"""One source's blocks in, its `SourceScan` out: the map step.

No Python per uninteresting line: the matcher goes over the block, and only passages that hold a literal are looked
at. A rule's first hits by a speaker are verified at once; what comes later waits in the ring of recent blocks, and of
what leaves the ring only the latest hits are verified and kept. So first and last hits are exact, whatever the blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from ..lines.shapes import Kind
from ..sources.blocks import Block
from .kept import HEAD_LINES, TAIL_LINES, Hit, decode
from .passages import MAX_LOOKED_AT, LongLine, Passage, TextBlock
from .progress import ProgressReader
from .scan import MAX_KEYS, TOO_MANY_KEYS, SourceScan
from .scan_rules import Meaning, Reading, RuleForms, ScanRules
from .slots import Slot, Surroundings, Verifier
from .voices import MAX_TEXT, fast_speaker

__all__ = ["ScanRules", "Scanner"]

MAX_OFFSET = 1 << 62  # behind any literal
RING_BYTES = 16 << 20  # of recent blocks, in which what waits is verified in one go
PRUNE_SPANS = 2_000  # kept surroundings, before those of hits that later ones replaced are dropped
HEAD_BYTES = 512  # of a passage: which ranks it names …
SPEAKER_BYTES = 256  # … and who speaks
MAX_NAMED = 4  # ranks that a line names
(WHO,) = (lazy(row.encode()) for row in patterns(__file__, "scanner"))


class Scanner:
    """Reads one source or one part of it, block by block; every block ends at a line end or within a long line."""

    def __init__(self, rules: ScanRules, name: str, kind: str = "text", *, head_lines: int = HEAD_LINES) -> None:
        self._rules = rules
        self._scan = SourceScan(name, kind)
        self._windows = self._scan.windows
        self._head_lines = head_lines
        self._ring: list[TextBlock] = []
        self._ring_bytes = 0
        self._slots: dict[tuple[int, bytes], Slot] = {}
        self._waiting: dict[Slot, None] = {}  # those with passages in the ring that were not verified
        self._verifier = Verifier(rules)
        self._surroundings = Surroundings(self._windows, self._ring)
        self._progress = ProgressReader(rules.progress)
        self._long: LongLine | None = None  # the line that the latest block ended in
        self._spans_at_prune = 0

    def look_back(self, data: bytes) -> None:
        """Look at the lines above the first one, in which nothing is searched."""
        self._ring = [TextBlock(data, -data.count(b"\n"), None, continues=False, overlap=0)] if data else []
        self._surroundings = Surroundings(self._windows, self._ring)

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
        self._scan.lines = text.lines
        self._scan.ends_line = data.endswith(b"\n")
        self._scan.is_blank = self._scan.is_blank and data.isspace()

    def finish(self, following: Iterable[Block] = ()) -> SourceScan:
        """Yield what was found so far; `following` is looked at for what goes on there."""
        self._settle()
        lines = self._scan.lines
        for block in following:
            if not self._surroundings.open:
                break
            text = TextBlock(block.data, lines, None, continues=block.continues, overlap=block.overlap)
            self._surroundings.go_on(text)
            lines = text.lines
        tallies = {(slot.rule.rule.id, slot.speaker): slot.tally() for slot in self._slots.values()}
        self._scan.tallies.update(sorted(tallies.items()))
        self._scan.progress.update(self._progress.finish())
        self._windows.last.clear()
        if self._ring:
            self._windows.last.extend((n, decode(raw)) for n, raw in self._ring[-1].last_lines(TAIL_LINES) if n > 0)
        self._scan.gaps += tuple(f"pattern of {rule} ran out of time" for rule in sorted(self._verifier.timeouts))
        self._verifier.timeouts.clear()
        self._scan.prune()
        return self._scan

    # --- hits -----------------------------------------------------------------------------------------------

    def _match(self, block: TextBlock, found: list[tuple[int, int]]) -> None:
        """Look at the passages with literals."""
        hits = [x for x in found if x[0] > block.overlap] if block.overlap else found
        hits.append((MAX_OFFSET, 0))
        data, is_parted, begin = block.data, block.has_returns, block.skipped()
        passage, start, stop = None, 0, -1
        literals: tuple[int, ...] = ()  # of the passage
        for end, literal in hits:
            if end <= stop:
                if literals and literal not in literals:
                    literals += (literal,)
                continue
            if literals:
                self._look(block, start, stop, passage, literals)
            if end == MAX_OFFSET:
                break
            start, stop = data.rfind(b"\n", 0, end) + 1, data.find(b"\n", end)
            passage, literals = None, (literal,)
            if not 0 <= stop - start <= MAX_TEXT or start < begin or (is_parted and data.find(b"\r", start, stop) >= 0):
                passage = block.passage(end - 1, self._long if block.continues else None)
                start, stop = passage.at, passage.end
                literals = literals if passage.long is None or passage.long.looked_at <= MAX_LOOKED_AT else ()

    def _look(self, block: TextBlock, start: int, stop: int, passage: Passage | None, literals: tuple[int, ...]) -> None:
        """Take the hits of the rules that the literals in a passage (None: a line) may mean, as lines like it are read."""
        line = block.data[start:stop]
        meaning = self._rules.meaning(literals)
        kind = meaning.kind(line) if passage is None or passage.long is None else None
        readings = meaning.known.get(kind) if kind is not None else None
        if readings == ():  # what most lines, and pieces of them, come to
            return
        passage = passage or Passage(block, start, stop, None, is_line=True)
        if readings is None or block.may_follow_frame(start) or not passage.is_line():
            self._ask(passage, line, meaning, kind)
            return
        plain = fast_speaker(line[:SPEAKER_BYTES])
        for reading in readings:
            speaker = _speaker(passage, reading.rule, plain)
            slot = self._slots.get((reading.rule.number, speaker))
            if slot is not None and len(slot.first) >= slot.most:
                slot.later.append((passage, reading.rule, reading))
                self._waiting[slot] = None
            else:
                self._add(passage, reading.rule, speaker, slot, reading.hit(line, passage.number()))

    def _ask(self, passage: Passage, line: bytes, meaning: Meaning, kind: Kind | None) -> None:
        """Verify what literals in one passage may mean, or let it wait where the rule has hit often."""
        plain = fast_speaker(line[:SPEAKER_BYTES] if passage.long is None else passage.long.head[:SPEAKER_BYTES])
        readings: list[Reading] = []
        is_telling = kind is not None
        for rule in meaning.rules:
            speaker = _speaker(passage, rule, plain)
            slot = self._slots.get((rule.number, speaker))
            is_full = slot is not None and len(slot.first) >= slot.most
            hit, reading = None, None
            if not is_full or is_telling:
                hit, reading, is_sure = self._verifier.verify(passage, rule)
                is_telling = is_telling and is_sure
                if reading is not None:
                    readings.append(reading)
            if slot is not None and is_full and (hit is not None or not is_telling):
                slot.later.append((passage, rule, None))
                self._waiting[slot] = None
            elif hit is not None:
                self._add(passage, rule, speaker, slot, hit)
        if is_telling and kind is not None and len(passage.pieces()[1]) == 1 and (not readings or passage.is_line()):
            self._rules.keep(meaning, kind, readings)

    def _add(self, passage: Passage, rule: RuleForms, speaker: bytes, slot: Slot | None, hit: Hit) -> None:
        if slot is None:
            if len(self._slots) >= MAX_KEYS:
                self._scan.gaps = tuple(sorted({*self._scan.gaps, TOO_MANY_KEYS}))
                return
            slot = self._slots[(rule.number, speaker)] = Slot.of(speaker, rule)
        slot.first.append(hit)
        self._surroundings.keep(passage, hit, rule.want)

    # --- what is remembered ---------------------------------------------------------------------------------

    def _remember(self, text: TextBlock, block: Block) -> None:
        """Keep the head, put the block into the ring, and settle what waits in a ring that is full."""
        self._keep_head(text)
        if block.cut and not block.continues:
            start = text.line_start(len(text.data))
            number = text.number(start)
            self._long = text.long if text.long and text.long.number == number else None
            self._long = self._long or LongLine(number, text.data[start : start + MAX_TEXT])
        self._ring.append(text)
        self._ring_bytes += len(text.data)
        # What nothing waits in goes at once: the memory of the next block is then still in the processor's cache.
        if self._ring_bytes > RING_BYTES or not self._waiting:
            self._settle()
            del self._ring[:-1]
            self._ring_bytes = len(text.data)
        self._prune()

    def _settle(self) -> None:
        for slot in self._waiting:
            for passage, hit in slot.settle(self._verifier):
                self._surroundings.keep(passage, hit, slot.rule.want)
        self._waiting.clear()

    def _keep_head(self, text: TextBlock) -> None:
        windows = self._windows
        if len(windows.first) < self._head_lines:
            for number, raw in enumerate(text.lines_from(0), text.first_number()):
                windows.first.append((number, decode(raw)))
                if len(windows.first) >= self._head_lines:
                    break

    def _prune(self) -> None:
        spans = len(self._windows.spans)
        if spans < PRUNE_SPANS + 3 * self._spans_at_prune // 2:
            return
        self._windows.prune({(h.line, s.rule.want) for s in self._slots.values() for h in [*s.first, *s.last]})
        self._spans_at_prune = len(self._windows.spans)


def _speaker(passage: Passage, rule: RuleForms, plain: bytes) -> bytes:
    """Who speaks; of rules that questions count also by the ranks that the line names."""
    if not rule.census:
        return plain
    # an entry of torchrun's summary names its rank below its head
    end = passage.at + HEAD_BYTES if rule.rule.match == "block" else min(passage.at + HEAD_BYTES, passage.end)
    named = islice(WHO.finditer(passage.block.data, passage.at, end), MAX_NAMED)
    return plain + b"|" + b",".join([m[1] for m in named])
