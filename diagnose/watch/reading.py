"""What was added to logs in, one scan of all that was read so far out: each piece is scanned once, then merged."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..catalogue.load import Catalogue
from ..catalogue.matcher import Matcher
from ..catalogue.rule import Rule
from ..scan.kept import Kept
from ..scan.scan import Scan, SourceScan, merge, seal
from ..scan.scan_rules import MARKS, mark_rule
from ..scan.scanner import Scanner, ScanRules
from ..scan.windows import Windows
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
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
            if is_worth:
                part = self._scanned(read, added.name, data)
            else:
                kept = Kept(Windows(opening=b""))  # what was open before ends here
                part = SourceScan(added.name, read.source.kind, len(data), data.count(b"\n"), kept, is_blank=False)
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


def _source_of(added: Added) -> Source | None:
    """How the file's lines are read, told by its beginning; None for what is no plain log."""
    found = list(find_sources([added.path], Deadline()))
    return found[0] if len(found) == 1 and (found[0].seekable or found[0].skipped) else None


# --- what is worth a scan --------------------------------------------------------------------------------------------

SMALL_BYTES = 8 << 10  # of what is worth reading as a whole
BEFORE_BYTES, AFTER_BYTES = 8 << 10, 16 << 10  # around a word: who speaks, and the rest of what it begins
LATEST_BYTES, VOICE_BYTES = 2 << 10, 256  # the last steps: so much, and so much more for each who prints any
DULL = (None, "progress", "identity", "fact")  # what context tells of, and the start of a log is read for


class Sieve:
    """Finds the words of causes, tracebacks, ends and phases."""

    def __init__(self, catalogue: Catalogue) -> None:
        marks = [mark_rule(name, literals) for name, literals in MARKS.items()]
        self._find = Matcher([*(rule for rule in catalogue.rules.values() if _is_telling(rule)), *marks]).find

    def pieces(self, data: bytes, voices: int) -> Iterator[tuple[bytes, bool]]:
        """Yield the text in pieces of whole lines, each with whether it is worth a scan; `voices` print steps in it."""
        done = 0
        for start, stop in self._spans(data, LATEST_BYTES + voices * VOICE_BYTES):
            if start > done:
                yield data[done:start], False
            yield data[start:stop], True
            done = stop

    def _spans(self, data: bytes, latest_bytes: int) -> list[tuple[int, int]]:
        """Where pieces that are worth it begin and end, in order; the last ends with the text."""
        size = len(data)
        if size <= SMALL_BYTES:
            return [(0, size)]
        found: list[tuple[int, int]] = []
        for at in [*(end for end, _ in self._find(data)), size]:
            first = size - latest_bytes if at == size else at - BEFORE_BYTES
            start = data.rfind(b"\n", 0, max(first, 0)) + 1
            stop = data.find(b"\n", at + AFTER_BYTES) + 1 or size
            if found and start <= found[-1][1]:
                start, stop = found[-1][0], max(stop, found[-1][1])
                found.pop()
            found.append((start, stop))
        return found


def _is_telling(rule: Rule) -> bool:
    is_broad = rule.generic and rule.match == "traceback"  # `Error`, where a traceback's head tells the same
    return not is_broad and (rule.role not in ("context", "harmless") or rule.tells not in DULL)
