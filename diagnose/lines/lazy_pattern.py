"""Patterns that are compiled when they are first used: a run meets few of them, and compiling all costs more than
reading a small log."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub")


class _Lazy:
    def __init__(self, source: str | bytes, flags: int) -> None:
        self._given = source, flags

    def __getattr__(self, name: str) -> Any:  # asked for what it does not have, which is once
        found = re.compile(*self.__dict__["_given"])
        self.__dict__.update((each, getattr(found, each)) for each in METHODS)
        return getattr(found, name)


def lazy(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Yield what behaves as `re.compile(source, flags)` and is compiled on first use."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
