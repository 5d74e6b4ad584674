"""Which lines around a hit are kept: its neighbours, the traceback or stack it opens, the block it begins.

Each hit has one `Walk`: from its line on it looks at the lines that follow until it has what it wants. Walks do not
know each other, and a walk that is still open where a part of a source ends goes on over the first lines of the next
part: so a source read in parts gives the same lines as one read whole.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

from ..lazy_pattern import lazy
from ..prefixes import fast_speaker, read_lines, split_prefix

HEAD_LINES = 12  # of a source: who it is, and when it began
TAIL_LINES = 25  # of a source: what it did last
BEFORE = 3  # neighbours of a hit shown as context
AFTER = 3
TRACEBACK_REST = 14  # lines of the same speaker kept below an exception line: its message goes on, or a chain does
STACK_REST = 8  # lines below a dump of threads that do not look like one, before it counts as ended
MAX_OWN_LINES = 1_500  # of one traceback or dump
REACH_LINES = 5_000  # what is open is given up after so many lines, its own or of others …
REACH_BYTES = 512 << 10  # … or so many bytes; a part remembers its opening up to here, for what the part before opened
MAX_GAP = {"traceback": 2_000, "stack": 2_000}  # lines of others between two of a speaker (ranks that are woven)
OTHER_GAP = 300
MAX_SPANS = 100_000  # hits whose surroundings are kept, per source; a hostile file may open one on each line
MAX_TEXT = 8 * 1024  # bytes of one line
RANK_MARK = b"[rank"

FRAME = lazy(r'\s*(?:[|+]\s*)*File "[^"]{1,400}", line \d+')
CHAIN = lazy(r"Traceback \(most|During handling of|The above exception|Original Traceback|\s*[|+│┃╭╰┏┗❱]|-{3,}")
THREAD = lazy(r"(?:Current thread|Thread|Traceback for thread) (?:0x)?[\da-fA-F]")  # has a walk of its own
# `triton.runtime.errors.OutOfResources: out of …`: below a frame that is the exception, although `word: ` names a speaker.
EXCEPTION = lazy(rb"(?:[A-Za-z_]\w{0,60}\.){0,8}_?[A-Z]\w{0,80}:$")
STACK_LINE = lazy(r"\s|frame #|#\d|Thread |Current thread|Process |Python |\[New |\[Current |\[Thread |File \"|C\+\+")


@dataclass(slots=True)
class Walk:
    """What one hit still wants of the lines that follow it."""

    line: int  # of the hit
    want: str  # "near", "block", "rest", "traceback", "stack"
    speaker: bytes  # of the hit's line, as `fast_speaker` reads it
    near: int  # neighbours still to come, whoever speaks
    own: int  # lines of the same speaker still to come
    is_mine: bool = True  # whether the hit's speaker spoke last
    most: int = MAX_OWN_LINES
    lines_left: int = REACH_LINES
    bytes_left: int = REACH_BYTES
    gap: int = 0  # so many lines of others since its last own one

    def is_open(self) -> bool:
        """Tell whether the next line may be wanted."""
        if self.lines_left <= 0 or self.bytes_left < 0:
            return False
        return self.near > 0 or (self.own > 0 and self.most > 0 and self.gap <= MAX_GAP.get(self.want, OTHER_GAP))

    def read(self, data: bytes, at: int, number: int) -> list[tuple[int, bytes]]:
        """Go over the lines of `data` from offset `at` on, the first of which has this number; yield the wanted ones."""
        wanted: list[tuple[int, bytes]] = []
        size = len(data)
        while at < size and self.is_open():
            if not self.near and not self.is_mine:
                at, count = self._pass_by(data, at)
                number += count
                if at >= size or not self.is_open():
                    break
            end = data.find(b"\n", at)
            end = size if end < 0 else end
            raw = data[at : min(end, at + MAX_TEXT)]
            if self.takes(raw):
                wanted.append((number, raw))
            at, number = end + 1, number + 1
        return wanted

    def _pass_by(self, data: bytes, at: int) -> tuple[int, int]:
        """Pass by what others go on to say, which in a mixed log is most; yield where it ends, and its lines."""
        size, speaker, bytes_left = len(data), self.speaker, self.bytes_left
        tag = speaker[: speaker.find(b"]") + 1] if speaker.startswith(RANK_MARK) else b""
        count, most = 0, min(self.lines_left, MAX_GAP.get(self.want, OTHER_GAP) + 1 - self.gap)
        while at < size and count < most and bytes_left >= 0:
            end = data.find(b"\n", at)
            end = size if end < 0 else end
            if tag and data.startswith(RANK_MARK, at):
                if data.startswith(tag, at):
                    break
            elif who := fast_speaker(data[at : min(end, at + 256)]):
                if speaker and (who.startswith(speaker) or speaker.startswith(who)):
                    break
            elif not speaker:
                break
            bytes_left -= min(end - at, MAX_TEXT) + 1
            at, count = end + 1, count + 1
        self.bytes_left = bytes_left
        self.lines_left -= count
        self.gap += count
        return at, count

    def takes(self, raw: bytes) -> bool:
        """Look at the next line (cut to MAX_TEXT, without its end); tell whether it is wanted."""
        self.lines_left -= 1
        self.bytes_left -= len(raw) + 1
        if self.bytes_left < 0:
            return False
        is_near = self.near > 0
        if is_near:
            self.near -= 1
        if self.own <= 0:
            return is_near
        if not self._speaks(raw):
            self.gap += 1
            return is_near
        self.most -= 1
        self.gap = 0
        self._count(raw)
        return True

    def _speaks(self, raw: bytes) -> bool:
        if raw.startswith(RANK_MARK) and self.speaker.startswith(RANK_MARK):  # the commonest, without a pattern
            end = self.speaker.find(b"]") + 1
            self.is_mine = raw[:end] == self.speaker[:end]
            return self.is_mine
        who = fast_speaker(raw[:256])
        if who:
            # A launcher's prefix alone, or with the rank's own behind it, is the same process.
            of_mine = bool(self.speaker) and (who.startswith(self.speaker) or self.speaker.startswith(who))
            self.is_mine = of_mine or self._ends_frames(who)
            return self.is_mine
        return self.is_mine or not self.speaker  # a line without a speaker goes on with what was said last

    def _ends_frames(self, who: bytes) -> bool:
        """Tell whether `who` is rather the name of the exception that the frames just read of no speaker lead to."""
        is_below_frame = self.want == "traceback" and self.is_mine and not self.gap and self.own == TRACEBACK_REST
        return is_below_frame and not self.speaker and EXCEPTION.match(who) is not None

    def _count(self, raw: bytes) -> None:
        if self.want in ("traceback", "stack"):
            text = raw[:1024].decode("utf-8", "replace").rstrip("\r")
            message = text[split_prefix(text).end :]
            if not message.strip():
                return
            if self.want == "traceback" and (message[0].isspace() or CHAIN.match(message)):
                self.own = TRACEBACK_REST
                return
            if self.want == "stack" and STACK_LINE.match(message):
                self.own = 0 if THREAD.match(message) else STACK_REST
                return
        self.own -= 1

    def row(self) -> list[Any]:
        """Yield plain values."""
        return [
            self.line, self.want, self.speaker.decode("latin-1"), self.near, self.own, self.is_mine, self.most,
            self.lines_left, self.bytes_left, self.gap,
        ]  # fmt: skip


def walk_for(line: int, want: str, raw: bytes) -> Walk | None:
    """Yield the walk of a hit on `line`, whose text is `raw`; None where only the line itself is wanted."""
    kind, _, count = want.partition(":")
    if kind == "line":
        return None
    own = {"near": 0, "block": int(count or 1) - 1, "rest": TRACEBACK_REST, "traceback": TRACEBACK_REST}
    return Walk(line, want, fast_speaker(raw[:256]), AFTER, own.get(kind, STACK_REST))


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

    def keep(self, span: Span, number: int, text: str) -> None:
        """Keep one line for the hit that `span` names."""
        self.spans[span].append(number)
        self.lines[number] = text

    def begin(self, span: Span) -> bool:
        """Make room for the lines of a hit; False where they are kept already, or too many are."""
        if span in self.spans or len(self.spans) >= MAX_SPANS:
            return False
        self.spans[span] = []
        return True

    def prune(self, wanted: set[Span]) -> None:
        """Drop what only hits wanted that are no longer kept."""
        self.spans = {span: numbers for span, numbers in sorted(self.spans.items()) if span in wanted}
        keep = {n for numbers in self.spans.values() for n in numbers}
        self.lines = {n: self.lines[n] for n in sorted(keep)}
        hits = {line for line, _ in wanted}
        self.long = {n: text for n, text in sorted(self.long.items()) if n in hits}
        self.open = sorted((w for w in self.open if (w.line, w.want) in wanted), key=lambda w: (w.line, w.want))

    def ends_in_frame(self) -> bool:
        """Tell whether the last line is a traceback's frame, so that the next one is quoted source code."""
        return bool(self.last) and is_frame(self.last[-1][1])

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
        """Yield plain values."""
        return {
            "lines": [list(x) for x in sorted(self.lines.items())],
            "spans": [[line, want, ns] for (line, want), ns in sorted(self.spans.items())],
            "long": [list(x) for x in sorted(self.long.items())],
            "first": [list(x) for x in self.first],
            "last": [list(x) for x in self.last],
            "open": [w.row() for w in self.open],
            "opening": None if self.opening is None else self.opening.decode("latin-1"),
            "is_all_opening": self.is_all_opening,
        }

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Windows:
        """Read what `to_json` wrote."""
        windows = cls(dict(raw["lines"]), {(line, want): ns for line, want, ns in raw["spans"]})
        windows.long = dict(raw["long"])
        windows.first = [(n, t) for n, t in raw["first"]]
        windows.last.extend((n, t) for n, t in raw["last"])
        windows.open = [Walk(line, want, who.encode("latin-1"), *rest) for line, want, who, *rest in raw["open"]]
        windows.opening = None if raw["opening"] is None else raw["opening"].encode("latin-1")
        windows.is_all_opening = raw["is_all_opening"]
        return windows


def _go_on(joined: Windows, walks: list[Walk], later: Windows, shift: int) -> list[Walk]:
    """Lead what is open through the first lines of the part that follows; yield what is open at its end."""
    for walk in walks:
        for number, raw in walk.read(later.opening or b"", 0, shift + 1):
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
