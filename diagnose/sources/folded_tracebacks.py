"""A traceback whose line ends somebody replaced by blanks, as its lines again.

In: bytes. Out: as many lines; those of a traceback are parted by `\\r`, on which the line reader splits.

    status of 1. Traceback (most recent call last): File "task.py", line 8, in main import pandas ImportError: No module
"""

from __future__ import annotations

import re

from ..lines.lazy_pattern import lazy

# A superset of what `unfold` can change, as `normalise.DRESS_LITERALS` is; the margin of the first frame may be left.
FOLDED_LITERALS: tuple[bytes, ...] = tuple(b"call last):" + b" " * blanks + b'File "' for blanks in (1, 2, 3))

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
_CODE, _NEXT_FRAME = b"    ", b"  File "
_CODE_BYTES = 4096  # how much of a last frame's line may be source; an exception's name is not looked for beyond


def is_folded(data: bytes) -> bool:
    """Tells whether `unfold` could change `data`."""
    return b"call last): " in data and any(literal in data for literal in FOLDED_LITERALS)


def unfold(data: bytes) -> bytes:
    """Gives `data` with the lines of each traceback that stands in one line."""
    return _TRACEBACK.sub(_lines, data)


def _lines(found: re.Match[bytes]) -> bytes:
    """The traceback's lines; what stands before it on its line stays a line of its own."""
    text = _HEADER.sub(rb"\r\1", _CHAIN.sub(rb"\r\r\1\r", found[0]))
    lines = _FRAME.sub(rb"\r  \1\r    ", text).lstrip(b"\r").split(b"\r")
    for place, line in enumerate(lines):
        is_last = not lines[place + 1 : place + 2] or not lines[place + 1].startswith(_NEXT_FRAME)
        if line.startswith(_CODE) and is_last:
            lines[place] = _RAISED.sub(b"\r", line[:_CODE_BYTES], count=1) + line[_CODE_BYTES:]
    begins = not found.start() or found.string[found.start() - 1 : found.start()] in (b"\n", b"\r")
    return (b"" if begins else b"\r") + b"\r".join(lines)
