"""Colours and other terminal sequences, real ones, and as syslog, a repr, JSON or `cat -v` write them.

In: bytes. Out: as many lines without them; a cursor movement starts another text, as a carriage return does.
"""

from __future__ import annotations

import re

from ..lines.lazy_pattern import lazy
from .line_changes import change_lines

# A superset of what `strip_ansi` can change, as `normalise.DRESS_LITERALS` is.
ANSI_LITERALS: tuple[bytes, ...] = (
    b"\x1b", b"#033[", b"\\x1b[", b"\\x1B[", b"\\u001b[", b"\\u001B[", b"\\033[", b"\\e[", b"^[[", b"[0m", b"[39m",
    b"[0;0m", b"[31m(", b"[32m(", b"[33m(", b"[34m(", b"[35m(", b"[36m(", b"[1;36m(",
)  # fmt: skip

# ESC [ … letter (CSI), ESC ] … BEL (OSC: titles, links), ESC P/X/^/_ … ESC \ (strings), ESC and one or two characters
_ANSI = lazy(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}([@-~])|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)"
    rb"|[PX^_][^\x1b\n]{0,2048}\x1b\\|[ -/]{1,2}[0-~]|[0-~])?"
)
_COLOUR = lazy(rb"\x1b\[[0-9;]{0,64}[mK]")
# The same as syslog (`#033[31m`), a repr or JSON (`\x1b[31m`, `\u001b[31m`, `\033[31m`) or `cat -v` (`^[[0m`) write it.
_WRITTEN_ANSI = lazy(rb"(?:#033|\\(?:x1[bB]|u001[bB]|033|e)|\^\[)\[[0-9;?]{0,32}([A-Za-z])")
_WRITTEN_MARK = (b"#033[", b"^[[")
_WRITTEN_BACKSLASH = lazy(rb"\\(?:x1[bB]|u001[bB]|033|e)\[")
# A collector that drops control characters leaves `[36m(Trainer pid=28717)[0m text`; only a colour with its reset goes,
# vLLM's `[0;0m` too, and one before the name of a Ray process, whose reset a copied message left behind.
_BARE_RESET = lazy(rb"\[(?:(?:0(?:;0)?|39)m|(?:1;36|3[1-6])m\((?:raylet|autoscaler|\w{1,80} pid=\d))")
_BARE_COLOUR = lazy(rb"\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m")
# Cursor movements start another text on the screen, as a carriage return does; colours and erasures print nothing.
_MOVES = frozenset([b"A", b"B", b"E", b"F", b"G", b"H", b"f"])


def strip_ansi(data: bytes) -> bytes:
    """Removes colours and other terminal sequences, real ones and written ones; a cursor movement becomes `\\r`."""
    if b"\x1b" in data:
        data = _COLOUR.sub(b"", data)  # nearly all of them; without a call per match it is twice as fast
        data = _ANSI.sub(_replacement, data)
    has_written = b"\\" in data and _WRITTEN_BACKSLASH.search(data) is not None
    if has_written or any(mark in data for mark in _WRITTEN_MARK):
        data = _WRITTEN_ANSI.sub(_replacement, data)
    return change_lines(_BARE_RESET, data, _strip_bare)


def _strip_bare(line: bytes) -> bytes:
    is_pair = any(_BARE_RESET.fullmatch(colour) is None for colour in _BARE_COLOUR.findall(line))
    return _BARE_COLOUR.sub(b"", line) if is_pair else line


def _replacement(found: re.Match[bytes]) -> bytes:
    return b"\r" if found[1] in _MOVES else b""
