"""What was added to logs in, one scan of all that was read so far out: each piece is scanned once, then merged."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace

from ..catalogue.load import Catalogue
from ..scan.kept import Kept
from ..scan.scan import Scan, SourceScan, merge, seal
from ..scan.scanner import Scanner, ScanRules
from ..scan.windows import Windows
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
from ..sources.source import Source, find_sources
from .growth import Added, GrowingFiles
from .sieve import Sieve

KNOWN_BYTES = 64 << 10  # of a file: from then on its form is not asked for again


@dataclass(slots=True)
class _Read:
    source: Source  # how its lines are read
    scan: SourceScan | None = None
    bytes: int = 0


class GrowingScan:
    """The scan of files that grow."""

    def __init__(self, files: GrowingFiles, catalogue: Catalogue) -> None:
        self._files, self._rules, self._sieve = files, ScanRules(catalogue), Sieve(catalogue)
        self._read: dict[str, _Read] = {}  # by the name of the lines

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
                self._files.unread[added.path] = (source and source.skipped) or "not a log that can be followed"
                return False
            read = self._read[added.name] = replace(read, source=source) if read else _Read(source)
        is_begun = read.scan is not None and read.bytes >= KNOWN_BYTES
        voices = len(read.scan.progress) if read.scan is not None else 0
        for data, is_worth in self._sieve.pieces(added.data, voices) if is_begun else [(added.data, True)]:
            part = self._scanned(read, added.name, data) if is_worth else _counted(read.source, added.name, data)
            read.scan = part if read.scan is None else merge(read.scan, part)
        read.bytes += len(added.data)
        return True

    def _scanned(self, read: _Read, name: str, data: bytes) -> SourceScan:
        stream = io.BytesIO(data)
        piece = replace(read.source, name=name, path=None, seekable=False, size=len(data), stream=stream)
        scanner = Scanner(self._rules, name, piece.kind, later_part=read.scan is not None)
        for block in read_blocks(piece, find_marks=self._rules.marks_of):
            scanner.feed(block)
        return scanner.finish()


def _counted(source: Source, name: str, data: bytes) -> SourceScan:
    """The scan of lines that nothing is looked for in."""
    kept = Kept(Windows(opening=b""))  # what was open before ends here
    return SourceScan(name, source.kind, len(data), data.count(b"\n"), kept, is_blank=False)


def _source_of(added: Added) -> Source | None:
    """How the file's lines are read, told by its beginning; None for what is no plain log."""
    found = list(find_sources([added.path], Deadline()))
    return found[0] if len(found) == 1 and (found[0].seekable or found[0].skipped) else None
