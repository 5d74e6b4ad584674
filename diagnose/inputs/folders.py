"""The files a path, a pattern or a folder stands for, sorted by name; each folder and linked file once.

In: a path as given. Out: paths that begin as the given one did. What cannot be listed is yielded as it is, so that the
caller can say why.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from ..errors import SourceError

SKIPPED_FOLDERS = frozenset([".git", "__pycache__", "node_modules"])

Seen = set[tuple[int, int]]  # device and inode of what was taken already


def expand_pattern(path: str) -> list[str]:
    """Resolves a pattern that the shell left alone; an existing path of that very name wins."""
    if os.path.lexists(path):
        return [path]
    found = sorted(glob.glob(os.path.expanduser(path), recursive=True)) if path else []
    if not found:
        what = "no file matches" if glob.has_magic(path) else "no such file or folder:"
        raise SourceError(f"{what} {path}")
    return found


def walk_folder(path: str, seen: Seen) -> Iterator[str]:
    """Yields the files of a folder by name; each folder once, so that links back up end nowhere."""
    if not os.path.isdir(path):
        yield path
        return
    found: list[str] = []
    links: list[str] = []
    _collect(path, found, links, seen)
    # Links last: `session_latest` must not take the files away from `session_2026-11-20_17-24-35`.
    real = {_inode(file) for file in found} if links else set()
    while links:
        link = links.pop(0)
        if os.path.isdir(link):
            _collect(link, found, links, seen)
        elif _inode(link) not in real:
            found.append(link)
    yield from sorted(found)


def _collect(folder: str, found: list[str], links: list[str], seen: Seen) -> None:
    """Adds the files below `folder` to `found` and the links to `links`, with its own stack instead of recursion."""
    stack = [folder]
    while stack:
        here = stack.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
            status = os.stat(here)
        except OSError:
            found.append(here)  # `_from_path` says why
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        for entry in entries:
            if entry.is_symlink():
                links.append(entry.path)
            elif not entry.is_dir(follow_symlinks=False):
                found.append(entry.path)
            elif entry.name not in SKIPPED_FOLDERS:
                stack.append(entry.path)


def _inode(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
