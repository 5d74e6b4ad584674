"""What the map step leaves of one source: verified hits, the lines around them, signs of life. Small, portable, mergeable.

`merge(scan(A), scan(B)) == scan(A+B)` for every split at a line end, so that files may be read in parts, by several
workers or on several machines. Written as versioned JSON, never pickle.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from .errors import SourceError
from .windows import HEAD_LINES, TAIL_LINES, Windows

SCAN_VERSION = 1
FIRST = 12  # occurrences of a rule that are kept per speaker: the first ones …
LAST = 12  # … and the last ones
CENSUS = 64  # the same for rules that correlators count (`census: true`)
MAX_KEYS = 200_000  # (rule, speaker) pairs; past this only known speakers are followed, and `gaps` says so


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule's literal stood in this line; `fields` is None where the pattern still waits for its whole block."""

    rule: str
    form: int
    line: int  # from 1, within the part read until merged
    segment: int  # which piece of the line, where carriage returns or a glued prefix cut it
    fields: dict[str, Any] | None


@dataclass(slots=True)
class Tally:
    """The first and last hits of one rule by one speaker, and how many there were."""

    first: list[Hit] = field(default_factory=list)
    last: list[Hit] = field(default_factory=list)
    count: int = 0
    at_least: bool = False  # counting stopped: there may be more

    def hits(self) -> list[Hit]:
        """Yield the kept hits in order, each once."""
        return self.first + self.last


@dataclass(slots=True)
class SourceScan:
    """One source, or a part of one (then line numbers count from the part's first line)."""

    name: str
    kind: str = "text"
    bytes: int = 0
    lines: int = 0  # line ends read
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)  # by rule id and speaker
    progress: dict[str, tuple[Hit, Hit]] = field(default_factory=dict)  # by speaker: first and last sign of life
    windows: Windows = field(default_factory=Windows)
    skipped: str | None = None
    gaps: list[str] = field(default_factory=list)
    ends_line: bool = True  # whether the last byte read was a line end

    def hits(self) -> list[Hit]:
        """Yield all kept hits in line order."""
        found = [h for tally in self.tallies.values() for h in tally.hits()]
        return sorted(found, key=lambda h: (h.line, h.segment, h.rule, h.form))

    def first_lines(self) -> set[int]:
        """Yield the lines of the first hits: those whose surroundings are kept."""
        return {h.line for tally in self.tallies.values() for h in tally.hits()}

    def kept(self) -> dict[int, str]:
        """Yield the kept lines by number, in order."""
        return self.windows.kept()


@dataclass(slots=True)
class Scan:
    """All sources of one reading, by name."""

    sources: dict[str, SourceScan] = field(default_factory=dict)
    catalogue: str = ""
    gaps: list[str] = field(default_factory=list)
    dumps: list[dict[str, Any]] = field(default_factory=list)  # flight-recorder dumps, reduced


def cap(census: bool) -> tuple[int, int]:
    """Yield how many first and last hits a rule keeps per speaker."""
    return (CENSUS, CENSUS) if census else (FIRST, LAST)


def add_hit(tally: Tally, hit: Hit, census: bool) -> None:
    """Count `hit`, keeping the first and the last ones."""
    first, last = cap(census)
    tally.count += 1
    if len(tally.first) < first:
        tally.first.append(hit)
        return
    tally.last.append(hit)
    if len(tally.last) > last:
        del tally.last[0]


# --- merge ------------------------------------------------------------------------------------------------------


def merge(a: SourceScan, b: SourceScan, census: frozenset[str]) -> SourceScan:
    """Yield the scan of A's part followed by B's. `census`: ids of the rules whose larger cap applies."""
    shift = a.lines
    b_windows, broken = b.windows.shifted(shift), a.windows.breaks_first_line_of(b.windows)
    merged = SourceScan(
        a.name, a.kind, a.bytes + b.bytes, a.lines + b.lines, skipped=a.skipped or b.skipped, ends_line=b.ends_line
    )
    merged.gaps = [*a.gaps, *(g for g in b.gaps if g not in a.gaps)]
    for key in sorted(a.tallies.keys() | b.tallies.keys()):
        later = _without_line(_shifted(b.tallies.get(key, Tally()), shift), shift + 1 if broken else None)
        joined = _join(a.tallies.get(key, Tally()), later, key[0] in census)
        if joined.count:
            merged.tallies[key] = joined
    for speaker in sorted(a.progress.keys() | b.progress.keys()):
        both = [*a.progress.get(speaker, ()), *(_move(h, shift) for h in b.progress.get(speaker, ()))]
        merged.progress[speaker] = (both[0], both[-1])
    merged.windows = a.windows.followed_by(b_windows)
    merged.windows.prune(merged.first_lines())
    return merged


def _move(hit: Hit, shift: int) -> Hit:
    return replace(hit, line=hit.line + shift)


def _shifted(tally: Tally, shift: int) -> Tally:
    first, last = [_move(h, shift) for h in tally.first], [_move(h, shift) for h in tally.last]
    return Tally(first, last, tally.count, tally.at_least)


def _without_line(tally: Tally, line: int | None) -> Tally:
    """Drop hits on `line`: the part before shows that it is quoted source code."""
    if line is None or all(h.line != line for h in tally.hits()):
        return tally
    first = [h for h in tally.first if h.line != line]
    return Tally(first, tally.last, tally.count - (len(tally.first) - len(first)), tally.at_least)


def _join(a: Tally, b: Tally, census: bool) -> Tally:
    joined = Tally(list(a.first), list(a.last), a.count, a.at_least or b.at_least)
    for hit in b.hits():
        add_hit(joined, hit, census)
    joined.count = a.count + b.count
    return joined


# --- JSON -------------------------------------------------------------------------------------------------------


def scan_to_json(scan: Scan) -> str:
    """Yield the scan as versioned JSON; the same scan gives the same text."""
    sources = [_source_to_json(scan.sources[name]) for name in sorted(scan.sources)]
    content = {"diagnose_scan": SCAN_VERSION, "catalogue": scan.catalogue, "gaps": scan.gaps, "sources": sources}
    return json.dumps({**content, "dumps": scan.dumps}, ensure_ascii=False, separators=(",", ":"))


def _source_to_json(s: SourceScan) -> dict[str, Any]:
    return {
        "name": s.name,
        "kind": s.kind,
        "bytes": s.bytes,
        "lines": s.lines,
        "skipped": s.skipped,
        "gaps": s.gaps,
        "ends_line": s.ends_line,
        "tallies": [
            [rule, speaker, t.count, t.at_least, [_row(h) for h in t.first], [_row(h) for h in t.last]]
            for (rule, speaker), t in sorted(s.tallies.items())
        ],
        "progress": [[speaker, [_row(h) for h in pair]] for speaker, pair in sorted(s.progress.items())],
        "windows": s.windows.to_json(),
    }


def _row(hit: Hit) -> list[Any]:
    return [hit.rule, hit.form, hit.line, hit.segment, hit.fields]


def scan_from_json(data: bytes, name: str) -> Scan:
    """Read a written scan (plain or gzip JSON). Raises `SourceError` where it is damaged or of another version."""
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        raw = json.loads(data)
        if raw["diagnose_scan"] != SCAN_VERSION:
            raise SourceError(f"{name}: written by another version of diagnose; scan again")
        sources = {s["name"]: _source_from_json(s) for s in raw["sources"]}
        return Scan(sources, raw["catalogue"], list(raw["gaps"]), list(raw["dumps"]))
    except (ValueError, KeyError, TypeError, IndexError, OSError, EOFError) as error:
        raise SourceError(f"{name}: not a whole scan file; write it again with `diagnose scan`") from error


def _source_from_json(raw: dict[str, Any]) -> SourceScan:
    scan = SourceScan(raw["name"], raw["kind"], raw["bytes"], raw["lines"], skipped=raw["skipped"], gaps=raw["gaps"])
    scan.ends_line = raw["ends_line"]
    for rule, speaker, count, at_least, first, last in raw["tallies"]:
        scan.tallies[(rule, speaker)] = Tally([Hit(*h) for h in first], [Hit(*h) for h in last], count, at_least)
    for speaker, (first, last) in raw["progress"]:
        scan.progress[speaker] = (Hit(*first), Hit(*last))
    scan.windows = Windows.from_json(raw["windows"])
    return scan


def merge_all(parts: Iterable[SourceScan], census: frozenset[str]) -> SourceScan:
    """Yield the parts of one source as one, in the order given."""
    result: SourceScan | None = None
    for part in parts:
        result = part if result is None else merge(result, part, census)
    if result is None:
        raise ValueError("no parts")
    return result
