"""Text that somebody's printer dressed, as it was first printed: terminal colors, HTML entities, a traceback or a table in
one line, a string with its escapes, mpirun's tags within a line.

In: bytes. Out: as many lines; where one held several, they are parted by `\\r`, on which the line reader splits.

    a terminal   \\x1b[31mERROR\\x1b[0m, and as syslog, a repr, JSON or `cat -v` write it    ERROR
    a web page   File &quot;train.py&quot;, line 5, in &lt;module&gt;          File "train.py", line 5, in <module>
    a repr       failed: ['Traceback (most recent call last):\\n', '  File …    failed: | Traceback (most recent call last):
    Cloud export     "textPayload": "KeyError: 'x'\\n",                       KeyError: 'x'
    Vertex AI    status of 1. Traceback (most recent call last): File "a.py", line 5, in f x() KeyError: 'x'
    torchrun     [0]: time : 2026-… host : w-1 rank : 6 (local_rank: 2) exitcode : -7 (pid: 12) …
    Markdown     \\[rank0\\]: KeyError: 'a\\_b'                             [rank0]: KeyError: 'a_b'
    Open MPI     [1,1]<stderr>:ValueError[1,1]<stderr>:: [1,1]<stderr>:no shard     [1,1]<stderr>:ValueError: no shard
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy

_TABLES = tables(Path(__file__).with_name("patterns.yaml"))
# Supersets of what the functions below can change: of a block without one nothing is looked at.
ANSI_LITERALS, ESCAPED_LITERALS = (tuple(x.encode() for x in texts) for texts in _TABLES["literals"].values())
TABLE_LITERAL = b" exitcode : "  # torchrun itself writes two blanks before the colon
TAG_LITERALS = (b"]<stderr>:", b"]<stdout>:")
_IN: dict[str, re.Pattern[bytes]] = {name: lazy(pattern.encode()) for name, pattern in _TABLES["escapes"].items()}
JSON_LINE, _MD_ESCAPE = _IN["json_line"], _IN["md_escape"]


def change_lines(pattern: re.Pattern[bytes], data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Yield `data` with each line in which `pattern` is found (without its end) as `change` gives it."""
    out: list[bytes] = []
    position = 0  # of the end of the last line that was changed
    for found in pattern.finditer(data):
        if found.start() >= position:
            start = data.rfind(b"\n", position, found.start()) + 1 or position
            end = data.find(b"\n", found.start())
            end = len(data) if end < 0 else end
            out += [data[position:start], change(data[start:end])]
            position = end
    return b"".join([*out, data[position:]]) if out else data


# --- terminals --------------------------------------------------------------------------------------------------

_WRITTEN_MARK = (b"#033[", b"^[[")
# Cursor movements start another text on the screen, as a carriage return does; colors and erasures print nothing.
_MOVES = frozenset([b"A", b"B", b"E", b"F", b"G", b"H", b"f"])


def strip_ansi(data: bytes) -> bytes:
    """Yield `data` without terminal sequences, real ones and written ones; a cursor movement becomes `\\r`."""
    if b"\x1b" in data:
        data = _IN["color"].sub(b"", data)  # nearly all of them; without a call per match it is twice as fast
        data = _IN["ansi"].sub(_moved, data)
    has_written = b"\\" in data and _IN["written_backslash"].search(data) is not None
    if has_written or any(mark in data for mark in _WRITTEN_MARK):
        data = _IN["written_ansi"].sub(_moved, data)
    return change_lines(_IN["bare_reset"], data, _strip_bare)


def _strip_bare(line: bytes) -> bytes:
    is_pair = any(_IN["bare_reset"].fullmatch(color) is None for color in _IN["bare_color"].findall(line))
    return _IN["bare_color"].sub(b"", line) if is_pair else line


def _moved(found: re.Match[bytes]) -> bytes:
    return b"\r" if found[1] in _MOVES else b""


# --- strings ----------------------------------------------------------------------------------------------------


def unescape(data: bytes) -> bytes:
    """Yield `data` as it was printed before it was escaped or folded into one line."""
    if b"&" in data:
        from html import unescape as plain  # its table costs every start, and few inputs need it

        data = _IN["entity"].sub(lambda found: plain(found[0].decode()).encode(), data)
    if b'"textPayload": "' in data or b'"message": "' in data:
        data = _IN["exported"].sub(lambda found: string_of(found[1] or found[2], found[0]), data)
    if b"call last):\\" in data:
        data = _IN["quoted_traceback"].sub(_printed, data)
    if TABLE_LITERAL in data:
        data = change_lines(_IN["entry"], data, _unfold_table)
    return _IN["traceback"].sub(_unfold, data) if b"call last): " in data else data


def string_of(text: bytes, broken: bytes = b"") -> bytes:
    """Yield the lines of a JSON string, parted by `\\r`; `broken` where it is none."""
    try:
        said = str(json.loads(text))
    except ValueError:
        return broken
    return said.rstrip("\r\n").replace("\r\n", "\n").replace("\n", "\r").encode("utf-8", "replace")


def _printed(found: re.Match[bytes]) -> bytes:
    """The lines of a traceback that a string holds; what stands before it on its line stays a line of its own."""
    text = _IN["closing"].sub(b"", found[0])
    return _begin(found) + _IN["escape"].sub(rb"\1", _IN["between"].sub(b"\r", text))


def _begin(found: re.Match[bytes]) -> bytes:
    is_begun = not found.start() or found.string[found.start() - 1 : found.start()] in (b"\n", b"\r")
    return b"" if is_begun else b"\r"


# --- an editor of Markdown ----------------------------------------------------------------------------------------

_ESCAPED_NAME, _NAME = lazy(rb"\w\\_\w"), lazy(rb"[A-Za-z0-9]_[A-Za-z0-9]")


def without_escapes(data: bytes) -> bytes:
    """Yield the text as it was printed, where a bracket that begins a line, or all names with underscores, are escaped."""
    is_name = b"\\_" in data and _ESCAPED_NAME.search(data) is not None and _NAME.search(data) is None
    is_bracketed = b"\\[" in data and b"\\]" in data and _IN["bracketed"].search(data) is not None
    if not is_name and not is_bracketed:
        return data
    return change_lines(
        _IN["md_escape"], data, lambda line: line if JSON_LINE.match(line) else _IN["md_escape"].sub(rb"\1", line)
    )


# --- line ends that became blanks -------------------------------------------------------------------------------

_CODE_BYTES = 4096  # how much of a last frame's line may be source; an exception's name is not looked for beyond


def _unfold(found: re.Match[bytes]) -> bytes:
    """The lines of a traceback; what stands before it on its line stays a line of its own."""
    text = _IN["header"].sub(rb"\r\1", _IN["chain"].sub(rb"\r\r\1\r", found[0]))
    lines = _IN["frame"].sub(rb"\r  \1\r    ", text).lstrip(b"\r").split(b"\r")
    for place, line in enumerate(lines):
        is_last = not lines[place + 1 : place + 2] or not lines[place + 1].startswith(b"  File ")
        if line.startswith(b"    ") and is_last:
            lines[place] = _IN["raised"].sub(b"\r", line[:_CODE_BYTES], count=1) + line[_CODE_BYTES:]
    return _begin(found) + b"\r".join(lines)


def _unfold_table(line: bytes) -> bytes:
    parted = _IN["part"].sub(rb"\r\1\r", line).lstrip(b"\r")
    return _IN["field"].sub(lambda found: b"\r  %-10b: " % found[1], parted).replace(b"\r\r", b"\r")


# --- mpirun -----------------------------------------------------------------------------------------------------


def is_tagged_within(data: bytes) -> bool:
    """Tell whether a line may hold two tags; of a log in which each line has one, this costs as much as the scan."""
    return _IN["twice"].search(data) is not None


def untag(data: bytes) -> bytes:
    """Yield `data` with the first tag of each process in a line, and that of another at a text of its own."""
    return change_lines(_IN["twice"], data, _once)


def _once(line: bytes) -> bytes:
    if not _IN["tags"].match(line):
        return line
    spoken, out, position = b"", [], 0
    for tag in _IN["tags"].finditer(line):
        out.append(line[position : tag.start()])
        if tag[0] != spoken:
            out.append(b"\r" + tag[0] if spoken else tag[0])
        spoken, position = tag[0], tag.end()
    return b"".join([*out, line[position:]])
