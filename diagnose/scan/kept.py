"""What is kept of one source: verified hits, the lines around them, signs of life; and the same packed.

A packed one is in two parts. The first is what every job asks of every source, as it is asked: all hits in line order,
all lines. The second says which hit counts for whom and which lines belong to it; only who writes the scan wants that.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import starmap
from operator import attrgetter
from typing import Any

from ..lines.record import record
from .windows import Windows

LEVEL = 7  # a tenth less than level 3; the higher ones take longer and save next to nothing
LIKE_BYTES = 16 << 10  # of the first sources: more of them saves a tenth, and takes longer to look through
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_RAW = -zlib.MAX_WBITS  # no header and no checksum: nobody else reads it


@record
class Packed:
    """Plain values as bytes, a tenth of their size as objects."""

    data: bytes
    like: bytes  # of the first sources, which many share


class Packer:
    """Packs what is kept of the sources of one reading."""

    def __init__(self) -> None:
        self._like = b""

    def pack(self, *parts: Any) -> Packed:
        """Yield plain values as bytes, in parts that are unpacked apart."""
        plain, like = b"\n".join([_ENCODER.encode(part).encode() for part in parts]), self._like
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


def unpack(packed: Packed, part: int = 0) -> Any:
    """Yield a part of what was packed."""
    return json.loads(zlib.decompressobj(_RAW, zdict=packed.like).decompress(packed.data).split(b"\n", part + 1)[part])


FIRST = 6  # occurrences of a rule that are kept per speaker: the first ones …
LAST = 6  # … and the last ones
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


_RULE = attrgetter("rule")
_PLACE = attrgetter("line", "segment", "rule", "form")
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
        return len(self.first) + len(self.last) == (2 * CENSUS if self.census else FIRST + LAST)

    def hits(self) -> list[Hit]:
        """Yield the kept hits in order, each once."""
        return self.first + self.last


@dataclass(slots=True)
class Kept:
    """What takes most of a scan's memory."""

    windows: Windows = field(default_factory=Windows)
    progress: Signs = field(default_factory=dict)  # by speaker: first and last sign of life
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)  # by rule id and speaker

    def hits(self) -> list[Hit]:
        """Yield all kept hits in line order."""
        return sorted((h for tally in self.tallies.values() for h in tally.hits()), key=_PLACE)

    def texts(self) -> dict[int, str]:
        """Yield the kept lines by number, in order."""
        return self.windows.kept()

    def capped(self) -> tuple[str, ...]:
        """Yield the rules with more hits than are kept."""
        return tuple(dict.fromkeys(rule for (rule, _), t in self.tallies.items() if t.at_least))

    def holds(self, rule: str) -> bool:
        """Tell whether any hit of a rule is kept."""
        return any(rule == name for name, _ in self.tallies)

    def to_json(self) -> dict[str, Any]:
        """Yield plain values."""
        tallies = [
            [rule, speaker, t.want, t.census, [h.row() for h in t.first], [h.row() for h in t.last]]
            for (rule, speaker), t in sorted(self.tallies.items())
        ]
        return {"tallies": tallies, "progress": _sign_rows(self.progress), "windows": self.windows.to_json()}

    @classmethod
    def from_json(cls, raw: dict[str, Any]) -> Kept:
        """Read what `to_json` wrote."""
        tallies = {
            (rule, speaker): Tally([Hit(*h) for h in first], [Hit(*h) for h in last], want, census)
            for rule, speaker, want, census, first, last in raw["tallies"]
        }
        return cls(Windows.from_json(raw["windows"]), _signs(raw["progress"]), tallies)

    def packed(self, packer: Packer) -> Packed:
        """Yield the same in less memory, for one that grows no more."""
        hits, texts = self.hits(), self.texts()
        asked = [[h.row() for h in hits], list(texts.items()), self.capped(), _sign_rows(self.progress)]
        place, windows = {id(hit): n for n, hit in enumerate(hits)}, self.windows.to_json()
        tallies = [
            [rule, speaker, t.want, t.census, [place[id(h)] for h in t.first], [place[id(h)] for h in t.last]]
            for (rule, speaker), t in self.tallies.items()
        ]
        for name in TEXTS:
            windows[name] = [n if texts[n] == text else [n, text] for n, text in windows[name]]
        return packer.pack(asked, [tallies, windows])


TEXTS = ("lines", "long", "first", "last")  # in `windows`: the same lines, each for another reason


class Opened:
    """What is kept of a source, of which only as much is unpacked as somebody asks for."""

    __slots__ = ("_capped", "_hits", "_packed", "_signs", "_texts")

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        hits, texts, capped, self._signs = unpack(packed)
        self._hits = list(starmap(Hit, hits))
        self._texts: dict[int, str] = dict(texts)
        self._capped = tuple(capped)

    def hits(self) -> list[Hit]:
        """Yield all kept hits in line order."""
        return self._hits

    def texts(self) -> dict[int, str]:
        """Yield the kept lines by number, in order."""
        return self._texts

    def capped(self) -> tuple[str, ...]:
        """Yield the rules with more hits than are kept."""
        return self._capped

    def holds(self, rule: str) -> bool:
        """Tell whether any hit of a rule is kept."""
        return rule in map(_RULE, self._hits)

    @property
    def progress(self) -> Signs:
        """The first and last sign of life by speaker."""
        return _signs(self._signs)

    def whole(self) -> Kept:
        """Yield what was packed."""
        tallies, windows = unpack(self._packed, part=1)
        for name in TEXTS:
            windows[name] = [(x, self._texts[x]) if isinstance(x, int) else x for x in windows[name]]
        told = {
            (rule, speaker): Tally([self._hits[n] for n in first], [self._hits[n] for n in last], want, census)
            for rule, speaker, want, census, first, last in tallies
        }
        return Kept(Windows.from_json(windows), self.progress, told)


def _sign_rows(signs: Signs) -> list[Any]:
    return [[speaker, [h.row() for h in pair]] for speaker, pair in sorted(signs.items())]


def _signs(rows: Iterable[Any]) -> Signs:
    return {speaker: (Hit(*first), Hit(*last)) for speaker, (first, last) in rows}


def cap(census: bool) -> tuple[int, int]:
    """Yield how many first and last hits a rule keeps per speaker."""
    return (CENSUS, CENSUS) if census else (FIRST, LAST)


def tally_of(hits: list[Hit], want: str, census: bool) -> Tally:
    """Yield the tally of all hits, or of the first and last ones."""
    first, last = cap(census)
    rest = hits[first:]
    return Tally(hits[:first], rest[-last:], want, census)
