"""Text that somebody's printer escaped, as it was first printed: HTML entities, a traceback inside a quoted string or
folded into one line, JSON that an exporter laid out over many lines.

In: bytes. Out: as many lines; where a string held several, they are parted by `\\r`, on which the line reader splits.

    a web page   File &quot;train.py&quot;, line 5, in &lt;module&gt;          File "train.py", line 5, in <module>
    a repr       failed: ['Traceback (most recent call last):\\n', '  File …    failed: | Traceback (most recent call last):
    torchelastic     "py_callstack": "Traceback (most recent call last):\\n …        Traceback (most recent call last):
    Cloud export     "textPayload": "KeyError: 'x'\\n",                       KeyError: 'x'
    Vertex AI    status of 1. Traceback (most recent call last): File "a.py", line 5, in f x() KeyError: 'x'
"""

from __future__ import annotations

import json
import re

from ..lines.lazy_pattern import lazy
from .folded_tracebacks import FOLDED_LITERALS, is_folded, unfold

_ENTITY_LITERALS = (b"&quot;", b"&#34;", b"&#39;", b"&#x27;", b"&apos;", b"&lt;", b"&gt;", b"&amp;")
# A superset of what `unescape` can change, as `normalise.DRESS_LITERALS` is.
ESCAPED_LITERALS: tuple[bytes, ...] = (
    *_ENTITY_LITERALS, b"call last):\\", b'"textPayload": "', b'"message": "', *FOLDED_LITERALS,
)  # fmt: skip

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
    """Gives `data` as it was printed before it was escaped."""
    if b"&" in data:
        from html import unescape as plain  # its table costs every start, and few inputs need it

        data = _ENTITY.sub(lambda found: plain(found[0].decode()).encode(), data)
    if _is_exported(data):
        data = _EXPORTED.sub(_exported, data)
    if b"call last):\\" in data:
        data = _QUOTED_TRACEBACK.sub(_printed, data)
    return unfold(data) if is_folded(data) else data


def _is_exported(data: bytes) -> bool:
    return (b'"textPayload": "' in data or b'"message": "' in data) and _EXPORTED.search(data) is not None


def _exported(found: re.Match[bytes]) -> bytes:
    try:
        text = str(json.loads(found[1] or found[2]))
    except ValueError:
        return found[0]
    return text.rstrip("\r\n").replace("\r\n", "\n").replace("\n", "\r").encode("utf-8", "replace")


def _printed(found: re.Match[bytes]) -> bytes:
    """The lines of a traceback that a string holds; what stands before it on its line stays a line of its own."""
    text = _CLOSING.sub(b"", found[0])
    lines = _ESCAPE.sub(rb"\1", _BETWEEN.sub(b"\r", text))
    return (b"\r" if found.start() and found.string[found.start() - 1 : found.start()] != b"\n" else b"") + lines
