"""What one hit wants of the lines that follow it: its neighbours, the traceback or stack it opens, the block it begins."""

from __future__ import annotations

from dataclasses import dataclass

from ..lines.cache import patterns
from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from .voices import MAX_TEXT, Voices, is_same, voice

AFTER = 3  # neighbours of a hit
TRACEBACK_REST = 14  # lines of the same speaker kept below an exception line: its message goes on, or a chain does
STACK_REST = 8  # lines below a dump of threads that do not look like one, before it counts as ended
MAX_OWN_LINES = 1_500  # of one traceback or dump
REACH_LINES = 5_000  # what is open is given up after so many lines, its own or of others …
REACH_BYTES = 512 << 10  # … or so many bytes
MAX_GAP = {"traceback": 2_000, "stack": 2_000}  # lines of others between two of a speaker (ranks that are woven)
OTHER_GAP = 300
FOLLOWED = ("traceback", "stack")  # of what is wanted: what has an end of its own

*_ROWS, _RAISED = patterns(__file__, "walks")
CHAIN, THREAD, STACK_LINE = map(lazy, _ROWS)
EXCEPTION = lazy(_RAISED.encode())


@dataclass(slots=True)
class Walk:
    """What one hit still wants of the lines that follow it."""

    line: int  # of the hit
    want: str  # "near", "block", "rest", "traceback", "stack"
    speaker: bytes  # of the hit's line, as `voice` reads it
    near: int  # neighbours still to come, whoever speaks
    own: int  # lines of the same speaker still to come
    is_mine: bool = True  # whether the hit's speaker spoke last
    most: int = MAX_OWN_LINES
    lines_left: int = REACH_LINES
    bytes_left: int = REACH_BYTES
    gap: int = 0  # so many lines of others since its last own one

    @property
    def span(self) -> tuple[int, str]:
        """The hit that it belongs to, as `windows` names it."""
        return self.line, self.want

    def is_open(self) -> bool:
        """Tell whether the next line may be wanted."""
        if self.lines_left <= 0 or self.bytes_left < 0:
            return False
        if self.near > 0:
            return True
        return self.own > 0 and self.most > 0 and (self.gap <= OTHER_GAP or self.gap <= MAX_GAP.get(self.want, OTHER_GAP))

    def read(self, voices: Voices, at: int, number: int) -> list[tuple[int, bytes]]:
        """Go over the lines of a buffer from offset `at` on, the first of which has this number; yield the wanted ones."""
        wanted: list[tuple[int, bytes]] = []
        data, size = voices.data, len(voices.data)
        while at < size and self.is_open():
            end = data.find(b"\n", at)
            if end < 0:
                end = size
            raw = data[at:end] if end - at <= MAX_TEXT else data[at : at + MAX_TEXT]
            who = voice(raw) if self.own > 0 else b""
            # another's, where another spoke last; one that names nobody goes on with that
            if not self.near and not self.is_mine and (not is_same(who, self.speaker) if who else self.speaker):
                at, count = self._pass_by(voices, at)
                number += count
                if count:
                    continue
            if self.takes(raw, who):
                wanted.append((number, raw))
            at, number = end + 1, number + 1
        return wanted

    def _pass_by(self, voices: Voices, at: int) -> tuple[int, int]:
        """Pass by what others go on to say, which in a mixed log is most; yield where it ends, and its lines."""
        most = min(self.lines_left, MAX_GAP.get(self.want, OTHER_GAP) + 1 - self.gap)
        at, count, size = voices.pass_by(at, self.speaker, most, self.bytes_left)
        self.bytes_left -= size
        self.lines_left -= count
        self.gap += count
        return at, count

    def takes(self, raw: bytes, who: bytes) -> bool:
        """Look at the next line (cut to MAX_TEXT, without its end), which `who` says; tell whether it is wanted."""
        self.lines_left -= 1
        self.bytes_left -= len(raw) + 1
        if self.bytes_left < 0:
            return False
        is_near = self.near > 0
        if is_near:
            self.near -= 1
        if self.own <= 0:
            return is_near
        if who:
            self.is_mine = is_same(who, self.speaker) or (
                # below frames of no speaker `who` may rather be the name of the exception that these lead to
                self.is_mine and not self.speaker and not self.gap and self.want == "traceback"
                and self.own == TRACEBACK_REST and EXCEPTION.match(who) is not None
            )  # fmt: skip
        if not self.is_mine and (who or self.speaker):  # without a speaker it goes on with what was said last
            self.gap += 1
            return is_near
        self.most -= 1
        self.gap = 0
        if self.want in FOLLOWED:
            self._count(raw)
        else:
            self.own -= 1
        return True

    def _count(self, raw: bytes) -> None:
        """Count a line of the speaker against those still to come, unless it shows that what is followed goes on."""
        text = raw[:1024].decode("utf-8", "replace").rstrip("\r")
        message = text[split_prefix(text).end :]
        if not message.strip():
            return
        if self.want == "traceback" and (message[0].isspace() or CHAIN.match(message)):
            self.own = TRACEBACK_REST
        elif self.want == "stack" and STACK_LINE.match(message):
            self.own = 0 if THREAD.match(message) else STACK_REST
        else:
            self.own -= 1


def walk_for(line: int, want: str, raw: bytes) -> Walk | None:
    """Yield the walk of a hit on `line`, whose text is `raw`; None where only the line itself is wanted."""
    kind, _, count = want.partition(":")
    if kind == "line":
        return None
    own = {"near": 0, "block": int(count or 1) - 1, "rest": TRACEBACK_REST, "traceback": TRACEBACK_REST}
    return Walk(line, want, voice(raw), AFTER, own.get(kind, STACK_REST))
