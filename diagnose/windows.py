"""Which lines around a hit are kept: its neighbours, the traceback or stack it opens, the block it begins.

Fed line by line, but only from a hit to the end of what it opens; between hits no line is looked at. State that is
still open at the end of a part goes on into the next part when the two are merged.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from .prefixes import read_lines, speaker_key

HEAD_LINES = 12  # of a source: who it is, and when it began
TAIL_LINES = 25  # of a source: what it did last
BEFORE = 3  # neighbours of a hit shown as context
AFTER = 3
TRACEBACK_REST = 14  # lines of the same speaker kept below an exception line: its message goes on, or a chain does
STACK_LINES = 400  # of one dump of threads
REACH_LINES = 5_000  # what is open is given up after so many lines, its own or of others; a later part remembers its
# first lines up to here, to close what the part before left open
MAX_KEPT = 200_000  # lines per source; a hostile file may open a traceback on each line
MAX_TEXT = 8 * 1024

FRAME = re.compile(r'\s*(?:[|+]\s*)*File "[^"]{1,400}", line \d+')
CHAIN = re.compile(r"Traceback \(most|During handling of|The above exception|Original Traceback|\s*[|+]|\s*$|-{3,}")


@dataclass(slots=True)
class Opened:
    """Something a speaker began: `left` more lines of it are wanted."""

    kind: str  # "block", "traceback", "stack"
    left: int
    since: int  # the line it began on


@dataclass(slots=True)
class Windows:
    """The kept lines of one source or part, and what is open at its end."""

    lines: dict[int, str] = field(default_factory=dict)
    owners: dict[int, set[int]] = field(default_factory=dict)  # kept line -> lines of the hits that want it
    first: list[tuple[int, str]] = field(default_factory=list)
    last: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    opened: dict[str, Opened] = field(default_factory=dict)
    context: dict[int, int] = field(default_factory=dict)  # hit line -> neighbours below it still to come
    opening: list[tuple[int, str]] | None = None  # of a later part: its first lines, for what is open before it
    begun: list[tuple[int, str, int]] = field(default_factory=list)  # what began within `opening`

    def kept(self) -> dict[int, str]:
        """Yield the kept lines by number, in order."""
        everything = {**dict(self.first), **dict(self.last), **self.lines}
        return dict(sorted(everything.items()))

    def is_open(self) -> bool:
        """Whether the next line may be wanted."""
        return bool(self.opened or self.context)

    def keep(self, number: int, text: str, owner: int) -> None:
        """Keep one line for the hit on line `owner`."""
        if len(self.lines) < MAX_KEPT:
            self.lines[number] = text[:MAX_TEXT]
            self.owners.setdefault(number, set()).add(owner)

    def prune(self, hits: set[int]) -> None:
        """Drop what only hits wanted that are no longer kept."""
        for number in [n for n, owners in self.owners.items() if not owners & hits]:
            del self.lines[number], self.owners[number]

    def begin(self, number: int, text: str, kind: str, lines: int) -> None:
        """Begin something at this line: "context", or a "block", "traceback" or "stack" of the line's speaker."""
        if self.opening is not None and number <= REACH_LINES:
            self.begun.append((number, kind, lines))
        self._begin(number, text, kind, lines)

    def _begin(self, number: int, text: str, kind: str, lines: int) -> None:
        self.keep(number, text, number)
        if kind == "context":
            self.context[number] = lines
            return
        speaker = _speaker(text)
        old = self.opened.get(speaker)
        if kind == "traceback" or old is None or old.left < lines:
            self.opened[speaker] = Opened(kind, lines, number)

    def step(self, number: int, text: str) -> None:
        """Look at the next line: keep it if something open wants it."""
        for hit in list(self.context):
            self.keep(number, text, hit)
            self.context[hit] -= 1
            if self.context[hit] <= 0:
                del self.context[hit]
        self._give_up(number)
        if not self.opened:
            return
        segments = read_lines(number, text[:MAX_TEXT])
        line = segments[-1] if segments else None
        speaker = speaker_key(line.prefix) if line else ""
        entry = self.opened.get(speaker) or (self._only() if not speaker else None)
        if entry is None:
            return
        self.keep(number, text, entry.since)
        self._count(speaker if speaker in self.opened else next(iter(self.opened)), entry, line.message if line else "")

    def _only(self) -> Opened | None:
        """A line without a speaker goes on with what is open, if that is one thing."""
        return next(iter(self.opened.values())) if len(self.opened) == 1 else None

    def _count(self, speaker: str, entry: Opened, message: str) -> None:
        if entry.kind == "traceback" and (message[:1].isspace() or CHAIN.match(message)):
            entry.left = TRACEBACK_REST
            return
        entry.left -= 1
        if entry.left <= 0:
            del self.opened[speaker]

    def _give_up(self, number: int) -> None:
        stale = [s for s, o in self.opened.items() if number - o.since > REACH_LINES]
        for speaker in stale:
            del self.opened[speaker]

    def breaks_first_line_of(self, later: Windows) -> bool:
        """Whether the first line of the part after this one is the source line below a traceback's frame."""
        return bool(self.last) and FRAME.match(_message(self.last[-1][1])) is not None

    def shifted(self, by: int) -> Windows:
        """Yield the same windows with line numbers moved by `by`."""
        moved = Windows({n + by: t for n, t in self.lines.items()}, first=[(n + by, t) for n, t in self.first])
        moved.last.extend((n + by, t) for n, t in self.last)
        moved.opened = {s: Opened(o.kind, o.left, o.since + by) for s, o in self.opened.items()}
        moved.context = {n + by: left for n, left in self.context.items()}
        moved.owners = {n + by: {o + by for o in owners} for n, owners in self.owners.items()}
        moved.begun = [(n + by, kind, lines) for n, kind, lines in self.begun]
        moved.opening = None if self.opening is None else [(n + by, t) for n, t in self.opening]
        return moved

    def followed_by(self, later: Windows) -> Windows:
        """Yield the windows of both parts; `later` is already shifted behind this part."""
        joined = Windows(dict(self.lines), first=list(self.first), last=deque(self.last, TAIL_LINES))
        joined.opened = {s: Opened(o.kind, o.left, o.since) for s, o in self.opened.items()}
        joined.context = dict(self.context)
        joined.owners = {n: set(owners) for n, owners in self.owners.items()}
        joined._replay(later)
        if not _is_all_opening(later):
            joined.opened = {s: Opened(o.kind, o.left, o.since) for s, o in later.opened.items()}
            joined.context = dict(later.context)
        joined.first = (joined.first + later.first)[:HEAD_LINES]
        joined.last.extend(later.last)
        joined.lines = dict(sorted({**joined.lines, **later.lines}.items()))
        for number, owners in later.owners.items():
            joined.owners.setdefault(number, set()).update(owners)
        if self.opening is not None:
            room = max(0, REACH_LINES - len(self.opening))
            joined.opening = self.opening + (later.opening or [])[:room]
            reach = joined.opening[-1][0] if joined.opening else 0
            joined.begun = self.begun + [b for b in later.begun if b[0] <= reach]
        return joined

    def _replay(self, later: Windows) -> None:
        """Go on with what is open here through the first lines of `later`, as reading them in one go would have."""
        begun: dict[int, list[tuple[str, int]]] = {}
        for number, kind, lines in later.begun:
            begun.setdefault(number, []).append((kind, lines))
            for n, text in self.last:
                if kind == "context" and number - BEFORE <= n < number:
                    self.keep(n, text, number)
        for number, text in later.opening or []:
            if self.is_open():
                self.step(number, text)
            for kind, lines in begun.get(number, ()):
                self._begin(number, text, kind, lines)

    def to_json(self) -> dict[str, Any]:
        """Yield plain values."""
        opened = {s: [o.kind, o.left, o.since] for s, o in sorted(self.opened.items())}
        return {
            "lines": [[n, t, sorted(self.owners[n])] for n, t in sorted(self.lines.items())],
            "first": [list(x) for x in self.first],
            "last": [list(x) for x in self.last],
            "opened": opened,
            "context": sorted(self.context.items()),
            "opening": None if self.opening is None else [list(x) for x in self.opening],
            "begun": [list(x) for x in self.begun],
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Windows:
        """Read what `to_json` wrote."""
        windows = cls({n: t for n, t, _ in raw["lines"]}, {n: set(owners) for n, _, owners in raw["lines"]})
        windows.first = [(n, t) for n, t in raw["first"]]
        windows.last.extend((n, t) for n, t in raw["last"])
        windows.opened = {s: Opened(*o) for s, o in raw["opened"].items()}
        windows.context = {n: left for n, left in raw["context"]}
        windows.begun = [(n, kind, lines) for n, kind, lines in raw["begun"]]
        windows.opening = None if raw["opening"] is None else [(n, t) for n, t in raw["opening"]]
        return windows


def _is_all_opening(later: Windows) -> bool:
    """Whether the opening lines are all there is of the later part."""
    if later.opening is None or not later.last:
        return not later.last
    return bool(later.opening) and later.opening[-1][0] == later.last[-1][0]


def _speaker(text: str) -> str:
    segments = read_lines(0, text[:MAX_TEXT])
    return speaker_key(segments[-1].prefix) if segments else ""


def _message(text: str) -> str:
    segments = read_lines(0, text[:MAX_TEXT])
    return segments[-1].message if segments else ""
