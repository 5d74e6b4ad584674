"""Open MPI's `--tag-output` as lines with one tag each.

A tag stands before each piece that a process writes, and Python writes a line of a traceback in several:

    [1,1]<stderr>:ValueError[1,1]<stderr>:: [1,1]<stderr>:no shard     ->  [1,1]<stderr>:ValueError: no shard
    [1,0]<stdout>:step 4[1,2]<stdout>:step 4            ->  two texts, parted by a carriage return
"""

from __future__ import annotations

from ..lines.lazy_pattern import lazy
from .line_changes import change_lines

TAG_LITERALS = (b"]<stderr>:", b"]<stdout>:")
_TAG = rb"\[\d{1,10},\d{1,6}\]<std(?:err|out)>:"
_TAGS = lazy(_TAG)
_TWICE = lazy(rb"\]<std(?:err|out)>:[^\n]*\]<std(?:err|out)>:")  # begins with plain text, which is looked for quickly


def is_tagged_within(data: bytes) -> bool:
    """Tells whether a line may hold two tags; of a log in which each line has one, this costs as much as the scan."""
    return _TWICE.search(data) is not None


def untag(data: bytes) -> bytes:
    """Leaves the first tag of each process in a line, and begins a text of its own with that of another."""
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
