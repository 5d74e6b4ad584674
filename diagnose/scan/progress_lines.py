"""Lines that may be signs of life: where they stand, who speaks, and whether a rule agrees. Shared by all sources."""

from __future__ import annotations

from ..catalogue.matcher import Matcher, PatternTimeout, read_fields
from ..lines.lazy_pattern import lazy
from ..lines.shapes import DIGITS, MAX_SHAPE_BYTES, digit_marks
from .kept import Hit
from .passages import TextBlock
from .pieces import pieces_of
from .raw_speakers import speaker_spans

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
        pieces = pieces_of(line)
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
