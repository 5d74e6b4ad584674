"""Patterns as a library compiled them, kept in the user's cache: to compile one takes thirty times as long as to read
it back, and a run meets a hundred of them.

A run adds those that it met first. Both libraries trust the code they are given, so a file that others could have
written, or that is not to the byte what was stored, is not read; another version of them asks for another file.
"""

from __future__ import annotations

import hashlib
import re
import sys
from typing import TYPE_CHECKING, Any

from .own_cache import can_tell_owner, read_sealed, write_sealed
from .pattern_code import re_from_row, re_row, regex_from_row, regex_row

if TYPE_CHECKING:
    import regex

MAX_STORED = 1_000  # patterns, about 1 KB each; those that were compiled first go first
KEY_CHARS = 24


class StoredPatterns:
    """Compiles patterns, or reads how they were compiled before; `keep` writes what is new."""

    def __init__(self) -> None:
        self._rows: dict[bytes, bytes] | None = None  # by key, as they were read
        self._new: dict[bytes, bytes] = {}

    def regex(self, source: str, *, ignore_case: bool) -> regex.Pattern[str]:
        """Yield a pattern of `regex`, which knows a time limit."""
        key, row = self._find("regex", source, ignore_case)
        found = regex_from_row(source, row) if row else None
        if found is None:
            import regex

            found = regex.compile(source, regex.IGNORECASE if ignore_case else 0)
            self._new[key] = regex_row(found)
        return found

    def re(self, source: str | bytes, flags: int = 0) -> re.Pattern[Any]:
        """Yield a pattern of the standard library's."""
        key, row = self._find("re", source, flags)
        found = re_from_row(source, row) if row else None
        if found is None:
            found = re.compile(source, flags)
            self._new[key] = re_row(found, flags)
        return found

    def keep(self) -> None:
        """Write what was compiled since, for the next run."""
        rows = {key: row for key, row in self._new.items() if row}
        self._new.clear()
        if not rows or not can_tell_owner():
            return
        self._rows = {**rows, **_read()}
        lines = [b"%b %b" % item for item in self._rows.items()]
        write_sealed(_name(), b"\n".join(lines[:MAX_STORED]))

    def _find(self, *what: object) -> tuple[bytes, bytes | None]:
        if self._rows is None:
            self._rows = _read()
        key = _digest(what).encode()
        return key, self._rows.get(key)


def _read() -> dict[bytes, bytes]:
    lines = (read_sealed(_name()) or b"").splitlines()
    return {line[:KEY_CHARS]: line[KEY_CHARS + 1 :] for line in lines}


def _name() -> str:
    import regex

    return f"patterns-{_digest((regex.__version__, sys.version, sys.byteorder, sys.maxsize))}"


def _digest(what: object) -> str:
    return hashlib.sha256(repr(what).encode("utf-8", "backslashreplace")).hexdigest()[:KEY_CHARS]


PATTERNS = StoredPatterns()  # of this process
