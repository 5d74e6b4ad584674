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
from contextlib import suppress
from typing import Any, cast

from ..errors import DiagnoseError, MissingExtra, SourceError
from .bounds import Deadline, Share

SKIPPED_FOLDERS = frozenset([".git", "__pycache__", "node_modules"])

Seen = set[tuple[int, int]]  # device and inode of what was taken already


def expand_pattern(path: str) -> list[str]:
    """Resolves a pattern that the shell left alone; an existing path of that very name wins."""
    try:
        os.lstat(path)
        return [path]
    except PermissionError:  # it lies where nobody may look; `os.path.lexists` would deny it
        return [path]
    except (OSError, ValueError):
        pass
    if not path:
        raise SourceError("an empty path was given; perhaps by a variable that is not set")
    found = sorted(glob.glob(os.path.expanduser(path), recursive=True))
    if not found:
        what = "no file matches" if glob.has_magic(path) else "no such file or folder:"
        raise SourceError(f"{what} {path}")
    return found


def files_below(path: str, seen: Seen, deadline: Deadline | Share) -> tuple[list[str], bool]:
    """Yield the files below a folder by name, or the file itself, and whether the listing was cut. It may take the first
    half of the time that is left. Each folder is listed once, so that links back up end nowhere."""
    if not os.path.isdir(path):
        return [path], False
    left_s = deadline.left_s()
    half = Deadline.after(None if left_s is None else left_s / 2)
    found: list[str] = []
    links: list[str] = []
    real: set[tuple[int, int] | None] = set()
    above, folders = os.path.realpath(path) + os.sep, [path]
    while folders or links:
        if half.passed():
            return sorted(found), True
        if folders:
            folders += _listed(folders.pop(), seen, found, links)
            continue
        # Links last: `session_latest` must not take the files away from `session_2026-11-20_17-24-35`.
        real = real or set(map(inode_of, found))
        link = links.pop(0)
        if not os.path.isdir(link):
            found += [link] if inode_of(link) not in real else []
        # A link to what holds the folder, such as `/proc/self/root`, would bring everything in.
        elif not above.startswith(os.path.realpath(link).rstrip(os.sep) + os.sep):
            folders.append(link)
    return sorted(found), False


def _listed(folder: str, seen: Seen, found: list[str], links: list[str]) -> list[str]:
    """Add what lies in a folder to the files and links; yield the folders."""
    inode = inode_of(folder)
    if inode in seen:
        return []
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        found.append(folder)  # `_from_path` says why
        return []
    seen.update([inode] if inode else [])
    folders: list[str] = []
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            (links if entry.is_symlink() else found).append(entry.path)
        elif entry.name not in SKIPPED_FOLDERS:
            folders.append(entry.path)
    return folders


def inode_of(path: str) -> tuple[int, int] | None:
    """Yield by what a file is known, whatever it is called; None where it is gone."""
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


def is_url(path: str) -> bool:
    """Whether a path names a protocol: `s3://bucket/logs`."""
    return _URL.match(path) is not None


def find_remote(url: str) -> Iterator[tuple[str, int | None]]:
    """Yield (name, bytes) of each file at or below the URL, by name. Raises `SourceError` where there is none."""
    system, root = _system(url)
    try:
        found = system.glob(root, detail=True) if glob.has_magic(root) else system.find(root, detail=True)
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
    """Open a file behind a URL, to be read from anywhere in it. Raises `OSError`; reading raises what the client does."""
    try:
        system, path = _system(url)
        size = LOOK_BYTES if look else RANGE_BYTES
        return cast(io.RawIOBase, system.open(path, "rb", block_size=size, cache_type="readahead"))
    except (OSError, DiagnoseError):
        raise
    except Exception as error:  # each client has errors of its own: botocore's are no OSError
        raise OSError(_reason(error)) from error


def _system(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs

        return url_to_fs(url)  # type: ignore[no-any-return]
    except ImportError as error:
        package = PACKAGES.get(url.partition("://")[0].rpartition("::")[2].lower())
        raise MissingExtra(f"{url} needs `pip install '{EXTRA}'{' ' + package if package else ''}`") from error
    except Exception as error:  # no credentials, no such host: raised here by some clients, later by others
        raise SourceError(f"{url}: {_reason(error)}") from error


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
    with suppress(OSError), open(path, "rb", buffering=0) as file:  # no data behind the hole, or no way to read it
        at, end = 0, SEARCH_BYTES
        while at < end:
            found = file.seek(at, os.SEEK_DATA) if hasattr(os, "SEEK_DATA") else at
            at, end = found, end + found - at  # a hole costs nothing
            part = file.read(STEP_BYTES)
            solid = part.lstrip(b"\x00")
            if solid or not part:
                file.seek(at + len(part) - len(solid))
                return file.read(size)
            at += len(part)
    return b""
