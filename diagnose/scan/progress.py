"""Signs of life: the first and the last progress message (step, epoch, evaluation) of each speaker.

Step lines are too many to verify each: of a block's lines that hold a literal each speaker's first ones are asked until
one matches, if it was not heard before, and its last ones from the end. What stands between is passed by where all who
were alive before speak at the end of the block, and nobody else does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..catalogue.matcher import Matcher, PatternTimeout, read_fields
from ..lines.lazy_pattern import lazy
from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, digit_marks
from .kept import Hit
from .passages import Piece, TextBlock, read_pieces
from .voices import speaker_spans

LOOK_BYTES = 2048  # of a line
SPEAKER_BYTES = 200  # of a line: who speaks
MAX_KEPT = 400  # characters of a line that is a sign of life
MAX_SHAPES = 4_000  # of lines about which something is remembered
MAX_SPEAKERS = 200_000
MAX_FAILURES = 200  # lines of one speaker that hold a literal but match nothing, before it is taken for none
END_BYTES = 32 << 10  # of a block, in which most often all speak who are alive
DIGIT = lazy(rb"\d")
RANK = lazy(rb"\b(?i:rank)[\s:=_]{0,2}(\d{1,6})")


Line = tuple[int, int, tuple[int, ...]]  # where a line, or a piece of one, begins and ends, and which literals are in it


class ProgressLines:
    """The rules of progress, and what became of lines by their shapes."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self._names: dict[bytes, str] = {}  # who speaks on lines of a shape, where that is the same for all of them
        self._places: dict[bytes, list[tuple[int, int]]] = {}  # where lines of a shape name their speaker, else
        self._barren: set[tuple[int, bytes]] = set()  # literals and shapes of lines that match nothing
        self._any_digit: dict[int, bool] = {}  # by literal

    def by_speaker(self, block: TextBlock, start: int, stop_at: int | None = None) -> dict[str, list[Line]]:
        """Yield the lines between two offsets, or the pieces of them, that hold a literal, by speaker."""
        data, is_parted, names = block.data, block.has_returns, self._names
        found: dict[str, list[Line]] = {}
        own: list[Line] = []
        begin, stop = 0, -1
        literals: tuple[int, ...] = ()
        for end, literal in self.matcher.find(memoryview(data)[start:stop_at]):
            at = start + end
            if at <= stop:
                if literal not in literals:
                    literals += (literal,)
                    own[-1] = begin, stop, literals
                continue
            begin, stop, literals = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at), (literal,)
            if stop < 0:
                stop = len(data)
            if is_parted:
                begin = max(data.rfind(b"\r", begin, at) + 1, begin)
                carriage = data.find(b"\r", at, stop)
                stop = carriage if carriage >= 0 else stop
            head = data[begin : min(stop, begin + SPEAKER_BYTES)]
            shape = head.translate(DIGITS)
            speaker = names.get(shape)
            if speaker is None:
                speaker = self._speaker(head, shape)
            own = found.setdefault(speaker, [])
            own.append((begin, stop, literals))
        return found

    def _speaker(self, line: bytes, shape: bytes) -> str:
        """Who speaks, from a line's first SPEAKER_BYTES: its prefix and the rank that it names."""
        places = self._places.get(shape)
        if places is None:
            if len(self._places) + len(self._names) >= MAX_SHAPES:
                self._places.clear()
                self._names.clear()
            rank = RANK.search(line)
            places = [*speaker_spans(line), rank.span(1) if rank else (0, 0)]
            self._places[shape] = places
        *prefix, (start, end) = places
        speaker = b"".join([line[a:b] for a, b in prefix])
        name = (speaker + b"|" + line[start:end] if end else speaker).decode("utf-8", "replace")
        if not end and not DIGIT.search(speaker):
            self._names[shape] = name
        return name

    def verify(self, block: TextBlock, line: Line) -> Hit | None:
        """Yield the hit of the rules of a line's literals."""
        begin, stop, literals = line
        raw = block.data[begin : min(stop, begin + LOOK_BYTES)]
        shape = raw.translate(DIGITS)
        left = [x for x in literals if (x, shape) not in self._barren]
        pieces = read_pieces(raw.decode("utf-8", "replace")) if left else []
        for literal in left:
            if hit := self._ask(pieces, block, begin, literal):
                return hit
            if len(raw) <= MAX_SHAPE_BYTES and self._is_any_digit(literal):
                if len(self._barren) >= MAX_SHAPES:
                    self._barren.clear()
                self._barren.add((literal, shape))
        return None

    def _ask(self, pieces: list[Piece], block: TextBlock, begin: int, literal: int) -> Hit | None:
        for owner in self.matcher.index.owners[literal]:
            candidate = self.matcher.index.candidates[owner]
            for segment, (prefix, message) in enumerate(pieces):
                try:
                    match = self.matcher.verify(candidate.form, message, prefix)
                except PatternTimeout:
                    continue
                if match:
                    fields = read_fields(candidate.rule, match.groupdict())
                    fields["~text"] = (prefix + message)[:MAX_KEPT]
                    return Hit(candidate.rule.id, candidate.index, block.number(begin), segment, fields)
        return None

    def _is_any_digit(self, literal: int) -> bool:
        """Tell whether no pattern of a literal asks for a particular digit."""
        if literal not in self._any_digit:
            forms = [self.matcher.index.candidates[n].form for n in self.matcher.index.owners[literal]]
            patterns = [p for f in forms for p in (f.prefix, f.pattern) if p is not None]
            self._any_digit[literal] = all(digit_marks(p) == () for p in patterns)
        return self._any_digit[literal]


class ProgressReader:
    """Fed blocks in order; yields for each speaker the first and last sign of life."""

    def __init__(self, lines: ProgressLines) -> None:
        self._lines = lines
        self._first: dict[str, Hit] = {}
        self._last: dict[str, Hit] = {}
        self._alive: set[str] = set()  # who spoke in the latest block that held progress
        self._is_known = False  # who is alive
        self._failures: dict[str, int] = {}  # by speaker that was not heard yet

    def feed(self, block: TextBlock) -> None:
        """Look at a block until it is known who is alive, then at its end; at all between where that may tell more."""
        data, size, at = block.data, len(block.data), 0
        heard: set[str] = set()
        while at < size and not self._is_known:
            stop = data.find(b"\n", at + END_BYTES) + 1 or size
            lines = self._lines.by_speaker(block, at, stop)
            heard |= self._look(block, lines)
            at, self._is_known = stop, bool(lines) and self._knows(lines)
        alive = heard or self._alive
        end = max(data.rfind(b"\n", 0, max(size - END_BYTES, 0)) + 1, at)
        lines = self._lines.by_speaker(block, end)
        is_same = end > at and self._knows(lines) and alive <= lines.keys()  # nobody is missing there, or new
        if not (is_same and alive <= self._look(block, lines)):
            heard |= self._look(block, self._lines.by_speaker(block, at) if end > at else lines)
            alive = heard or self._alive
        self._alive = alive

    def _knows(self, speakers: Iterable[str]) -> bool:
        """Whether of each its first sign of life is known, or that it gives none."""
        return all(who in self._first or self._failures.get(who, 0) >= MAX_FAILURES for who in speakers)

    def finish(self) -> dict[str, tuple[Hit, Hit]]:
        """Yield first and last sign of life by speaker, sorted."""
        return {s: (self._first[s], self._last[s]) for s in sorted(self._first)}

    def _look(self, block: TextBlock, lines: dict[str, list[Line]]) -> set[str]:
        """Ask for the first sign of life of who was not heard yet, and for everybody's last one; yield who was heard."""
        heard = set()
        for speaker, own in lines.items():
            if speaker not in self._first and not self._begins(block, speaker, own):
                continue
            last = next((hit for line in reversed(own) if (hit := self._lines.verify(block, line))), None)
            if last is not None:
                self._last[speaker] = last
                heard.add(speaker)
        return heard

    def _begins(self, block: TextBlock, speaker: str, lines: Iterable[Line]) -> bool:
        failures = self._failures.get(speaker, 0)
        if failures >= MAX_FAILURES or len(self._first) >= MAX_SPEAKERS:
            return False
        for line in lines:
            if hit := self._lines.verify(block, line):
                self._first[speaker] = self._last[speaker] = hit
                return True
            failures += 1
            if failures >= MAX_FAILURES:
                break
        if speaker in self._failures or len(self._failures) < MAX_SPEAKERS:
            self._failures[speaker] = failures
        return False


def all_signs(lines: ProgressLines, block: TextBlock) -> Iterator[Hit]:
    """Yield a sign of life of every line of a block that is one, in the order of the lines."""
    for line in sorted(line for own in lines.by_speaker(block, 0).values() for line in own):
        if hit := lines.verify(block, line):
            yield hit
