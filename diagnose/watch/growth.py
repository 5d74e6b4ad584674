"""Files that grow in, one scan of all that was read of them so far out: what is added, in whole lines, is scanned once.

A file is known by its inode: one that is renamed (a rotated log) is read to its end, what then has its name is a new
file, and one that became shorter begins anew. What went before it keeps its lines under another name (`rank0.log.1`).
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from ..catalogue.load import Catalogue
from ..errors import SourceError
from ..scan.scan import Scan, SourceScan, merge
from ..scan.scanner import Scanner, ScanRules
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
from ..sources.paths import files_below, inode_of
from ..sources.source import Source, find_sources

CHUNK_BYTES = 4 << 20  # read of one file before the next one has its turn
MAX_LINE_BYTES = 1 << 20  # of a line without an end: then it is taken as it is
MAX_FILES = 4_000  # followed at once
KNOWN_BYTES = 64 << 10  # of a file: from then on its form is not asked for again
Inode = tuple[int, int]


@dataclass(slots=True, eq=False)
class Log:
    """A file from where it began; where it is cut off or another one takes its name, another log begins."""

    name: str  # what its lines are kept under
    path: str
    file: BinaryIO
    offset: int = 0
    rest: bytes = b""  # of a line whose end is not written yet
    source: Source | None = None  # how its lines are read
    scanner: Scanner | None = None

    def scan(self) -> SourceScan:
        """Yield the scan of what was read so far, which stays as it is when more is read."""
        found = SourceScan(self.name)
        return found if self.scanner is None else merge(found, self.scanner.finish())


class GrowingFiles:
    """Follows the files that paths, folders and patterns stand for, also those that appear later, and scans them."""

    def __init__(self, patterns: Sequence[str], catalogue: Catalogue) -> None:
        if not patterns:
            raise SourceError("watch: name the logs, folders or patterns to follow")
        self.catalogue, self._patterns, self._rules = catalogue, patterns, ScanRules(catalogue)
        self._logs: list[Log] = []  # that were read
        self._followed: dict[Inode, Log] = {}
        self._given: set[str] = set()  # names of what was rotated away
        self.unread: dict[str, str] = {}  # path -> why it cannot be followed

    def read_on(self) -> list[str]:
        """Read what was added; yield the names of the files that grew."""
        return list(dict.fromkeys([log.name for log, data in self._added() if self._add(log, data)]))

    def scan(self) -> Scan:
        """Yield the scan of everything so far, as if it had been read in one go."""
        found = Scan(catalogue=self._rules.key)
        for log in sorted(self._logs, key=lambda log: log.name):
            found.sources[log.name] = scan = log.scan()
            found.gaps += [f"{log.name}: {gap}" for gap in scan.gaps]
        return found

    def _added(self) -> Iterator[tuple[Log, bytes]]:
        """What was added since the last call, until every file is read to its end."""
        self._look_around()
        for inode, known in list(self._followed.items()):
            log = known
            if os.fstat(log.file.fileno()).st_size < log.offset:  # truncated
                self._rename(log)
                log = self._followed[inode] = Log(log.path, log.path, log.file)
            log.file.seek(log.offset)
            while data := log.file.read(CHUNK_BYTES):
                log.offset += len(data)
                data = log.rest + data
                end = data.rfind(b"\n") + 1
                end = len(data) if not end and len(data) > MAX_LINE_BYTES else end
                log.rest = data[end:]
                if end:
                    yield log, data[:end]

    def close(self) -> None:
        """Let all files go."""
        for log in self._followed.values():
            log.file.close()
        self._followed.clear()

    def _look_around(self) -> None:
        """Find new files, and old ones that have got another name or none."""
        by_path = {path: inode for path in self._paths() if (inode := inode_of(path)) is not None}
        here = set(by_path.values())
        for inode, log in list(self._followed.items()):
            if by_path.get(log.path) != inode:  # rotated, or removed
                if log.path in by_path:
                    self._rename(log)
                if inode not in here and os.fstat(log.file.fileno()).st_size <= log.offset:
                    log.file.close()
                    del self._followed[inode]
        for path, inode in by_path.items():
            if inode not in self._followed and len(self._followed) < MAX_FILES and os.path.isfile(path):
                try:
                    self._followed[inode] = Log(path, path, open(path, "rb", buffering=0))  # noqa: SIM115
                except OSError as error:
                    self.unread[path] = error.strerror or str(error)

    def _paths(self) -> Iterator[str]:
        for pattern in self._patterns:
            found = [pattern] if os.path.exists(pattern) else glob.glob(os.path.expanduser(pattern), recursive=True)
            for path in sorted(found):
                yield from files_below(path, set(), Deadline())[0]

    def _rename(self, log: Log) -> None:
        """Let the lines so far have another name: that of the file is a new one's."""
        if log.name == log.path:
            taken = {other.name for other in self._followed.values()} | self._given
            log.name = next(name for n in range(1, MAX_FILES) if (name := f"{log.path}.{n}") not in taken)
            self._given.add(log.name)

    def _add(self, log: Log, added: bytes) -> bool:
        if log.source is None or not (log.offset - len(added) >= KNOWN_BYTES or log.source.header):
            found = list(find_sources([log.path], Deadline()))  # told by its beginning; of an archive there are many
            source = found[0] if len(found) == 1 and (found[0].seekable or found[0].skipped) else None
            if source is None or source.skipped is not None:
                self.unread[log.path] = (source and source.skipped) or "not a log that can be followed"
                return False
            if log.source is None:
                self._logs.append(log)
            log.source = source
        log.scanner = log.scanner or Scanner(self._rules, log.name, log.source.kind)
        piece = replace(log.source, path=None, seekable=False, size=len(added), stream=io.BytesIO(added))
        for block in read_blocks(piece, find_marks=self._rules.marks_of):
            log.scanner.feed(block)
        return True
