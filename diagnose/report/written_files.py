"""Files that appear whole or not at all, also where a stranger may lay links and files of the names that we would take.

Only the standard library is imported here: `diagnose run` stays in memory as long as its job.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

_FOLLOW_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FOLLOW_NO_LINK
_ROOT = 0


def write_whole(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write beside `path` and move it there. `private`: for our own eyes, in no folder of another user."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if not private and path.exists() and not path.is_file():  # /dev/stdout, a pipe: to be written, never replaced
        path.write_bytes(data)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    beside = f".{path.name[:100]}.{os.urandom(5).hex()}"
    try:
        with open(os.open(beside, _NEW, 0o600 if private else 0o666, dir_fd=folder), "wb") as file:
            if private and os.fstat(folder).st_uid not in (os.fstat(file.fileno()).st_uid, _ROOT):
                raise PermissionError(0, "belongs to another user", str(path.parent))
            file.write(data)
        os.replace(beside, path.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise
    finally:
        os.close(folder)


def open_named(path: str, flags: int) -> int:
    """Open what the user named (an `opener`); in a folder where everybody can lay a link, none is followed."""
    open_to_all = os.stat(os.path.dirname(path) or ".").st_mode & stat.S_IWOTH
    return os.open(path, flags | (_FOLLOW_NO_LINK if open_to_all else 0), 0o666)


def make_private_folder(path: Path) -> None:
    """Make a folder that nobody else may look into. Raises `PermissionError` where another user has laid it there."""
    path.mkdir(0o700, parents=True, exist_ok=True)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _FOLLOW_NO_LINK)
    probe = f".{os.urandom(5).hex()}"
    try:
        with open(os.open(probe, _NEW, 0o600, dir_fd=folder)) as made:
            os.unlink(probe, dir_fd=folder)
            mine = os.fstat(made.fileno()).st_uid  # not our own number where a file server maps root to nobody
        if os.fstat(folder).st_uid != mine:
            raise PermissionError(0, "belongs to another user", str(path))
        with suppress(OSError):  # one mounted without modes
            os.fchmod(folder, 0o700)
    finally:
        os.close(folder)


def claim_file(path: Path, text: str = "") -> bool:
    """Make a file that only its owner reads; False where there is one, or a link."""
    try:
        with open(os.open(path, _NEW, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def is_own(path: Path, folder: Path) -> bool:
    """Tell whether `path` is a plain file, and whose `folder` is (ours: `make_private_folder`) wrote it."""
    try:
        status = path.lstat()
        return stat.S_ISREG(status.st_mode) and status.st_uid == folder.stat().st_uid
    except OSError:
        return False


def drop_output() -> None:
    """Give up a stream that nobody reads, with what is left in its buffer: Python would say so once more when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            with suppress(OSError):  # an output that is no file, as in a notebook
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
