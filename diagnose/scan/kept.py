"""What is kept of one source: verified hits, the lines around them, signs of life; and the same packed."""

from __future__ import annotations

import json
import sys
import zlib
from dataclasses import dataclass, field
from typing import Any

from ..lines.record import record
from .windows import Windows

LEVEL = 7  # a tenth less than level 3; the higher ones take longer and save next to nothing
LIKE_BYTES = 16 << 10  # of the first sources: more of them saves a tenth, and takes longer to look through
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_RAW = -zlib.MAX_WBITS  # no header and no checksum: nobody else reads it


@record
class Packed:
    """What is kept of a source as bytes, a tenth of its size as objects."""

    data: bytes
    like: bytes  # of the first sources, which many share

    def whole(self) -> Kept:
        """Yield what was packed."""
        return Kept.from_json(json.loads(zlib.decompressobj(_RAW, zdict=self.like).decompress(self.data)))


class Packer:
    """Packs what is kept of the sources of one reading."""

    def __init__(self) -> None:
        self._like = b""

    def pack(self, kept: Kept) -> Packed:
        """Yield it in less memory, for one that grows no more."""
        plain, like = _ENCODER.encode(kept.to_json()).encode(), self._like
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


@record
class Hit:
    """A rule's literal stood in this line; `fields` is None where the pattern still waits for its whole block."""

    rule: str
    form: int
    line: int  # from 1, within the part read until merged
    segment: int  # which piece of the line, where carriage returns or a glued prefix cut it
    fields: dict[str, Any] | None

    def row(self) -> list[Any]:
        """Yield plain values."""
        return [self.rule, self.form, self.line, self.segment, self.fields]


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
            [rule, speaker, t.want, t.census, [h.row() for h in t.first], [h.row() for h in t.last]]
            for (rule, speaker), t in sorted(self.tallies.items())
        ]
        signs = [[speaker, [h.row() for h in pair]] for speaker, pair in sorted(self.progress.items())]
        return {"tallies": tallies, "progress": signs, "windows": self.windows.to_json()}

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
