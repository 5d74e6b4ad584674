"""Open MPI's `--tag-output` as lines with one tag each.

A tag stands before each piece that a process writes, and Python writes a line of a traceback in several:

    [1,1]<stderr>:ValueError[1,1]<stderr>:: [1,1]<stderr>:no shard     ->  [1,1]<stderr>:ValueError: no shard
    [1,0]<stdout>:step 4[1,2]<stdout>:step 4            ->  two texts, parted by a carriage return
"""

from __future__ import annotations

import re

from ..lazy_pattern import lazy

TAG_LITERALS = (b"]<stderr>:", b"]<stdout>:")
_TAG = rb"\[\d{1,10},\d{1,6}\]<std(?:err|out)>:"
_TAGS = lazy(_TAG)
_TAGGED_AGAIN = lazy(rb"(?m)^" + _TAG + rb"[^\n]*?" + _TAG + rb"[^\n]*")


def is_tagged_within(data: bytes) -> bool:
    """Tells whether a line that begins with a tag holds another."""
    return b"]<std" in data and _TAGGED_AGAIN.search(data) is not None


def untag(data: bytes) -> bytes:
    """Leaves the first tag of each process in a line, and begins a text of its own with that of another."""
    return _TAGGED_AGAIN.sub(_once, data) if b"]<std" in data else data


def _once(line: re.Match[bytes]) -> bytes:
    spoken, out, position = b"", [], 0
    for tag in _TAGS.finditer(line[0]):
        out.append(line[0][position : tag.start()])
        if tag[0] != spoken:
            out.append(b"\r" + tag[0] if spoken else tag[0])
        spoken, position = tag[0], tag.end()
    return b"".join([*out, line[0][position:]])
