"""The files a path, a pattern or a folder stands for, sorted by name; each folder and linked file once.

In: a path as given, and until when. Out: paths that begin as the given one did. What cannot be listed is among them, so
that the caller can say why.
"""

from __future__ import annotations

import glob
import os

from ..errors import SourceError
from .deadline import Deadline, Share

SKIPPED_FOLDERS = frozenset([".git", "__pycache__", "node_modules"])

Seen = set[tuple[int, int]]  # device and inode of what was taken already


def expand_pattern(path: str) -> list[str]:
    """Resolves a pattern that the shell left alone; an existing path of that very name wins."""
    if _may_exist(path):
        return [path]
    if not path:
        raise SourceError("an empty path was given; perhaps by a variable that is not set")
    found = sorted(glob.glob(os.path.expanduser(path), recursive=True))
    if not found:
        what = "no file matches" if glob.has_magic(path) else "no such file or folder:"
        raise SourceError(f"{what} {path}")
    return found


def _may_exist(path: str) -> bool:
    """Whether something has this name, or lies where nobody may look: `os.path.lexists` denies the latter."""
    try:
        os.lstat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


class FolderWalk:
    """The files below a folder. Listing may take the first half of the time that is left; then the walk is cut."""

    def __init__(self, path: str, seen: Seen, deadline: Deadline | Share) -> None:
        left_s = deadline.left_s()
        self._deadline = Deadline.after(None if left_s is None else left_s / 2)
        self._path = path
        self._seen = seen
        self._found: list[str] = []
        self._links: list[str] = []
        self.is_cut = False

    def files(self) -> list[str]:
        """Yield them by name; each folder once, so that links back up end nowhere."""
        if not os.path.isdir(self._path):
            return [self._path]
        self._collect(self._path)
        # Links last: `session_latest` must not take the files away from `session_2026-11-20_17-24-35`.
        real = {_inode(file) for file in self._found} if self._links else set()
        above = os.path.realpath(self._path) + os.sep
        while self._links and not self.is_cut:
            link = self._links.pop(0)
            if os.path.isdir(link):
                # A link to what holds the folder, such as `/proc/self/root`, would bring everything in.
                if not above.startswith(os.path.realpath(link).rstrip(os.sep) + os.sep):
                    self._collect(link)
            elif _inode(link) not in real:
                self._found.append(link)
        return sorted(self._found)

    def _collect(self, folder: str) -> None:
        """Add the files and the links below `folder`, with a stack of its own instead of recursion."""
        stack = [folder]
        while stack:
            if self._deadline.passed():
                self.is_cut = True
                return
            here = stack.pop()
            try:
                entries = sorted(os.scandir(here), key=lambda entry: entry.name)
                status = os.stat(here)
            except OSError:
                self._found.append(here)  # `_from_path` says why
                continue
            if (status.st_dev, status.st_ino) in self._seen:
                continue
            self._seen.add((status.st_dev, status.st_ino))
            stack += self._sort_out(entries)

    def _sort_out(self, entries: list[os.DirEntry[str]]) -> list[str]:
        """Keep files and links; yield the folders."""
        folders: list[str] = []
        for entry in entries:
            if entry.is_symlink():
                self._links.append(entry.path)
            elif not entry.is_dir(follow_symlinks=False):
                self._found.append(entry.path)
            elif entry.name not in SKIPPED_FOLDERS:
                folders.append(entry.path)
        return folders


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
