"""A compiled pattern as a row of JSON and back.

Of `regex` it is what `pickle` keeps of a pattern, which the library tells through `copyreg`. Of `re` it is what its
compiler hands to the interpreter; such a row is made only where the pattern built of it equals the library's own.
What a version of a library does not tell has no row, and is compiled each time.
"""

from __future__ import annotations

import copyreg
import json
import sys
from array import array
from base64 import b64decode, b64encode
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re

    import regex

CODE = "I"  # of `array`: how the interpreter counts the words of a pattern
_UNKNOWN = (ValueError, TypeError, AttributeError, LookupError, RuntimeError, ImportError, OverflowError)


def regex_row(pattern: regex.Pattern[str]) -> bytes:
    """Yield the row of a pattern; empty where the library tells something that this does not know."""
    try:
        flags, code, groups, names, lists, indexes, *rest = _reduced(pattern)[1][1:]
        if lists or indexes or len(rest) != 4 or names != _names(groups):
            return b""
        return _json([flags, code.decode("latin-1"), groups, *rest])
    except _UNKNOWN:
        return b""


def regex_from_row(source: str, row: bytes) -> regex.Pattern[str] | None:
    """Yield the pattern of a row; None where it cannot be built."""
    try:
        flags, code, groups, offset, chars, char_flags, count = json.loads(row)
        rest = (offset, tuple(chars), char_flags, count)
        found: regex.Pattern[str] = _builder()(source, flags, code.encode("latin-1"), groups, _names(groups), {}, [], *rest)
    except _UNKNOWN:
        return None
    return found


@cache
def _builder() -> Any:
    import regex

    return _reduced(regex.compile(""))[0]


def _reduced(pattern: regex.Pattern[str]) -> tuple[Any, Any]:
    """What `pickle` calls to make a pattern anew, and with what."""
    reduced: Any = copyreg.dispatch_table[type(pattern)](pattern)
    call, given = reduced
    return call, given


def _names(groups: dict[str, int]) -> dict[int, str]:
    return {number: name for name, number in groups.items()}


def re_row(pattern: re.Pattern[Any], flags: int) -> bytes:
    """Yield the row of a pattern that was compiled with these flags; empty where it would not be the same."""
    try:
        code = _compiled(pattern.pattern, flags)
        groups = dict(pattern.groupindex)
        row = _json([pattern.flags, b64encode(array(CODE, code).tobytes()).decode(), groups, pattern.groups])
        return row if re_from_row(pattern.pattern, row) == pattern else b""
    except _UNKNOWN:
        return b""


def re_from_row(source: str | bytes, row: bytes) -> re.Pattern[Any] | None:
    """Yield the pattern of a row; None where it cannot be built."""
    try:
        builder: Any = import_module("_sre")
        flags, stored, groups, count = json.loads(row)
        code = array(CODE, b64decode(stored)).tolist()
        names = _names(groups)
        found: re.Pattern[Any] = builder.compile(
            source, flags, code, count, groups, tuple(names.get(n) for n in range(count + 1))
        )
    except _UNKNOWN:
        return None
    return found


def _compiled(source: str | bytes, flags: int) -> list[int]:
    """The code of a pattern of `re`."""
    new = sys.version_info >= (3, 11)  # the modules have other names since
    compiler: Any = import_module("re._compiler" if new else "sre_compile")
    parser: Any = import_module("re._parser" if new else "sre_parse")
    code: list[int] = compiler._code(parser.parse(source, flags), flags)
    return code


def _json(values: list[Any]) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()
