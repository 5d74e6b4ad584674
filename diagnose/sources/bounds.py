"""How much of an input is read: until when, and how many bytes of what a stranger packed; and in plain words why not more.

Each bound is far above what jobs leave, and holds per archive.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from ..lines.lazy_pattern import lazy
from ..lines.record import record

MIB = 1 << 20
MAX_DEPTH = 3  # archives within archives: logs.tar.gz!node7.tar.gz!rank3.log.gz is the most anyone sends
MAX_RATIO = 200  # bytes out per byte in; repetitive logs reach 100
BOMB_BYTES = 256 * MIB  # so much may come out before the ratio counts
MAX_BOMBS = 4  # members of one zip that are cut before the rest of it is given up
MAX_MEMBERS = 20_000  # a log of each of 16,384 ranks, and what lies beside them; one takes a millisecond, however short
MAX_NAME_CHARS = 512  # of a member, from its end; a tar may give it a megabyte, of which patterns read who speaks
HEADER_BYTES = MIB  # of one tar member's headers: its name, and where 40,000 holes are
MAX_DIRECTORY_BYTES = 8 * MIB  # of a zip, which takes 20 times as much when it is read; of so many members 4 are usual
LZMA_MEMORY_BYTES = 256 * MIB  # `xz -9` needs 65
SPOOL_BYTES = 16 * MIB  # a zip inside another stream is kept in memory up to here, then in a temporary file
MAX_SPOOLED_BYTES = 2048 * MIB  # of such a zip, whose directory is at its end

T = TypeVar("T")


def is_bomb(bytes_out: int, bytes_in: int) -> bool:
    """Tell whether so many bytes came out of so few that they are no log."""
    return bytes_out > BOMB_BYTES and bytes_out > MAX_RATIO * bytes_in


def cut(bytes_out: int) -> str:
    """Say that a bomb was cut."""
    return f"cut after {bytes_out // MIB} MiB: it expands more than {MAX_RATIO} times"


def read_up_to(size: int, read: Callable[[int], bytes | None]) -> bytes:
    """Reads on until there are so many bytes, or no more."""
    parts = []
    while size > 0 and (part := read(min(size, 1 << 20))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


@record
class Deadline:
    """A moment on this machine's clock; None: never."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Yield the moment `seconds` from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.at is not None and time.monotonic() >= self.at

    def left_s(self) -> float | None:
        """Yield how many seconds are left; None: no limit."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())


class Share:
    """Half of the time until a deadline, of which only what `within` spends counts."""

    def __init__(self, deadline: Deadline) -> None:
        left_s = deadline.left_s()
        self._deadline = deadline
        self._left_s = None if left_s is None else left_s / 2
        self._since: float | None = None  # when what counts began; None while nothing does

    def within(self, items: Iterator[T]) -> Iterator[T]:
        """Yield the items; the time until each comes counts, not what is done with it."""
        while True:
            self._since = time.monotonic()
            item = next(items, None)
            self._left_s, self._since = self.left_s(), None
            if item is None:
                return
            yield item

    def passed(self) -> bool:
        """Whether it is time to stop."""
        return self.left_s() == 0 or self._deadline.passed()

    def left_s(self) -> float | None:
        """Yield how many seconds are left; None: no limit."""
        if self._left_s is None or self._since is None:
            return self._left_s
        return max(0.0, self._left_s - (time.monotonic() - self._since))


# --- why an input is not read ---------------------------------------------------------------------------------------

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
