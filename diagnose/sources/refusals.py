"""Why an input is not read, in plain words; and whether a log may have been lost with it."""

from __future__ import annotations

import os
import stat

from ..lines.lazy_pattern import lazy

MAX_REASON_CHARS = 200  # libraries quote what they choked on
NO_TIME = "the budget of time was used up"
OUT_OF_TIME = f"not read to its end: {NO_TIME}"
_OPEN_PIPE = lazy(r"/dev/(?:fd/\d+|stdin)|/proc/self/fd/\d+")  # `diagnose <(kubectl logs …)`
# What begins so holds no log, whatever became of it; a 7z or RAR archive may well hold one.
_NO_LOG = (
    "binary: ", "documentation", "empty", "source code", "a device", "a document", "a named pipe", "a notebook",
    "a page of", "a rule of", "a socket", "an archive without",
)  # fmt: skip
_UNOPENED = "which is not opened"
_LINKED = "in the same archive"  # read where it lies


def special(path: str, mode: int, *, is_given: bool) -> str | None:
    """Says why what lies at a path is no file to read; None where it is one."""
    if stat.S_ISREG(mode) or (is_given and _OPEN_PIPE.fullmatch(path)):
        return None
    if stat.S_ISDIR(mode):
        return "a folder that cannot be listed (permission denied)"
    if stat.S_ISFIFO(mode):
        return "a named pipe: reading it could wait for ever"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device, which holds no log"


def why_not(path: str, error: Exception) -> str:
    """Says why a path could not be opened."""
    if isinstance(error, FileNotFoundError):
        return "a link to a file that is gone" if os.path.islink(path) else "it is gone"
    return "permission denied" if isinstance(error, PermissionError) else broken_off(error).lower()


def broken_off(error: Exception) -> str:
    """Says what ended the reading of an input, in one line."""
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    if isinstance(error, RecursionError):
        return "nests too deeply"
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(said.split())[:MAX_REASON_CHARS]


def may_be_log(reason: str) -> bool:
    """Whether what was not read for this reason may be a log."""
    return reason.endswith(_UNOPENED) or not (reason.startswith(_NO_LOG) or reason.endswith(_LINKED))
