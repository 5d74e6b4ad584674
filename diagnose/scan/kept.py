"""What is kept of one source or a part of one: verified hits, the lines around them, signs of life."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..lines.lazy_pattern import lazy
from ..lines.prefix import read_lines
from .voices import MAX_TEXT

HEAD_LINES = 12  # of a source: who it is, and when it began
TAIL_LINES = 25  # of a source: what it did last
BEFORE = 3  # neighbours of a hit shown as context
MAX_SPANS = 100_000  # hits whose surroundings are kept, per source; a hostile file may open one on each line

FRAME = lazy(r'\s*(?:[|+]\s*)*File "[^"]{1,400}", line \d+(?:,|\s*$)')  # no code follows `line 3 in wait` of faulthandler

Span = tuple[int, str]  # line of a hit, and what it wants


@dataclass(slots=True)
class Windows:
    """The kept lines of one source or part."""

    lines: dict[int, str] = field(default_factory=dict)
    spans: dict[Span, list[int]] = field(default_factory=dict)  # which lines each hit wants
    long: dict[int, str] = field(default_factory=dict)  # lines longer than MAX_TEXT: what stands around their hits
    first: list[tuple[int, str]] = field(default_factory=list)
    last: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))

    def kept(self) -> dict[int, str]:
        """Yield the kept lines by number, in order."""
        everything = {**dict(self.first), **dict(self.last), **self.lines, **self.long}
        return dict(sorted(everything.items()))

    def keep(self, span: Span, lines: list[tuple[int, bytes]]) -> None:
        """Keep lines, by number, for the hit that `span` names."""
        numbers, kept = self.spans[span], self.lines
        for number, raw in lines:
            numbers.append(number)
            if number not in kept:
                kept[number] = decode(raw)

    def begin(self, span: Span) -> bool:
        """Make room for the lines of a hit; False where they are kept already, or too many are."""
        if span in self.spans or len(self.spans) >= MAX_SPANS:
            return False
        self.spans[span] = []
        return True

    def prune(self, wanted: set[Span]) -> None:
        """Drop what only hits wanted that are no longer kept."""
        before = len(self.spans)
        self.spans = {span: numbers for span, numbers in sorted(self.spans.items()) if span in wanted}
        keep = self.lines if len(self.spans) == before else {n for numbers in self.spans.values() for n in numbers}
        self.lines = {n: self.lines[n] for n in sorted(keep)}
        hits = {line for line, _ in wanted}
        self.long = {n: text for n, text in sorted(self.long.items()) if n in hits}

    def followed_by(self, later: Windows, shift: int) -> Windows:
        """Yield the windows of both parts; what the earlier one holds of the later one's lines, and the other way round, is
        the same. This part has `shift` line ends."""
        joined = Windows({**self.lines, **dict(_moved(later.lines.items(), shift))})
        moved = {(line + shift, want): [n + shift for n in numbers] for (line, want), numbers in later.spans.items()}
        joined.spans = {**self.spans, **moved}
        joined.long = {**self.long, **dict(_moved(later.long.items(), shift))}
        joined.first = [*self.first, *_moved(later.first, shift)][:HEAD_LINES]
        joined.last.extend([*self.last, *_moved(later.last, shift)])
        return joined

    def to_json(self) -> dict[str, Any]:
        """Yield plain values."""
        return {
            "lines": [list(x) for x in sorted(self.lines.items())],
            "spans": [[line, want, ns] for (line, want), ns in sorted(self.spans.items())],
            "long": [list(x) for x in sorted(self.long.items())],
            "first": [list(x) for x in self.first],
            "last": [list(x) for x in self.last],
            "open": [], "opening": None, "is_all_opening": False,  # earlier versions ask for these
        }  # fmt: skip

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Windows:
        """Read what `to_json` wrote."""
        windows = cls(dict(raw["lines"]), {(line, want): ns for line, want, ns in raw["spans"]})
        windows.long = dict(raw["long"])
        windows.first = [(n, t) for n, t in raw["first"]]
        windows.last.extend((n, t) for n, t in raw["last"])
        return windows


def _moved(lines: Iterable[tuple[int, str]], by: int) -> Iterator[tuple[int, str]]:
    return ((number + by, text) for number, text in lines)


def decode(raw: bytes) -> str:
    """Yield the text of a line, cut to MAX_TEXT bytes and without a carriage return at its end."""
    return raw[:MAX_TEXT].decode("utf-8", "replace").rstrip("\r")


def is_frame(text: str) -> bool:
    """Tell whether a line is a traceback's frame (`File "train.py", line 7, in step`), whoever printed it."""
    return 'File "' in text and FRAME.match(read_lines(0, text[:1024])[-1].message) is not None


def give_back_memory() -> None:
    """Give what was freed back to the system: glibc keeps it (50 MB, once an automaton was built), Python cannot use it."""
    import ctypes  # most readings need no such help

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


FEW = 6  # occurrences of a rule that are kept per speaker: so many first ones, and as many last ones
CENSUS = 16  # the same for rules that correlators count (`census: true`)


class Hit(NamedTuple):
    """A rule's literal stood in this line; `fields` is None where the pattern still waits for its whole block."""

    rule: str
    form: int
    line: int  # from 1, within the part read until merged
    segment: int  # which piece of the line, where carriage returns or a glued prefix cut it
    fields: dict[str, Any] | None


Signs = dict[str, tuple[Hit, Hit]]


@dataclass(slots=True)
class Tally:
    """The first and last hits of one rule by one speaker; all of them where `at_least` is false."""

    first: list[Hit] = field(default_factory=list)
    last: list[Hit] = field(default_factory=list)  # of those behind the first ones
    want: str = "near"  # what the rule wants of the lines around a hit, in the words of `windows`
    census: bool = False  # the larger cap applies

    @property
    def at_least(self) -> bool:
        """Whether there may be more hits than were counted."""
        return len(self.first) + len(self.last) == 2 * cap(self.census)

    def hits(self) -> list[Hit]:
        """Yield the kept hits in order, each once."""
        return self.first + self.last


@dataclass(slots=True)
class Kept:
    """What takes most of a scan's memory."""

    windows: Windows = field(default_factory=Windows)
    progress: Signs = field(default_factory=dict)  # by speaker: first and last sign of life
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)  # by rule id and speaker

    def to_json(self) -> dict[str, Any]:
        """Yield plain values."""
        tallies = [
            [rule, speaker, t.want, t.census, t.first, t.last] for (rule, speaker), t in sorted(self.tallies.items())
        ]
        return {"tallies": tallies, "progress": sorted(self.progress.items()), "windows": self.windows.to_json()}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Kept:
        """Read what `to_json` wrote."""
        tallies = {
            (rule, speaker): Tally([Hit(*h) for h in first], [Hit(*h) for h in last], want, census)
            for rule, speaker, want, census, first, last in raw["tallies"]
        }
        signs = {speaker: (Hit(*first), Hit(*last)) for speaker, (first, last) in raw["progress"]}
        return cls(Windows.from_json(raw["windows"]), signs, tallies)


def cap(census: bool) -> int:
    """Yield how many first hits a rule keeps per speaker, and how many last ones."""
    return CENSUS if census else FEW


def tally_of(hits: list[Hit], want: str, census: bool) -> Tally:
    """Yield the tally of all hits, or of the first and last ones."""
    most = cap(census)
    return Tally(hits[:most], hits[most:][-most:], want, census)
