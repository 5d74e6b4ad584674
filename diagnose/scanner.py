"""One source's blocks in, its `SourceScan` out: the map step.

No Python per uninteresting line: the matcher goes over the block, and only lines that hold a literal (and what they
open) are looked at. A rule that has hit often for one speaker is only counted, its last lines are verified at the end.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from .catalogue import Catalogue
from .matcher import Candidate, Matcher, PatternTimeout, read_fields
from .prefixes import Line, fast_speaker, read_lines
from .progress import ProgressReader
from .rule import Form, Rule
from .scan import MAX_KEYS, Hit, SourceScan, Tally, add_hit, cap
from .windows import AFTER, BEFORE, FRAME, HEAD_LINES, MAX_TEXT, REACH_LINES, STACK_LINES, TAIL_LINES, TRACEBACK_REST

MAX_SEGMENT = 64 * 1024  # bytes of one line looked at around a hit
TRACEBACK, STACK = "~traceback", "~stack"  # not rules: marks that open a window
MARKS = {  # text that opens a traceback or a dump of stacks
    TRACEBACK: ("Traceback (most recent call last", "Original Traceback", "terminate called after throwing"),
    STACK: ("(most recent call first)", "(active)", "(idle)", "(active+gil)", "(LWP ", "Exception raised from "),
}
WHO = re.compile(rb"\b(?i:rank|pid|task|gpu)[\s:=_]{0,3}(\d{1,7})")  # tells speakers apart that no prefix names
SKIPPED_STARTS = ("+ ", "++ ", "│", "❱", "┃")  # echoes of `set -x`, frames of rich boxes: quoted code


@dataclass(slots=True)
class _Slot:
    """One rule by one speaker: what is verified, and the latest lines that are not yet."""

    rule: Rule
    speaker: str
    tally: Tally = field(default_factory=Tally)
    pending: deque[tuple[int, bytes, int]] = field(default_factory=lambda: deque(maxlen=64))
    skipped: int = 0


class ScanRules:
    """A catalogue as the scanner uses it: one matcher for messages, one for signs of life."""

    def __init__(self, catalogue: Catalogue) -> None:
        rules = list(catalogue.rules.values())
        marks = [_mark(name, literals) for name, literals in MARKS.items()]
        self.main = Matcher([*(r for r in rules if r.tells != "progress" and not _is_catch_all(r)), *marks])
        self.progress = Matcher([r for r in rules if r.tells == "progress"])
        self.census = frozenset(r.id for r in rules if r.census)
        self.key = catalogue.key


def _is_catch_all(rule: Rule) -> bool:
    """Whether it is asked of whole tracebacks only: its literals (`Error`) stand on far too many lines."""
    return rule.generic and rule.match == "traceback"


def _mark(name: str, literals: tuple[str, ...]) -> Rule:
    return Rule(name, "context", "stack", "", (Form(literals, ""),), "", id=name)


class Scanner:
    """Reads one source or one part of it, block by block; every block ends at a line end."""

    def __init__(self, rules: ScanRules, name: str, kind: str = "text", *, later_part: bool = False) -> None:
        self._rules = rules
        self._scan = SourceScan(name, kind)
        self._windows = self._scan.windows
        self._windows.opening = [] if later_part else None
        self._slots: dict[tuple[int, bytes], _Slot] = {}
        self._rule_numbers = {c.rule.id: n for n, c in enumerate(rules.main.candidates)}
        self._progress = ProgressReader(rules.progress)
        self._recent: deque[tuple[bytes, int]] = deque()  # the latest blocks, enough for the tail
        self._previous = b""  # the line before this block
        self._timeouts: set[str] = set()

    def feed(self, data: bytes, *, continues: bool = False) -> None:
        """Read one block. `continues`: it begins inside the line in which the block before it ended."""
        if not data:
            return
        base = self._scan.lines + (0 if continues or self._scan.bytes == 0 or self._scan.ends_line else 1)
        block = _Block(data, base)
        begun = self._match(block)
        self._walk(block, begun)
        self._head(block)
        self._progress.feed(data, base)
        self._remember(data, base)
        self._scan.bytes += len(data)
        self._scan.lines = base + data.count(b"\n")
        self._scan.ends_line = data.endswith(b"\n")
        self._previous = data[data.rfind(b"\n", 0, len(data) - 1) + 1 :][:MAX_TEXT]

    def finish(self) -> SourceScan:
        """Yield what was found."""
        for slot in self._slots.values():
            self._settle(slot)
        self._scan.tallies = {
            (s.rule.id, s.speaker): s.tally for s in sorted(self._slots.values(), key=_slot_key) if s.tally.count
        }
        self._scan.progress = self._progress.finish()
        for number, text in _last_lines(self._recent, TAIL_LINES):
            self._windows.last.append((number, text))
        self._scan.gaps += [f"pattern of {rule} ran out of time" for rule in sorted(self._timeouts)]
        self._windows.prune(self._scan.first_lines())
        self._windows.lines = dict(sorted(self._windows.lines.items()))
        return self._scan

    # --- hits -----------------------------------------------------------------------------------------------

    def _match(self, block: _Block) -> dict[int, list[tuple[int, str, int]]]:
        """Verify the lines with literals; yield what begins, by offset of the line: (number, kind, lines)."""
        begun: dict[int, list[tuple[int, str, int]]] = {}
        owners, at, end, found = self._rules.main.owners, -1, -1, set[int]()
        for stop, literal in self._rules.main.find(block.data):
            if stop > end:
                if found:
                    self._segment(block, at, end, found, begun)
                at, end = block.segment(stop - 1)
                found = set()
            found.update(owners[literal])
        if found:
            self._segment(block, at, end, found, begun)
        return begun

    def _segment(
        self, block: _Block, at: int, end: int, found: set[int], begun: dict[int, list[tuple[int, str, int]]]
    ) -> None:
        raw = block.data[at:end]
        number = block.number(at)
        plain, census = fast_speaker(raw[:256]), None
        fresh: list[tuple[Candidate, _Slot]] = []
        for n in sorted(found):
            candidate = self._rules.main.candidates[n]
            if candidate.rule.census and census is None:
                census = plain + b"|" + b",".join(WHO.findall(raw[:512])[:4])
            slot = self._slot(candidate.rule, census if candidate.rule.census and census else plain)
            if slot is None:
                continue
            if len(slot.tally.first) >= cap(candidate.rule.census)[0]:
                slot.pending.append((number, raw[:MAX_SEGMENT], candidate.index))
                slot.skipped += 1
            else:
                fresh.append((candidate, slot))
        if fresh:
            self._verify(block, at, raw, number, fresh, begun)

    def _slot(self, rule: Rule, speaker: bytes) -> _Slot | None:
        key = (self._rule_numbers[rule.id], speaker)
        slot = self._slots.get(key)
        if slot is None:
            if len(self._slots) >= MAX_KEYS:
                note = f"more than {MAX_KEYS} speakers and rules; later ones were not followed"
                self._scan.gaps = sorted({*self._scan.gaps, note})
                return None
            slot = self._slots[key] = _Slot(rule, speaker.decode("utf-8", "replace"))
        return slot

    def _verify(
        self,
        block: _Block,
        at: int,
        raw: bytes,
        number: int,
        fresh: list[tuple[Candidate, _Slot]],
        begun: dict[int, list[tuple[int, str, int]]],
    ) -> None:
        lines = _pieces(number, raw)
        quoted = self._is_quoted(block, at)
        for candidate, slot in fresh:
            hit = self._hit(candidate, lines, number, quoted)
            if hit is None or (slot.tally.first and slot.tally.first[-1] == hit):
                continue
            add_hit(slot.tally, hit, candidate.rule.census)
            begun.setdefault(block.line_start(at), []).extend(_begins(candidate.rule, number))

    def _hit(self, candidate: Candidate, lines: list[Line], number: int, quoted: bool) -> Hit | None:
        rule = candidate.rule
        if rule.match in ("block", "traceback", "stack"):
            segment = _segment_with(candidate.form, lines)
            return Hit(rule.id, candidate.index, number, segment, None)
        if quoted:
            return None
        for segment, line in enumerate(lines):
            if line.message.startswith(SKIPPED_STARTS):
                continue
            try:
                match = self._rules.main.verify(candidate.form, line.message)
            except PatternTimeout:
                self._timeouts.add(rule.id)
                continue
            if match:
                return Hit(rule.id, candidate.index, number, segment, read_fields(rule, match.groupdict()))
        return None

    def _is_quoted(self, block: _Block, at: int) -> bool:
        """Whether the line before is a traceback's frame, so that this one is source code."""
        before = block.line_before(at)
        text = (self._previous if before is None else before)[:1024]
        if b'File "' not in text:
            return False
        pieces = _pieces(0, text.rstrip(b"\r\n"))
        return bool(pieces) and FRAME.match(pieces[-1].message) is not None

    def _settle(self, slot: _Slot) -> None:
        """Verify the latest of the lines that were only counted."""
        _, last = cap(slot.rule.census)
        kept: list[Hit] = []
        for number, raw, index in reversed(slot.pending):
            candidate = next(c for c in self._rules.main.candidates if c.rule.id == slot.rule.id and c.index == index)
            hit = self._hit(candidate, _pieces(number, raw), number, quoted=False)
            if hit is not None and hit not in kept:
                kept.append(hit)
                self._windows.keep(number, raw[:MAX_TEXT].decode("utf-8", "replace"), number)
            if len(kept) >= last:
                break
        slot.tally.last = kept[::-1]
        slot.tally.count += len(kept)
        slot.tally.at_least = slot.skipped > len(kept)

    # --- surroundings ---------------------------------------------------------------------------------------

    def _walk(self, block: _Block, begun: dict[int, list[tuple[int, str, int]]]) -> None:
        """Go from each beginning to the end of what it opens, and over nothing else."""
        starts = deque(sorted(begun))
        at = 0
        while True:
            if not self._windows.is_open():
                if not starts:
                    return
                at = starts[0]
            if at >= len(block.data):
                return
            number, text, after = block.line(at)
            if self._windows.is_open():
                self._windows.step(number, text)
            if starts and starts[0] == at:
                starts.popleft()
                self._begin(block, at, text, begun[at])
            at = after

    def _begin(self, block: _Block, at: int, text: str, begins: list[tuple[int, str, int]]) -> None:
        for number, kind, lines in begins:
            self._windows.begin(number, text, kind, lines)
            if kind == "context":
                for n, before in block.lines_before(at, BEFORE) or _last_lines(self._recent, BEFORE):
                    self._windows.keep(n, before, number)

    def _head(self, block: _Block) -> None:
        """Keep the first lines; of a later part, also those that may close what the part before left open."""
        windows = self._windows
        at = 0
        while at < len(block.data):
            more = windows.opening is not None and len(windows.opening) < REACH_LINES
            if len(windows.first) >= HEAD_LINES and not more:
                return
            number, text, at = block.line(at)
            if len(windows.first) < HEAD_LINES:
                windows.first.append((number, text))
            if windows.opening is not None and more:
                windows.opening.append((number, text))

    def _remember(self, data: bytes, base: int) -> None:
        self._recent.append((data, base))
        while len(self._recent) > 1 and sum(d.count(b"\n") for d, _ in list(self._recent)[1:]) > TAIL_LINES:
            self._recent.popleft()


def _slot_key(slot: _Slot) -> tuple[str, str]:
    return (slot.rule.id, slot.speaker)


def _begins(rule: Rule, number: int) -> Iterable[tuple[int, str, int]]:
    if rule.id == TRACEBACK:
        return [(number, "traceback", TRACEBACK_REST)]
    if rule.id == STACK:
        return [(number, "stack", STACK_LINES)]
    if rule.match == "block":
        return [(number, "block", rule.lines - 1), (number, "context", AFTER)]
    if rule.match == "traceback":
        return [(number, "block", TRACEBACK_REST), (number, "context", AFTER)]
    return [(number, "context", AFTER if rule.role not in ("context", "harmless") else 0)]


def _pieces(number: int, raw: bytes) -> list[Line]:
    return read_lines(number, raw[:MAX_SEGMENT].decode("utf-8", "replace")[: MAX_TEXT * 2])


def _segment_with(form: Form, lines: list[Line]) -> int:
    for segment, line in enumerate(lines):
        text = line.message.lower() if form.ignore_case else line.message
        if any((x.lower() if form.ignore_case else x) in text for x in form.literals):
            return segment
    return 0


def _last_lines(blocks: Iterable[tuple[bytes, int]], count: int) -> list[tuple[int, str]]:
    """The last `count` lines of consecutive blocks, with their numbers."""
    found: list[tuple[int, str]] = []
    for data, base in reversed(list(blocks)):
        tail = _Block(data, base).lines_before(len(data), count - len(found))
        found = tail + found
        if len(found) >= count:
            break
    return found[-count:]


class _Block:
    """Lines of one block by offset."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data = data
        self._base = base
        self._counted_to = 0
        self._count = 0

    def number(self, at: int) -> int:
        """The line number of offset `at`; asked in rising order."""
        if at < self._counted_to:
            return self._base + self.data.count(b"\n", 0, at) + 1
        self._count += self.data.count(b"\n", self._counted_to, at)
        self._counted_to = at
        return self._base + self._count + 1

    def line_start(self, at: int) -> int:
        return self.data.rfind(b"\n", 0, at) + 1

    def segment(self, at: int) -> tuple[int, int]:
        """Start and end of what stands between line ends or carriage returns around offset `at`."""
        data = self.data
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        start = data.rfind(b"\r", start, at) + 1 or start
        cr = data.find(b"\r", at, end)
        end = end if cr < 0 else cr
        return max(start, at - MAX_SEGMENT // 2), max(min(end, at + MAX_SEGMENT // 2), at + 1)

    def line(self, at: int) -> tuple[int, str, int]:
        """Number, text and next offset of the line that starts at `at`."""
        end = self.data.find(b"\n", at)
        end = len(self.data) if end < 0 else end
        text = self.data[at : min(end, at + MAX_TEXT * 2)].decode("utf-8", "replace").rstrip("\r")
        return self.number(at), text, end + 1

    def line_before(self, at: int) -> bytes | None:
        start = self.line_start(at)
        if start == 0:
            return None
        return self.data[self.data.rfind(b"\n", 0, start - 1) + 1 : start - 1]

    def lines_before(self, at: int, count: int) -> list[tuple[int, str]]:
        """Up to `count` lines that end before the line of offset `at`."""
        found: list[tuple[int, str]] = []
        start = self.line_start(at)
        while start > 0 and len(found) < count:
            begin = self.data.rfind(b"\n", 0, start - 1) + 1
            found.append((self.number(begin), self.line(begin)[1]))
            start = begin
        return found[::-1]
