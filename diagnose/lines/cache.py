"""What was built once and is read again: the files that came with the wheel, and the user's cache folder.

Nothing in the cache is ever needed: what is missing, damaged, of another owner or writable for others is built anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

DIGEST_BYTES = 32
KEPT = 6  # files of a kind: some catalogues and versions side by side
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
BUILT = Path(__file__).parents[1] / "built"  # made by `hatch_build.py`; a checkout has none


def cache_folder() -> Path | None:
    """The user's cache folder for `diagnose`; it need not exist or be writable. None where the user has no home. A
    container may run as a user that nobody registered, without HOME: `~` would be a folder beside the logs."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "diagnose") if os.path.isabs(base) else None


def built(name: str) -> bytes | None:
    """Yield a file that came with the wheel: trusted as the package's own code is."""
    try:
        return (BUILT / name).read_bytes()
    except OSError:
        return None


def can_tell_owner() -> bool:
    """Tell whether this system says whose a file is: without that, nothing that must be trusted is read."""
    return hasattr(os, "geteuid")


def read_own(name: str) -> bytes | None:
    """Yield what `write_own` kept; None where it is not that to the byte, or where others could have written it."""
    folder = cache_folder()
    if folder is None:
        return None
    try:
        if not _is_own(os.stat(folder)):
            return None
        descriptor = os.open(folder / name, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            stored = file.read() if stat.S_ISREG(status.st_mode) and _is_own(status) else b""
    except OSError:
        return None
    data = stored[DIGEST_BYTES:]
    return data if hashlib.sha256(data).digest() == stored[:DIGEST_BYTES] else None


def write_own(name: str, data: bytes) -> None:
    """Keep `data`, behind its digest, for the next run, where that can be done; of files with one first word some stay."""
    folder = cache_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):  # a read-only home costs a rebuild, never the run
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if can_tell_owner() and os.stat(folder).st_uid == os.geteuid():
            os.chmod(folder, 0o700)
        scratch = folder / f"{name}.{os.getpid()}.tmp"
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        with open(descriptor, "wb") as file:
            file.write(hashlib.sha256(data).digest() + data)
        scratch.replace(folder / name)
        files = sorted(folder.glob(f"{name.partition('-')[0]}-*"), key=lambda path: path.stat().st_mtime)
        for path in files[:-KEPT]:
            path.unlink()


def _is_own(status: os.stat_result) -> bool:
    return not can_tell_owner() or (status.st_uid == os.geteuid() and not status.st_mode & WRITABLE_BY_OTHERS)


@lru_cache
def tables(path: Path) -> dict[str, Any]:
    """Yield what a YAML file of ours holds; kept as JSON, for to read its YAML takes a run of a small log 0.1 s."""
    if (kept := built(f"{path.parent.name}-{path.stem}.json")) is None:
        kept = _kept_table(path)
    loaded: dict[str, Any] = json.loads(kept)
    return loaded


def patterns(module: str, table: str) -> Iterable[str]:
    """Yield the rows of a table of the `patterns.yaml` beside a module, in their order."""
    rows: dict[str, str] = tables(Path(module).with_name("patterns.yaml"))[table]
    return rows.values()


def _kept_table(path: Path) -> bytes:
    status = os.stat(path)
    state = f"{path} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
    name = f"{path.stem}-{hashlib.sha256(state.encode()).hexdigest()[:24]}.json"
    kept = read_own(name)
    if kept is None:
        import yaml

        kept = json.dumps(yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))).encode()
        write_own(name, kept)
    return kept
