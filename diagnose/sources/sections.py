"""Several files shown in one text: one after the other as `tail`, `head`, `more` or a loop does, or by `grep -r`.

In: a text that begins so. Out: each file's name and bytes, in the order of their first lines; what `tail -f` shows of one
file in turns with others is joined. What stands above the first head goes with the first file; what lies behind the bytes
that are looked through, with the one that was open there.

    ==> logs/rank0.log <==        ::::::::::::::        ===== rank0.log =====        logs/rank0.log:12:step 3 loss 2.1
                                  rank0.log                                          logs/rank0.log-13-step 4 loss 2.0
                                  ::::::::::::::
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain, pairwise

from ..lines.lazy_pattern import lazy
from .streams import Joined, Stream, peek

MAX_BYTES = 32 << 20  # looked through: five thousand lines of each of 64 ranks
_SUFFIX = rb"\.(?:log|txt|out|err|stdout|stderr)(?:\.\d{1,3})?"
_LOG_NAME = rb"[^\n<>|]{1,400}" + _SUFFIX  # else a program's own banner would read as a head
_DRAWN = rb"@{2,40}(?!@) ?(" + _LOG_NAME + rb")(?: ?[@<]{2,40})?\r?\n"
# coreutils' `write_header` in head.c and tail.c; the 14 colons of util-linux' more.c
_STYLES: tuple[bytes, ...] = (
    rb"==> ([^\s<>|]{1,400}|standard input|" + _LOG_NAME + rb") <==\r?\n",
    rb":{14}\r?\n([^\s<>|:][^\n<>|]{0,400}?)\r?\n:{14}\r?\n",
    *(_DRAWN.replace(b"@", re.escape(sign)) for sign in b"= - # * > + ~".split()),
)
_ANY = b"|".join(b"(?P<style%d>%b)" % style for style in enumerate(_STYLES))
_FIRST = lazy(rb"(?:[^\n]{0,400}\n){0,2}?(?:" + _ANY + b")")
# of a match, of a line around one with -A, -B or -C, and what `grep` draws between two groups of these
_NAMED = rb"(?m)^(?:([^\s:<>|]{1,400}?" + _SUFFIX + rb")(?::(?:\d{1,9}:)?|-\d{1,9}-)|--$)"
_ALL_NAMED = lazy(rb"(?:" + _NAMED.removeprefix(b"(?m)^") + rb"[^\n]{0,4000}(?:\n|\Z)){3}")


def has_sections(head: bytes) -> bool:
    """Tells whether a text begins with the head of a file; a prompt with its command may stand above it."""
    return _FIRST.match(head) is not None or _ALL_NAMED.match(head) is not None


def read_sections(stream: Stream) -> Iterator[tuple[str, Stream]]:
    """Yield the files that such a text shows; every head is of the first one's style."""
    text, _ = peek(stream, MAX_BYTES)
    found = _FIRST.match(text)
    style = b"(?m)^" + _STYLES[int((found.lastgroup or "")[len("style") :])] if found else _NAMED
    bodies: dict[str, list[bytes]] = {}
    name, above = "", 0  # where the text above the first head begins
    for head, following in pairwise(chain(re.finditer(style, text), [None])):
        assert head is not None
        name = head[1].decode("utf-8", "replace") if head[1] else name
        end = following.start() if following else len(text)
        bodies.setdefault(name, []).append(text[above : head.start()] + text[head.end() : end])
        above = end
    for each, parts in bodies.items():
        body = b"".join(parts)
        yield each, Joined(body, stream, is_owned=False) if each == name else io.BytesIO(body)
