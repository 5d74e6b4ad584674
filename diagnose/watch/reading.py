"""What was added to logs in, one scan of all that was read so far out: each piece is scanned once, then merged."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

from ..scan.parts import Part
from ..scan.scan import Scan, SourceScan, merge, seal
from ..scan.scanner import ScanRules
from ..scan.workers import scan_part
from ..sources.deadline import Deadline
from ..sources.source import Source, find_sources
from .growth import Added, GrowingFiles

KNOWN_BYTES = 64 << 10  # of a file: from then on its form is not asked for again


@dataclass(slots=True)
class _Read:
    source: Source  # how its lines are read
    scan: SourceScan | None = None
    bytes: int = 0


class GrowingScan:
    """The scan of files that grow."""

    def __init__(self, files: GrowingFiles, rules: ScanRules) -> None:
        self._files, self._rules = files, rules
        self._read: dict[str, _Read] = {}  # by the name of the lines
        self.skipped: dict[str, str] = {}  # path -> why it is not read

    def read_on(self) -> list[str]:
        """Read what was added; yield the names of the files that grew."""
        grown = []
        for added in self._files.added():
            self._move()
            if self._add(added):
                grown.append(added.name)
        self._move()
        return list(dict.fromkeys(grown))

    def scan(self) -> Scan:
        """Yield the scan of everything so far, as if it had been read in one go."""
        found = Scan(catalogue=self._rules.key)
        for name, read in sorted(self._read.items()):
            if read.scan is not None:
                found.sources[name] = seal(replace(read.scan, name=name))
                found.gaps += [f"{name}: {gap}" for gap in read.scan.gaps]
        return found

    def _move(self) -> None:
        for old, new in self._files.renamed():
            if old in self._read:
                self._read[new] = self._read.pop(old)

    def _add(self, added: Added) -> bool:
        read = self._read.get(added.name)
        if read is None or (read.bytes < KNOWN_BYTES and not read.source.header):
            source = _source_of(added)
            if source is None or source.skipped is not None:
                self.skipped[added.path] = source.skipped if source and source.skipped else "not a log that can be followed"
                return False
            read = self._read[added.name] = replace(read, source=source) if read else _Read(source)
        stream = io.BytesIO(added.data)
        piece = replace(read.source, name=added.name, path=None, seekable=False, size=len(added.data), stream=stream)
        is_first = read.scan is None
        part = scan_part(Part(piece, is_first=is_first), self._rules, Deadline())
        read.scan = part if read.scan is None else merge(read.scan, part)
        read.bytes += len(added.data)
        return True


def _source_of(added: Added) -> Source | None:
    """How the file's lines are read, told by its beginning; None for what is no plain log."""
    found = list(find_sources([added.path], Deadline()))
    return found[0] if len(found) == 1 and (found[0].seekable or found[0].skipped) else None
