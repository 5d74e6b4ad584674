"""The folders that an assistant may read below; a path in, the same path out, or a refusal that names the folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..lines.record import record
from ..sources.bounds import Deadline
from ..sources.paths import expand_pattern, files_below, is_url

MAX_PATHS = 64  # of one call
MEMBER = "!"  # between an archive and what is in it


@record
class Roots:
    """Folders (or files), with links resolved; paths are shown and taken as from the first of them."""

    folders: tuple[str, ...]

    @classmethod
    def of(cls, given: Sequence[str]) -> Roots:
        """Yield the roots that were named. Raises `UsageError` where one is not there."""
        for path in given:
            if not os.path.exists(path):
                raise UsageError(f"{path}: no such folder; name the folders that may be read")
        return cls(tuple(os.path.realpath(path) for path in given))

    @property
    def base(self) -> str:
        """Where relative paths begin."""
        first = self.folders[0]
        return first if os.path.isdir(first) else os.path.dirname(first)

    def files(self, given: Sequence[str]) -> list[str]:
        """Yield what the paths and patterns stand for. Raises `DiagnoseError`."""
        if not 0 < len(given) <= MAX_PATHS:
            raise UsageError(f"give 1 to {MAX_PATHS} paths; a folder stands for all that is in it")
        found = [path for pattern in given for path in expand_pattern(self._absolute(pattern))]
        return [self._shown(file) for path in found for file in self._below(path)]

    def file(self, given: str) -> str:
        """Yield the one file, or archive, that a path names. Raises `DiagnoseError`."""
        path = self._absolute(given.partition(MEMBER)[0] if not os.path.exists(self._absolute(given)) else given)
        if not self.holds(path) or not os.path.isfile(path):
            raise UsageError(f"{given}: no file below {', '.join(self.folders)}")
        return self._shown(path)

    def holds(self, path: str) -> bool:
        """Tell whether a path, with its links resolved, lies below a root."""
        real = os.path.realpath(path)
        return any(real == root or real.startswith(root.rstrip(os.sep) + os.sep) for root in self.folders)

    def _absolute(self, given: str) -> str:
        if is_url(given) or given in ("", "-") or "\0" in given:
            raise UsageError(f"{given[:80]!r}: only files below {', '.join(self.folders)} can be read")
        return os.path.join(self.base, given)

    def _below(self, path: str) -> list[str]:
        """The path itself; of a folder with links that lead out of the roots, the files that stay within."""
        if not self.holds(path):
            raise UsageError(f"{path}: not below {', '.join(self.folders)}")
        files = files_below(path, set(), Deadline())[0] if os.path.isdir(path) else [path]
        within = [file for file in files if self.holds(file)]
        return [path] if len(within) == len(files) else within

    def _shown(self, path: str) -> str:
        return os.path.relpath(path, self.base) if Path(path).is_absolute() else path
