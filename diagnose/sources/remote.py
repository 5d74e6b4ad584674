"""Files behind a URL (`s3://`, `gs://`, `hf://`, `ssh://` …) by way of fsspec: what there is, and its bytes by ranges.

In: a URL of a file, a folder or a pattern. Out: the names and sizes below it, and a seekable stream of each. A name
begins as the URL did, so that any process on any machine can open it again.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from ..errors import DiagnoseError, MissingExtra, SourceError
from .folders import SKIPPED_FOLDERS

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
    """Open a file behind a URL, to be read from anywhere in it; raises `OSError` where it cannot be."""
    try:
        system, path = _system(url)
        size = LOOK_BYTES if look else RANGE_BYTES
        return RemoteFile(system.open(path, "rb", block_size=size, cache_type="readahead"))
    except (OSError, DiagnoseError):
        raise
    except Exception as error:  # each client has errors of its own: botocore's are no OSError
        raise OSError(_reason(error)) from error


class RemoteFile(io.RawIOBase):
    """A remote file as a raw stream whose errors are `OSError`s."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        """Says yes."""
        return True

    def seekable(self) -> bool:
        """Says yes."""
        return True

    def tell(self) -> int:
        """Yield the position."""
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to a position."""
        return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        """Fill `buffer`; 0 is the end."""
        target = memoryview(buffer).cast("B")
        try:
            data = self._file.read(len(target))
        except OSError:
            raise
        except Exception as error:
            raise OSError(_reason(error)) from error
        target[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Let the connection go."""
        if not self.closed:
            self._file.close()
        super().close()


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
