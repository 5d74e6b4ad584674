"""Markdown's backslashes, as an editor puts them into a log that was pasted without a fence.

In: a short text. Out: as many lines, without the backslashes, where the text shows that an editor put them there.

    \\[rank0\\]: KeyError: 'a\\_b'      [rank0]: KeyError: 'a_b'
"""

from __future__ import annotations

from ..lines.lazy_pattern import lazy
from .escapes import change_lines

_ESCAPE = lazy(rb"\\([\\`*_{}\[\]()#+.!<>~|-])")
# A log prints no backslash before the bracket that begins a line; a pattern or a path in it may well hold one elsewhere.
_BRACKETED = lazy(rb"(?m)^[ \t>]{0,16}(?:\d{1,6}\\?[.)] {1,4}|[-*] {1,4})?\\\[[\w .,:/-]{1,60}\\\]")
_ESCAPED_NAME, _NAME = lazy(rb"\w\\_\w"), lazy(rb"[A-Za-z0-9]_[A-Za-z0-9]")
_JSON = lazy(rb"[ \t]{0,24}\[?[{\"]")


def without_escapes(data: bytes) -> bytes:
    """Yield the text as it was printed, before an editor of Markdown escaped it."""
    return change_lines(_ESCAPE, data, _unescaped) if b"\\" in data and _is_escaped(data) else data


def _is_escaped(data: bytes) -> bool:
    """Whether a line begins with an escaped bracket, or all names that hold an underscore hold it escaped."""
    return _BRACKETED.search(data) is not None or (_ESCAPED_NAME.search(data) is not None and _NAME.search(data) is None)


def _unescaped(line: bytes) -> bytes:
    return line if _JSON.match(line) else _ESCAPE.sub(rb"\1", line)
