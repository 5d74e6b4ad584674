"""Files that grow in, what was added since the last look out, in whole lines.

A file is known by its inode: one that is renamed (a rotated log) is read to its end, what then has its name is a new
file, and one that became shorter begins anew. What went before it keeps its lines under another name (`rank0.log.1`).
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from ..errors import SourceError
from ..sources.bounds import Deadline
from ..sources.paths import files_below, inode_of

CHUNK_BYTES = 4 << 20  # read of one file before the next one has its turn
MAX_LINE_BYTES = 1 << 20  # of a line without an end: then it is taken as it is
MAX_FILES = 4_000  # followed at once
Inode = tuple[int, int]


@dataclass(slots=True)
class Added:
    """What one file holds that was not there before."""

    name: str  # what its lines are kept under
    path: str
    data: bytes


@dataclass(slots=True)
class _Followed:
    name: str
    path: str
    file: BinaryIO
    offset: int = 0
    rest: bytes = b""  # of a line whose end is not written yet


class GrowingFiles:
    """Follows the files that paths, folders and patterns stand for, also those that appear later."""

    def __init__(self, patterns: Sequence[str]) -> None:
        if not patterns:
            raise SourceError("watch: name the logs, folders or patterns to follow")
        self._patterns = patterns
        self._followed: dict[Inode, _Followed] = {}
        self._renamed: list[tuple[str, str]] = []  # since the last look: the old name, the new one
        self.unread: dict[str, str] = {}  # path -> why it cannot be followed

    def added(self) -> Iterator[Added]:
        """Yield what was added since the last call, until every file is read to its end."""
        self._look_around()
        for followed in list(self._followed.values()):
            yield from self._read(followed)

    def renamed(self) -> list[tuple[str, str]]:
        """Yield the files whose lines so far are now kept under another name, once."""
        found, self._renamed = self._renamed, []
        return found

    def close(self) -> None:
        """Let all files go."""
        for followed in self._followed.values():
            followed.file.close()
        self._followed.clear()

    def _look_around(self) -> None:
        """Find new files, and old ones that have got another name or none."""
        by_path = {path: inode for path in self._paths() if (inode := inode_of(path)) is not None}
        here = set(by_path.values())
        for inode, followed in list(self._followed.items()):
            if by_path.get(followed.path) != inode:  # rotated, or removed
                if followed.path in by_path:
                    self._rename(followed)
                if inode not in here and os.fstat(followed.file.fileno()).st_size <= followed.offset:
                    followed.file.close()
                    del self._followed[inode]
        for path, inode in by_path.items():
            if inode not in self._followed and len(self._followed) < MAX_FILES:
                self._follow(path, inode)

    def _paths(self) -> Iterator[str]:
        for pattern in self._patterns:
            found = [pattern] if os.path.exists(pattern) else glob.glob(os.path.expanduser(pattern), recursive=True)
            for path in sorted(found):
                yield from files_below(path, set(), Deadline())[0]

    def _follow(self, path: str, inode: Inode) -> None:
        if not os.path.isfile(path):
            return
        try:
            file = open(path, "rb", buffering=0)  # noqa: SIM115 - as long as it is followed
        except OSError as error:
            self.unread[path] = error.strerror or str(error)
            return
        self._followed[inode] = _Followed(path, path, file)

    def _read(self, followed: _Followed) -> Iterator[Added]:
        if os.fstat(followed.file.fileno()).st_size < followed.offset:  # truncated
            self._rename(followed)
            followed.name, followed.offset, followed.rest = followed.path, 0, b""
        followed.file.seek(followed.offset)
        while data := followed.file.read(CHUNK_BYTES):
            followed.offset += len(data)
            data = followed.rest + data
            end = data.rfind(b"\n") + 1
            end = len(data) if not end and len(data) > MAX_LINE_BYTES else end
            followed.rest = data[end:]
            if end:
                yield Added(followed.name, followed.path, data[:end])

    def _rename(self, followed: _Followed) -> None:
        """Let the lines so far have another name: that of the file is a new one's."""
        taken = {other.name for other in self._followed.values()} | {new for _, new in self._renamed}
        number = next(n for n in range(1, MAX_FILES) if f"{followed.path}.{n}" not in taken)
        new = f"{followed.path}.{number}"
        if followed.name == followed.path:
            self._renamed.append((followed.name, new))
            followed.name = new
