"""What is kept of one source or a part of one: verified hits, the lines around them, signs of life; and the same packed.

Each hit has one `Walk` over the lines that follow. One that is still open where a part of a source ends goes on over the
first lines of the next part: so a source read in parts gives the same lines as one read whole.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from ..lines.lazy_pattern import lazy
from ..lines.prefix import read_lines
from ..lines.record import record
from .voices import MAX_TEXT, Voices
from .walks import REACH_BYTES, Walk

LEVEL = 7  # a tenth less than level 3; the higher ones take longer and save next to nothing
LIKE_BYTES = 16 << 10  # of the first sources: more of them saves a tenth, and takes longer to look through
_RAW = -zlib.MAX_WBITS  # no header and no checksum: nobody else reads it
HEAD_LINES = 12  # of a source: who it is, and when it began
TAIL_LINES = 25  # of a source: what it did last
BEFORE = 3  # neighbours of a hit shown as context
MAX_SPANS = 100_000  # hits whose surroundings are kept, per source; a hostile file may open one on each line

FRAME = lazy(r'\s*(?:[|+]\s*)*File "[^"]{1,400}", line \d+(?:,|\s*$)')  # no code follows `line 3 in wait` of faulthandler

Span = tuple[int, str]  # line of a hit, and what it wants


@dataclass(slots=True)
class Windows:
    """The kept lines of one source or part, and what is open at its end."""

    lines: dict[int, str] = field(default_factory=dict)
    spans: dict[Span, list[int]] = field(default_factory=dict)  # which lines each hit wants
    long: dict[int, str] = field(default_factory=dict)  # lines longer than MAX_TEXT: what stands around their hits
    first: list[tuple[int, str]] = field(default_factory=list)
    last: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    open: list[Walk] = field(default_factory=list)
    opening: bytes | None = None  # of a later part: its first lines, for what is open before it
    is_all_opening: bool = False  # whether they are all of its lines

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
        self.open = sorted((w for w in self.open if (w.line, w.want) in wanted), key=lambda w: (w.line, w.want))

    def shifted(self, by: int) -> Windows:
        """Yield the same windows with line numbers moved by `by`."""
        moved = Windows({n + by: t for n, t in self.lines.items()})
        moved.spans = {(line + by, want): [n + by for n in ns] for (line, want), ns in self.spans.items()}
        moved.long = {n + by: t for n, t in self.long.items()}
        moved.first = [(n + by, t) for n, t in self.first]
        moved.last.extend((n + by, t) for n, t in self.last)
        moved.open = [replace(w, line=w.line + by) for w in self.open]
        moved.opening, moved.is_all_opening = self.opening, self.is_all_opening
        return moved

    def followed_by(self, later: Windows, shift: int) -> Windows:
        """Yield the windows of both parts; `later` is as it was read, this part holds `shift` line ends."""
        if later.opening is None:
            raise ValueError("the part that follows was read as the start of a source")
        b = later.shifted(shift)
        joined = Windows({**self.lines, **b.lines}, long={**self.long, **b.long})
        joined.spans = {span: list(ns) for span, ns in [*self.spans.items(), *b.spans.items()]}
        joined.open = [*_go_on(joined, [replace(w) for w in self.open], b, shift), *b.open]
        _look_back(joined, self, b, shift)
        joined.first = (self.first + b.first)[:HEAD_LINES]
        joined.last.extend([*self.last, *b.last])
        joined.is_all_opening = self.is_all_opening and b.is_all_opening
        if self.opening is not None:
            joined.opening = self.opening
            if self.is_all_opening:
                joined.opening, fits = cut_opening(self.opening + later.opening)
                joined.is_all_opening = fits and later.is_all_opening
        return joined

    def to_json(self) -> dict[str, Any]:
        """Yield plain values, of a source that was read to its end."""
        return {
            "lines": [list(x) for x in sorted(self.lines.items())],
            "spans": [[line, want, ns] for (line, want), ns in sorted(self.spans.items())],
            "long": [list(x) for x in sorted(self.long.items())],
            "first": [list(x) for x in self.first],
            "last": [list(x) for x in self.last],
            "open": [], "opening": None, "is_all_opening": False,
        }  # fmt: skip

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Windows:
        """Read what `to_json` wrote."""
        windows = cls(dict(raw["lines"]), {(line, want): ns for line, want, ns in raw["spans"]})
        windows.long = dict(raw["long"])
        windows.first = [(n, t) for n, t in raw["first"]]
        windows.last.extend((n, t) for n, t in raw["last"])
        return windows


def _go_on(joined: Windows, walks: list[Walk], later: Windows, shift: int) -> list[Walk]:
    """Lead what is open through the first lines of the part that follows; yield what is open at its end."""
    opening = Voices(later.opening or b"")
    for walk in walks:
        for number, raw in walk.read(opening, 0, shift + 1):
            joined.spans[(walk.line, walk.want)].append(number)
            joined.lines.setdefault(number, decode(raw))
    return [w for w in walks if w.is_open() and later.is_all_opening]


def _look_back(joined: Windows, earlier: Windows, later: Windows, shift: int) -> None:
    """Give the first hits of the later part the neighbours that stand before it."""
    for (line, want), numbers in later.spans.items():
        if want != "line" and line - BEFORE <= shift:
            before = [(n, text) for n, text in earlier.last if n >= line - BEFORE]
            joined.spans[(line, want)] = [*(n for n, _ in before), *numbers]
            for n, text in before:
                joined.lines.setdefault(n, text)


def cut_opening(data: bytes) -> tuple[bytes, bool]:
    """Yield the first lines of `data` (each cut to MAX_TEXT) within REACH_BYTES, and whether they are all."""
    out: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True) if b"\r" not in data else _split(data):
        cut = line
        if len(line) > MAX_TEXT:
            cut = line[:MAX_TEXT].rstrip(b"\n") + (b"\n" if line.endswith(b"\n") else b"")
        size += len(cut) + (not cut.endswith(b"\n"))
        if size > REACH_BYTES:
            return b"".join(out), False
        out.append(cut)
    return b"".join(out), True


def _split(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def decode(raw: bytes) -> str:
    """Yield the text of a line, cut to MAX_TEXT bytes and without a carriage return at its end."""
    return raw[:MAX_TEXT].decode("utf-8", "replace").rstrip("\r")


def is_frame(text: str) -> bool:
    """Tell whether a line is a traceback's frame (`File "train.py", line 7, in step`), whoever printed it."""
    return 'File "' in text and FRAME.match(read_lines(0, text[:1024])[-1].message) is not None


@record
class Packed:
    """What is kept of a source as bytes, a tenth of its size as objects."""

    data: bytes
    like: bytes  # of the first sources, which many share

    def whole(self) -> Kept:
        """Yield what was packed."""
        plain = zlib.decompressobj(_RAW, zdict=self.like).decompress(self.data)
        return cast(Kept, pickle.loads(plain))  # noqa: S301 - which this process made


class Packer:
    """Packs what is kept of the sources of one reading."""

    def __init__(self) -> None:
        self._like = b""

    def pack(self, kept: Kept) -> Packed:
        """Yield it in less memory, for one that grows no more."""
        plain, like = pickle.dumps(kept, pickle.HIGHEST_PROTOCOL), self._like
        if len(like) < LIKE_BYTES:
            self._like = (like + plain)[:LIKE_BYTES]
        deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, _RAW, zdict=like)
        return Packed(deflate.compress(plain) + deflate.flush(), like)


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
