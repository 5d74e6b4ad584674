"""What the map step leaves of one source: verified hits, the lines around them, signs of life; written as versioned JSON.

A part of a file is read where it lies: what stands around it is looked at for the lines around its own hits, and so
`merge(scan(A), scan(B)) == scan(A+B)` for every split at a line end: files may be read in parts, by many.
"""

from __future__ import annotations

import json
import os
import pickle
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ..errors import SourceError
from ..sources.source import Input
from .kept import Hit, Kept, Signs, Tally, Windows, tally_of

if TYPE_CHECKING:
    from ..recorder.dump import Dump

SCAN_VERSION = 1
Packed = bytes  # what is kept of a source, in a tenth of the memory
_PLACE = attrgetter("line", "segment", "rule", "form")  # of a hit
MAX_KEYS = 200_000  # (rule, speaker) pairs; past this only known speakers are followed, and `gaps` says so
TOO_MANY_KEYS = f"more than {MAX_KEYS} pairs of rule and speaker; later ones were not followed"


@dataclass(slots=True)
class SourceScan:
    """One source, or a part of one (then line numbers count from the part's first line)."""

    name: str
    kind: str = "text"
    bytes: int = 0
    lines: int = 0  # line ends read
    held: Kept | Packed = field(default_factory=Kept)
    skipped: str | None = None
    gaps: tuple[str, ...] = ()
    ends_line: bool = True  # whether the last byte read was a line end
    is_blank: bool = True  # whether nothing but white space was read

    @property
    def windows(self) -> Windows:
        """The lines around hits; of a packed scan made anew, as all that follows."""
        return self.whole().windows

    @property
    def tallies(self) -> dict[tuple[str, str], Tally]:
        """The kept hits by rule id and speaker."""
        return self.whole().tallies

    @property
    def progress(self) -> Signs:
        """The first and last sign of life by speaker."""
        return self.whole().progress

    def packed(self) -> SourceScan:
        """Yield the same scan in less memory, for one that grows no more."""
        return replace(self, held=zlib.compress(pickle.dumps(self.whole(), pickle.HIGHEST_PROTOCOL)))

    def opened(self) -> SourceScan:
        """Yield the same scan for one who asks it more than one question."""
        return replace(self, held=self.whole())

    def whole(self) -> Kept:
        """Yield all that is kept."""
        if isinstance(self.held, Kept):
            return self.held
        found: Kept = pickle.loads(zlib.decompress(self.held))  # noqa: S301 - which this process made
        return found

    def hits(self) -> list[Hit]:
        """Yield all kept hits in line order."""
        return sorted((h for tally in self.tallies.values() for h in tally.hits()), key=_PLACE)

    def capped(self) -> tuple[str, ...]:
        """Yield the rules with more hits than are kept."""
        return tuple(dict.fromkeys(rule for (rule, _), tally in self.tallies.items() if tally.at_least))

    def holds(self, rule: str) -> bool:
        """Tell whether any hit of a rule is kept."""
        return any(rule == name for name, _ in self.tallies)

    def kept(self) -> dict[int, str]:
        """Yield the kept lines by number, in order."""
        return self.windows.kept()

    def prune(self) -> None:
        """Drop the surroundings of hits that are no longer kept."""
        self.windows.prune({(h.line, t.want) for t in self.tallies.values() for h in t.hits()})


@dataclass(slots=True)
class Scan:
    """All sources of one reading, by name."""

    sources: dict[str, SourceScan] = field(default_factory=dict)
    catalogue: str = ""
    gaps: list[str] = field(default_factory=list)
    dumps: list[Dump] = field(default_factory=list)  # of flight recorders, reduced


# --- merge ------------------------------------------------------------------------------------------------------


def merge(a: SourceScan, b: SourceScan) -> SourceScan:
    """Yield the scan of A's part followed by B's."""
    shift = a.lines
    merged = SourceScan(a.name, a.kind, a.bytes + b.bytes, a.lines + b.lines)
    merged.skipped, merged.ends_line = a.skipped or b.skipped, b.ends_line if b.bytes else a.ends_line
    merged.is_blank = a.is_blank and b.is_blank
    merged.gaps = (*a.gaps, *(g for g in b.gaps if g not in a.gaps))
    tallies, signs = merged.tallies, merged.progress
    for key in sorted(a.tallies.keys() | b.tallies.keys()):
        tally = a.tallies.get(key) or b.tallies[key]
        own, of_later = a.tallies.get(key, Tally()), b.tallies.get(key, Tally())
        tallies[key] = tally_of([*own.hits(), *_moved(of_later.hits(), shift)], tally.want, tally.census)
    for speaker in sorted(a.progress.keys() | b.progress.keys()):
        both = [*a.progress.get(speaker, ()), *_moved(b.progress.get(speaker, ()), shift)]
        signs[speaker] = (both[0], both[-1])
    if len(tallies) > MAX_KEYS:
        by_place = sorted(tallies.items(), key=lambda item: (item[1].first[0].line, item[0]))
        tallies, merged.gaps = dict(sorted(by_place[:MAX_KEYS])), tuple(sorted({*merged.gaps, TOO_MANY_KEYS}))
    merged.held = Kept(a.windows.followed_by(b.windows, shift), signs, tallies)
    merged.prune()
    return merged


def _moved(hits: Iterable[Hit], shift: int) -> list[Hit]:
    return [hit._replace(line=hit.line + shift) for hit in hits]


# --- JSON -------------------------------------------------------------------------------------------------------


def scan_to_json(scan: Scan, keep: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> str:
    """Yield the scan as versioned JSON; the same scan gives the same text. `keep` changes what is written of it."""
    sources = [source_to_json(scan.sources[name]) for name in sorted(scan.sources)]
    dumps = [dump.to_json() for dump in scan.dumps]
    content = {"diagnose_scan": SCAN_VERSION, "catalogue": scan.catalogue, "gaps": scan.gaps, "sources": sources}
    return json.dumps(keep({**content, "dumps": dumps}), ensure_ascii=False, separators=(",", ":"))


def source_to_json(s: SourceScan) -> dict[str, Any]:
    """Yield one source's scan as plain values."""
    return {
        "name": s.name, "kind": s.kind, "bytes": s.bytes, "lines": s.lines,
        "skipped": s.skipped, "gaps": s.gaps, "ends_line": s.ends_line,
        "is_blank": s.is_blank,
        **s.whole().to_json(),
        "edge": [],  # earlier versions ask for it
    }  # fmt: skip


def scan_from_json(data: bytes, name: str) -> Scan:
    """Read a written scan. Raises `SourceError` where it is damaged or of another version."""
    from .written_shape import WRITTEN  # few runs read one, and pydantic takes long to load

    try:
        raw = json.loads(data)
        if raw["diagnose_scan"] != SCAN_VERSION:
            raise SourceError(f"{name}: written by another version of diagnose; scan again")
        WRITTEN.validate_python(raw)
        sources = {s["name"]: source_from_json(s) for s in raw["sources"]}
        scan = Scan(sources, raw["catalogue"], list(raw["gaps"]))
        if raw["dumps"]:
            from ..recorder.dump import Dump

            scan.dumps += map(Dump.from_json, raw["dumps"])
        return scan
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, OSError, EOFError, RecursionError) as error:
        raise SourceError(f"{name}: not a whole scan file; write it again with `diagnose scan`") from error


def source_from_json(raw: dict[str, Any]) -> SourceScan:
    """Read what `source_to_json` wrote."""
    scan = SourceScan(raw["name"], raw["kind"], raw["bytes"], raw["lines"], Kept.from_json(raw), raw["skipped"])
    scan.gaps, scan.ends_line = tuple(raw["gaps"]), raw["ends_line"]
    scan.is_blank = raw.get("is_blank") is True  # scans written before do not say
    return scan


# --- whether anything was read that a verdict may rest on; where not, which input is to blame and what to do ------

SHOWN_INPUTS = 3  # of those in which no file was found: the message is one line
NO_LOGS = ("code", "prose", "context")  # kinds: named only where nothing else was given
WHAT_TO_DO = "give the job's log files, or the folder that they are in"
_NO_LINE = {
    "context": "a configuration or a script, not a log (a log that is only named so can be piped in)",
    "loki": "an answer of Loki without a line: widen the time range of the query, or check its labels",
    "markdown": "no log is quoted in it",
    "notebook": "a notebook of which no cell has printed anything",
}


def require_log(scan: Scan, given: Sequence[Input] = ()) -> None:
    """Raise `SourceError` where not one line of a log and no flight recorder was read of what was `given`."""
    if not scan.dumps:
        _require(scan, given, lambda s: s.skipped is None and s.kind != "context" and not s.is_blank)


def require_something(scan: Scan, given: Sequence[Input] = ()) -> None:
    """Raise `SourceError` where not one input of what was `given` could be read."""
    _require(scan, given, lambda source: source.skipped is None)


def _require(scan: Scan, given: Sequence[Input], is_enough: Callable[[SourceScan], bool]) -> None:
    sources = list(scan.sources.values())
    if any(map(is_enough, sources)):
        return
    if sources:
        worst = min(sources, key=lambda s: (s.kind in NO_LOGS, s.skipped == "empty"))  # the first that may be the log
        more = f" (and {len(sources) - 1} more)" if len(sources) > 1 else ""
        # what was wrong with its bytes goes before what it is
        why = worst.skipped or "; ".join(worst.gaps) or _NO_LINE.get(worst.kind, "no line in it, only white space")
        raise SourceError(f"{worst.name}: {why}{more}; nothing to diagnose: {WHAT_TO_DO}")
    if not given:
        raise SourceError("nothing was given; diagnose(*inputs) takes paths, files and Text")
    folders = ", ".join(str(path) for path in given[:SHOWN_INPUTS] if isinstance(path, str | os.PathLike))
    raise SourceError(f"{folders or 'what was given'}: no file in it; nothing to diagnose: {WHAT_TO_DO}")
