"""Signs of life: the first and the last progress message (step, epoch, evaluation) of each speaker.

Step lines are too many to look at each. All are within EXACT_BYTES of a part's start and end; in between, each so many-th
block is read backward from its end until every speaker that is alive was seen. One that is not there any more is looked
for in the blocks before, so that one that falls silent is noticed at its last message, and one that speaks rarely is
seen at least at the ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Set

from ..catalogue.matcher import Matcher, PatternTimeout, read_fields
from ..lines.lazy_pattern import lazy
from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, digit_marks
from .kept import Hit
from .passages import TextBlock, read_pieces
from .voices import speaker_spans

LOOK_BYTES = 2048  # of a line
SPEAKER_BYTES = 200  # of a line: who speaks
MAX_KEPT = 400  # characters of a line that is a sign of life
MAX_SHAPES = 4_000  # of lines about which something is remembered
DIGIT = lazy(rb"\d")
RANK = lazy(rb"\b(?i:rank)[\s:=_]{0,2}(\d{1,6})")


class ProgressLines:
    """The rules of progress, and what became of lines by their shapes."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._spans: dict[bytes, tuple[list[tuple[int, int]], tuple[int, int] | None]] = {}  # where speakers stand
        self._names: dict[bytes, str] = {}  # who speaks on lines of a shape, where that is the same for all of them
        self._barren: set[tuple[int, bytes]] = set()  # literals and shapes of lines that match nothing
        self._any_digit: dict[int, bool] = {}  # by literal

    def find(self, data: bytes | memoryview) -> list[tuple[int, int]]:
        """Yield (end, literal) of what stands on lines of progress, in order."""
        return self._matcher.find(data)

    def speaker(self, line: bytes) -> str:
        """Yield who speaks, from a line's first SPEAKER_BYTES: its prefix and the rank that it names."""
        shape = line.translate(DIGITS)
        name = self._names.get(shape)
        return name if name is not None else self._read_speaker(line, shape)

    def _read_speaker(self, line: bytes, shape: bytes) -> str:
        """The same; remembered by the line's shape: the name where no digit stands in it, else where it stands."""
        found = self._spans.get(shape)
        if found is None:
            if len(self._spans) + len(self._names) >= MAX_SHAPES:
                self._spans.clear()
                self._names.clear()
            rank = RANK.search(line)
            found = self._spans[shape] = (speaker_spans(line), rank.span(1) if rank else None)
        prefix, named = found
        speaker = b"".join([line[a:b] for a, b in prefix]) if prefix else b""
        name = (speaker + b"|" + line[named[0] : named[1]] if named else speaker).decode("utf-8", "replace")
        if not named and not DIGIT.search(speaker):
            self._names[shape] = name
        return name

    def verify(self, block: TextBlock, start: int, literal: int) -> Hit | None:
        """Yield the hit of the rules of a literal on the line at offset `start`."""
        head = block.data[start : start + LOOK_BYTES]
        ends = [e for e in (head.find(b"\n"), head.find(b"\r")) if e >= 0]
        line = head[: min([*ends, len(head)])]
        key = (literal, line.translate(DIGITS))
        if key in self._barren:
            return None
        hit = self._ask(line, block, start, literal)
        if hit is None and len(line) <= MAX_SHAPE_BYTES and self._is_any_digit(literal):
            if len(self._barren) >= MAX_SHAPES:
                self._barren.clear()
            self._barren.add(key)
        return hit

    def _ask(self, line: bytes, block: TextBlock, start: int, literal: int) -> Hit | None:
        pieces = read_pieces(line.decode("utf-8", "replace"))
        for owner in self._matcher.owners[literal]:
            candidate = self._matcher.candidates[owner]
            for segment, (prefix, message) in enumerate(pieces):
                try:
                    match = self._matcher.verify(candidate.form, message, prefix)
                except PatternTimeout:
                    continue
                if match:
                    fields = read_fields(candidate.rule, match.groupdict())
                    fields["~text"] = (prefix + message)[:MAX_KEPT]
                    return Hit(candidate.rule.id, candidate.index, block.number(start), segment, fields)
        return None

    def _is_any_digit(self, literal: int) -> bool:
        """Tell whether no pattern of a literal asks for a particular digit."""
        if literal not in self._any_digit:
            forms = [self._matcher.candidates[n].form for n in self._matcher.owners[literal]]
            patterns = [p for f in forms for p in (f.prefix, f.pattern) if p is not None]
            self._any_digit[literal] = all(digit_marks(p) == () for p in patterns)
        return self._any_digit[literal]


EXACT_BYTES = 16 << 10  # of a part's start and of its end
CHUNKS_BYTES = (4 << 10, 16 << 10, 64 << 10, 256 << 10)  # a block is read backward in such steps
STRIDE = 32  # blocks: each so many-th is looked at, the others where a speaker is missed
MAX_TRIES = 30  # lines of one speaker in one block that hold a literal but match nothing, before it is left alone
MAX_FAILURES = 200  # the same over all blocks; then it is looked for near the start and the end only
MAX_SPEAKERS = 200_000


class ProgressReader:
    """Fed blocks in order; yields for each speaker the first and last sign of life."""

    def __init__(self, lines: ProgressLines) -> None:
        self._lines = lines
        self._first: dict[str, Hit] = {}
        self._last: dict[str, Hit] = {}
        self._alive: set[str] = set()  # who spoke in the latest block that held progress
        self._seen_bytes = 0
        self._unseen: list[TextBlock] = []  # blocks since the last look
        self._failures: dict[str, int] = {}  # by speaker, in the blocks between start and end
        self._recent: deque[TextBlock] = deque()  # EXACT_BYTES of them
        self._recent_bytes = 0

    def feed(self, block: TextBlock) -> None:
        """Look at the block's end now and then, and at all of it near the start."""
        size = len(block.data)
        known = len(self._first)
        if self._seen_bytes < EXACT_BYTES:
            end = block.data.rfind(b"\n", 0, EXACT_BYTES - self._seen_bytes) + 1 or size
            self._search(block, (0, end), self._first)
        fresh = set(list(self._first)[known:]) if len(self._first) > known else set()
        self._alive |= fresh
        self._recent.append(block)
        self._recent_bytes += size
        self._seen_bytes += size
        self._unseen.append(block)
        if self._seen_bytes > EXACT_BYTES and (fresh or len(self._unseen) >= STRIDE):
            self._look()
        while len(self._recent) > 1 and self._recent_bytes - len(self._recent[0].data) >= EXACT_BYTES:
            self._recent_bytes -= len(self._recent.popleft().data)

    def _look(self) -> None:
        """See who is alive in the latest block, and when those were last who are not.

        Where anybody is heard for the first time all blocks are read: another one may have fallen silent in between.
        """
        missing = set(self._alive)
        is_known, alive = bool(missing), None
        while self._unseen and (missing or alive is None or (alive and not is_known)):
            found = self._backward(self._unseen.pop(), missing)
            alive = found if alive is None else alive
            missing -= found
        self._unseen.clear()
        self._alive = alive if alive is not None else self._alive

    def finish(self) -> dict[str, tuple[Hit, Hit]]:
        """Yield first and last sign of life by speaker, sorted."""
        if self._seen_bytes > EXACT_BYTES:  # else all of it is near enough to the end
            self._look()
        for speaker, hit in self._near_end().items():
            self._keep_last(speaker, hit)
            self._first.setdefault(speaker, hit)
        return {s: (self._first[s], self._last.get(s, self._first[s])) for s in sorted(self._first)}

    def _near_end(self) -> dict[str, Hit]:
        found: dict[str, Hit] = {}
        left = EXACT_BYTES
        for block in reversed(self._recent):
            start = block.data.rfind(b"\n", 0, max(len(block.data) - left, 0)) + 1
            self._search(block, (start, len(block.data)), found, is_backward=True)
            left -= len(block.data)
            if left <= 0:
                break
        return found

    def _backward(self, block: TextBlock, expected: set[str]) -> set[str]:
        found: dict[str, Hit] = {}
        end = len(block.data)
        for chunk in (*CHUNKS_BYTES, len(block.data)):
            start = block.data.rfind(b"\n", 0, max(end - chunk, 0)) + 1
            self._search(block, (start, end), found, is_backward=True, is_between=True)
            end = start
            if end == 0 or (expected and expected <= found.keys()):
                break
        if found.keys() - self._first.keys():
            self._search(block, (0, len(block.data)), self._first, wanted=found.keys())
        for speaker, hit in found.items():
            self._keep_last(speaker, hit)
        return set(found)

    def _keep_last(self, speaker: str, hit: Hit) -> None:
        old = self._last.get(speaker)
        if (old is None and len(self._last) < MAX_SPEAKERS) or (old is not None and old.line <= hit.line):
            self._last[speaker] = hit

    def _search(
        self,
        block: TextBlock,
        span: tuple[int, int],
        found: dict[str, Hit],
        *,
        is_backward: bool = False,
        is_between: bool = False,
        wanted: Set[str] | None = None,
    ) -> None:
        """Look for one sign of life of each speaker in a span; `is_between`: start and end, where a speaker may fail for
        good; `wanted`: nobody else is looked for."""
        failures = self._failures if is_between else dict[str, int]()
        tries: dict[str, int] = {s: MAX_TRIES + 1 for s, n in failures.items() if n > MAX_FAILURES}
        done, asked = -1, set[int]()  # where the line begins that was looked at last, and for which literals
        for literal, begin, stop in self._literals(block, span, is_backward=is_backward):
            speaker = self._lines.speaker(block.data[begin : min(stop, begin + SPEAKER_BYTES)])
            if speaker in found or len(found) >= MAX_SPEAKERS or tries.get(speaker, 0) > MAX_TRIES:
                continue
            asked = asked if begin == done else set()
            hit = self._lines.verify(block, begin, literal) if literal not in asked else None
            asked.add(literal)
            if hit:
                found[speaker] = hit
                if wanted is not None and wanted <= found.keys():
                    return
            elif begin != done:
                tries[speaker] = tries.get(speaker, 0) + 1
                if is_between and speaker not in self._alive and len(failures) < MAX_SPEAKERS:
                    failures[speaker] = failures.get(speaker, 0) + 1
            done = begin

    def _literals(self, block: TextBlock, span: tuple[int, int], *, is_backward: bool) -> Iterator[tuple[int, int, int]]:
        """Yield the literals of progress and the text (a line or a piece of it) that each is in."""
        data, (start, end) = block.data, span
        ends = self._lines.find(memoryview(data)[start:end])
        line, line_end = 0, -1  # the line of the last literal: one of a megabyte may hold 200,000
        is_parted = block.has_returns()
        for stop, literal in reversed(ends) if is_backward else ends:
            at = start + stop
            if not line < at <= line_end:
                line, line_end = _line_around(data, start, at)
            begin, stop_at = line, min(line_end, at + LOOK_BYTES)
            if is_parted and data.find(b"\r", begin, stop_at) >= 0:
                begin, stop_at = _piece_around(data, at, begin, stop_at)
            yield literal, begin, stop_at


def all_signs(lines: ProgressLines, block: TextBlock) -> Iterator[Hit]:
    """Yield a sign of life of every line of a block that is one."""
    data, line_end, is_known = block.data, -1, False
    for at, literal in lines.find(data):
        if at > line_end:
            (line, line_end), is_known = _line_around(data, 0, at), False
        hit = None if is_known else lines.verify(block, line, literal)
        if hit is not None:
            is_known = True
            yield hit


def _line_around(data: bytes, start: int, at: int) -> tuple[int, int]:
    end = data.find(b"\n", at)
    return data.rfind(b"\n", start, at) + 1 or start, end if end >= 0 else len(data)


def _piece_around(data: bytes, at: int, begin: int, end: int) -> tuple[int, int]:
    """Where what is looked at around `at` begins and ends in a line that a bar's updates part."""
    begin = max(data.rfind(b"\r", max(begin, at - LOOK_BYTES), at) + 1, begin)
    carriage = data.find(b"\r", at, end)
    return begin, carriage if carriage >= 0 else end
