"""What a path, a pattern, a folder or a URL stands for: files, sorted by name, each folder and linked file once.

In: a path as given, and until when. Out: paths that begin as the given one did, so that any process can open them again;
what cannot be listed is among them, so that the caller can say why. URLs (`s3://`, `gs://`, `hf://`, `ssh://` …) are read
by ranges by way of fsspec. Of a log that was cut while it was open, what stands behind the zeros at its start.
"""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterator
from typing import Any, cast

from ..errors import DiagnoseError, MissingExtra, SourceError
from .bounds import Deadline, Share

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


# --- URLs ---------------------------------------------------------------------------------------------------------

RANGE_BYTES = 8 << 20  # one request's worth: stores answer in tens of milliseconds, whatever the size
LOOK_BYTES = 1 << 20  # what is asked for to see what a file is
EXTRA = "diagnose-training[cloud]"
PACKAGES = {  # what fsspec needs beside itself, by protocol; the extra brings s3fs
    "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub", "ssh": "paramiko", "sftp": "paramiko", "az": "adlfs",
    "abfs": "adlfs", "abfss": "adlfs", "adl": "adlfs", "oss": "ossfs", "oci": "ocifs", "http": "aiohttp",
    "https": "aiohttp", "webhdfs": "requests", "smb": "smbprotocol", "hdfs": "pyarrow",
}  # fmt: skip
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}://.")
_MAGIC = re.compile(r"[*?\[]")


def is_url(path: str) -> bool:
    """Whether a path names a protocol: `s3://bucket/logs`."""
    return _URL.match(path) is not None


def find_remote(url: str) -> Iterator[tuple[str, int | None]]:
    """Yield (name, bytes) of each file at or below the URL, by name. Raises `SourceError` where there is none."""
    system, root = _system(url)
    try:
        found = system.glob(root, detail=True) if _MAGIC.search(root) else system.find(root, detail=True)
    except Exception as error:
        raise SourceError(f"{url}: {_reason(error)}") from error
    files = [(path, info) for path, info in sorted(found.items()) if info.get("type") != "directory"]
    if not files:
        raise SourceError(f"nothing found at {url}")
    front = url.rstrip("/").removesuffix(root.rstrip("/"))
    for path, info in files:
        if SKIPPED_FOLDERS.isdisjoint(path.split("/")[:-1]) and not path.endswith("/"):
            yield front + path, info.get("size")


def open_remote(url: str, *, look: bool = False) -> io.RawIOBase:
    """Open a file behind a URL, to be read from anywhere in it; raises `OSError` where it cannot be.

    What reading raises is the client's own."""
    try:
        system, path = _system(url)
        size = LOOK_BYTES if look else RANGE_BYTES
        return cast(io.RawIOBase, system.open(path, "rb", block_size=size, cache_type="readahead"))
    except (OSError, DiagnoseError):
        raise
    except Exception as error:  # each client has errors of its own: botocore's are no OSError
        raise OSError(_reason(error)) from error


def _system(url: str) -> tuple[Any, str]:
    protocol = url.partition("://")[0].rpartition("::")[2].lower()
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise _missing(url, protocol) from error
    try:
        return url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError as error:
        raise _missing(url, protocol) from error
    except ValueError as error:
        raise SourceError(f"{url}: {_reason(error)}") from error
    except Exception as error:  # no credentials, no such host: raised here by some clients, later by others
        raise SourceError(f"{url}: {_reason(error)}") from error


def _missing(url: str, protocol: str) -> MissingExtra:
    package = PACKAGES.get(protocol)
    return MissingExtra(f"{url} needs `pip install '{EXTRA}'{' ' + package if package else ''}`")


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, PermissionError):
        return "permission denied (are there credentials for it?)"
    return " ".join(str(error).split())[:300] or type(error).__name__


# --- zeros --------------------------------------------------------------------------------------------------------

SEARCH_BYTES = 64 << 20  # of zeros that are stored, before the file is taken for zeros
STEP_BYTES = 1 << 20


def head_behind_zeros(path: str, size: int) -> bytes:
    """Yield up to `size` bytes from the first one on that is not zero; none where there is none."""
    try:
        with open(path, "rb", buffering=0) as file:
            at = _data_from(file.fileno(), 0)
            end = at + SEARCH_BYTES
            while at < end:
                file.seek(at)
                part = file.read(STEP_BYTES)
                solid = part.lstrip(b"\x00")
                if solid or not part:
                    file.seek(at + len(part) - len(solid))
                    return file.read(size)
                at = max(at + len(part), _data_from(file.fileno(), at + len(part)))
    except OSError:  # no data behind the hole, or no way to read it
        pass
    return b""


def _data_from(descriptor: int, at: int) -> int:
    return os.lseek(descriptor, at, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else at
