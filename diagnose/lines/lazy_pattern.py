"""Patterns that are compiled when they are first used: a run meets few of them, and compiling all costs more than
reading a small log."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, AnyStr, cast

METHODS = ("finditer", "findall", "fullmatch", "match", "search", "split", "sub")


class _Lazy:
    __slots__ = ("_flags", "_source", *METHODS)

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source, self._flags = source, flags
        for name in METHODS:
            setattr(self, name, partial(self._first, name))

    def _first(self, name: str, *args: Any, **more: Any) -> Any:
        return getattr(self._compile(), name)(*args, **more)

    def _compile(self) -> re.Pattern[Any]:
        found = re.compile(self._source, self._flags)
        for name in METHODS:  # from now on a call goes straight to the compiled pattern
            setattr(self, name, getattr(found, name))
        return found

    def __getattr__(self, name: str) -> Any:
        if name in self.__slots__:
            raise AttributeError(name)
        return getattr(self._compile(), name)


def compiled(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    return re.compile(source, flags)


def lazy(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Yield what behaves as `re.compile(source, flags)` and is compiled on first use."""
    return cast("re.Pattern[AnyStr]", _Lazy(source, flags))
