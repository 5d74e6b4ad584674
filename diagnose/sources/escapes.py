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

from ..lines.lazy_pattern import lazy

# Supersets of what the functions below can change: of a block without one nothing is looked at.
ANSI_LITERALS: tuple[bytes, ...] = (
    b"\x1b", b"#033[", b"\\x1b[", b"\\x1B[", b"\\u001b[", b"\\u001B[", b"\\033[", b"\\e[", b"^[[", b"[0m", b"[39m",
    b"[0;0m", b"[31m(", b"[32m(", b"[33m(", b"[34m(", b"[35m(", b"[36m(", b"[1;36m(",
)  # fmt: skip
TABLE_LITERAL = b" exitcode : "  # torchrun itself writes two blanks before the colon
ESCAPED_LITERALS: tuple[bytes, ...] = (
    b"&quot;", b"&#34;", b"&#39;", b"&#x27;", b"&apos;", b"&lt;", b"&gt;", b"&amp;", b"call last):\\", b'"textPayload": "',
    b'"message": "', TABLE_LITERAL, *(b"call last):" + b" " * blanks + b'File "' for blanks in (1, 2, 3)),
)  # fmt: skip
TAG_LITERALS = (b"]<stderr>:", b"]<stdout>:")


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

# ESC [ … letter (CSI), ESC ] … BEL (OSC: titles, links), ESC P/X/^/_ … ESC \ (strings), ESC and one or two characters
_ANSI = lazy(
    rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}([@-~])|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)"
    rb"|[PX^_][^\x1b\n]{0,2048}\x1b\\|[ -/]{1,2}[0-~]|[0-~])?"
)
_COLOR = lazy(rb"\x1b\[[0-9;]{0,64}[mK]")
# The same as syslog (`#033[31m`), a repr or JSON (`\x1b[31m`, `\u001b[31m`, `\033[31m`) or `cat -v` (`^[[0m`) write it.
_WRITTEN_ANSI = lazy(rb"(?:#033|\\(?:x1[bB]|u001[bB]|033|e)|\^\[)\[[0-9;?]{0,32}([A-Za-z])")
_WRITTEN_MARK = (b"#033[", b"^[[")
_WRITTEN_BACKSLASH = lazy(rb"\\(?:x1[bB]|u001[bB]|033|e)\[")
# A collector that drops control characters leaves `[36m(Trainer pid=28717)[0m text`; only a color with its reset goes,
# vLLM's `[0;0m` too, and one before the name of a Ray process, whose reset a copied message left behind.
_BARE_RESET = lazy(rb"\[(?:(?:0(?:;0)?|39)m|(?:1;36|3[1-6])m\((?:raylet|autoscaler|\w{1,80} pid=\d))")
_BARE_COLOR = lazy(rb"\[[0-9]{1,3}(?:;[0-9]{1,3}){0,4}m")
# Cursor movements start another text on the screen, as a carriage return does; colors and erasures print nothing.
_MOVES = frozenset([b"A", b"B", b"E", b"F", b"G", b"H", b"f"])


def strip_ansi(data: bytes) -> bytes:
    """Yield `data` without terminal sequences, real ones and written ones; a cursor movement becomes `\\r`."""
    if b"\x1b" in data:
        data = _COLOR.sub(b"", data)  # nearly all of them; without a call per match it is twice as fast
        data = _ANSI.sub(_moved, data)
    has_written = b"\\" in data and _WRITTEN_BACKSLASH.search(data) is not None
    if has_written or any(mark in data for mark in _WRITTEN_MARK):
        data = _WRITTEN_ANSI.sub(_moved, data)
    return change_lines(_BARE_RESET, data, _strip_bare)


def _strip_bare(line: bytes) -> bytes:
    is_pair = any(_BARE_RESET.fullmatch(color) is None for color in _BARE_COLOR.findall(line))
    return _BARE_COLOR.sub(b"", line) if is_pair else line


def _moved(found: re.Match[bytes]) -> bytes:
    return b"\r" if found[1] in _MOVES else b""


# --- strings ----------------------------------------------------------------------------------------------------

_ENTITY = lazy(rb"&(?:quot|#34|#39|#x27|apos|lt|gt|amp);")
_QUOTED_TRACEBACK = lazy(rb"(?:Original )?Traceback \(most recent call last\):\\[^\n]*")
# Between the elements of a list of lines, as `traceback.format_exception` gives it: `…:\n', '  File …`
_BETWEEN = lazy(rb"\\{1,2}n(?:\\?['\"], ?\\?['\"])?")
_CLOSING = lazy(rb"(?:\\{1,2}n)?\\?['\"][\]})]{0,4},?\s*$")
_ESCAPE = lazy(rb"\\{1,3}(['\"\\])")
# One field of a record that an exporter wrote over many lines; `message` only where CloudWatch's next field follows.
_EXPORTED = lazy(
    rb'(?m)^[ \t]{2,24}(?:"textPayload": ("(?:[^"\\\n]|\\.){0,65536}"),?|'
    rb'"message": ("(?:[^"\\\n]|\\.){0,65536}"),(?=\r?\n[ \t]{2,24}"ingestionTime": ))(?=\r?$)'
)


def unescape(data: bytes) -> bytes:
    """Yield `data` as it was printed before it was escaped or folded into one line."""
    if b"&" in data:
        from html import unescape as plain  # its table costs every start, and few inputs need it

        data = _ENTITY.sub(lambda found: plain(found[0].decode()).encode(), data)
    if b'"textPayload": "' in data or b'"message": "' in data:
        data = _EXPORTED.sub(lambda found: string_of(found[1] or found[2], found[0]), data)
    if b"call last):\\" in data:
        data = _QUOTED_TRACEBACK.sub(_printed, data)
    if TABLE_LITERAL in data:
        data = change_lines(_ENTRY, data, _unfold_table)
    return _TRACEBACK.sub(_unfold, data) if b"call last): " in data else data


def string_of(text: bytes, broken: bytes = b"") -> bytes:
    """Yield the lines of a JSON string, parted by `\\r`; `broken` where it is none."""
    try:
        said = str(json.loads(text))
    except ValueError:
        return broken
    return said.rstrip("\r\n").replace("\r\n", "\n").replace("\n", "\r").encode("utf-8", "replace")


def _printed(found: re.Match[bytes]) -> bytes:
    """The lines of a traceback that a string holds; what stands before it on its line stays a line of its own."""
    text = _CLOSING.sub(b"", found[0])
    return _begin(found) + _ESCAPE.sub(rb"\1", _BETWEEN.sub(b"\r", text))


def _begin(found: re.Match[bytes]) -> bytes:
    is_begun = not found.start() or found.string[found.start() - 1 : found.start()] in (b"\n", b"\r")
    return b"" if is_begun else b"\r"


# --- an editor of Markdown ----------------------------------------------------------------------------------------

_MD_ESCAPE = lazy(rb"\\([\\`*_{}\[\]()#+.!<>~|-])")
# A log prints no backslash before the bracket that begins a line; a pattern or a path in it may well hold one elsewhere.
_BRACKETED = lazy(rb"(?m)^[ \t>]{0,16}(?:\d{1,6}\\?[.)] {1,4}|[-*] {1,4})?\\\[[\w .,:/-]{1,60}\\\]")
_ESCAPED_NAME, _NAME = lazy(rb"\w\\_\w"), lazy(rb"[A-Za-z0-9]_[A-Za-z0-9]")
JSON_LINE = lazy(rb"[ \t]{0,24}\[?[{\"]")


def without_escapes(data: bytes) -> bytes:
    """Yield the text as it was printed, where a bracket that begins a line, or all names with underscores, are escaped."""
    is_name = b"\\_" in data and _ESCAPED_NAME.search(data) is not None and _NAME.search(data) is None
    is_bracketed = b"\\[" in data and b"\\]" in data and _BRACKETED.search(data) is not None
    if not is_name and not is_bracketed:
        return data
    return change_lines(_MD_ESCAPE, data, lambda line: line if JSON_LINE.match(line) else _MD_ESCAPE.sub(rb"\1", line))


# --- line ends that became blanks -------------------------------------------------------------------------------

_TRACEBACK = lazy(rb'(?:Original )?Traceback \(most recent call last\): {1,3}File "[^\n\r]*')
_HEADER = lazy(rb' {0,4}((?:Original )?Traceback \(most recent call last\):)(?= {1,3}File ")')
_FRAME = lazy(rb' {1,4}(File "[^"\r]{1,1000}", line \d{1,9}, in [^\s,]{1,200})(?: {1,6}|$)')
_CHAIN = lazy(
    rb" {1,4}(During handling of the above exception, another exception occurred:|"
    rb"The above exception was the direct cause of the following exception:) {0,4}"
)
# Behind the code of the last frame: `raise value.as_instanceof_cause() ray.exceptions.RayTaskError(OSError): ray::f()`
_RAISED = lazy(
    rb" (?=(?:[A-Za-z_]\w{0,80}\.){0,10}[A-Za-z_]\w{0,80}(?:Error|Exception|Exit|Interrupt|Timeout|Failure|Warning|Failed)"
    rb"(?:\([\w.]{1,80}\))?(?:: |:?$))"
)
_CODE_BYTES = 4096  # how much of a last frame's line may be source; an exception's name is not looked for beyond
# torchrun's table of failures: where its parts begin, and the fields of an entry
_ENTRY = lazy(rb"\[\d{1,5}\]: {1,3}time {0,6}: [^\n]{0,400}? exitcode : ")
_PART = lazy(
    rb" {0,4}((?:={20,}|-{20,}) ?|Failures:|Root Cause \(first observed failure\):|\[\d{1,5}\]:(?= {1,3}time)) {0,4}"
)
_FIELD = lazy(rb"[ \r]{1,4}(time|host|rank|exitcode|error_file|traceback) {0,6}: {0,2}")


def _unfold(found: re.Match[bytes]) -> bytes:
    """The lines of a traceback; what stands before it on its line stays a line of its own."""
    text = _HEADER.sub(rb"\r\1", _CHAIN.sub(rb"\r\r\1\r", found[0]))
    lines = _FRAME.sub(rb"\r  \1\r    ", text).lstrip(b"\r").split(b"\r")
    for place, line in enumerate(lines):
        is_last = not lines[place + 1 : place + 2] or not lines[place + 1].startswith(b"  File ")
        if line.startswith(b"    ") and is_last:
            lines[place] = _RAISED.sub(b"\r", line[:_CODE_BYTES], count=1) + line[_CODE_BYTES:]
    return _begin(found) + b"\r".join(lines)


def _unfold_table(line: bytes) -> bytes:
    parted = _PART.sub(rb"\r\1\r", line).lstrip(b"\r")
    return _FIELD.sub(lambda found: b"\r  %-10b: " % found[1], parted).replace(b"\r\r", b"\r")


# --- mpirun -----------------------------------------------------------------------------------------------------

_TAGS = lazy(rb"\[\d{1,10},\d{1,6}\]<std(?:err|out)>:")
_TWICE = lazy(rb"\]<std(?:err|out)>:[^\n]*\]<std(?:err|out)>:")  # begins with plain text, which is looked for quickly


def is_tagged_within(data: bytes) -> bool:
    """Tell whether a line may hold two tags; of a log in which each line has one, this costs as much as the scan."""
    return _TWICE.search(data) is not None


def untag(data: bytes) -> bytes:
    """Yield `data` with the first tag of each process in a line, and that of another at a text of its own."""
    return change_lines(_TWICE, data, _once)


def _once(line: bytes) -> bytes:
    if not _TAGS.match(line):
        return line
    spoken, out, position = b"", [], 0
    for tag in _TAGS.finditer(line):
        out.append(line[position : tag.start()])
        if tag[0] != spoken:
            out.append(b"\r" + tag[0] if spoken else tag[0])
        spoken, position = tag[0], tag.end()
    return b"".join([*out, line[position:]])
