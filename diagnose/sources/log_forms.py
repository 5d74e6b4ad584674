"""In which form a text holds log lines, and who reads them out of it.

In: a text's first bytes and its name. Out: its `Kind`, where that says more than its name, the label before its lines,
the header of its program's own, and a reader that gives the lines as they were printed: as many, so that line numbers
stay those of the file.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, pairwise

from ..lines.lazy_pattern import lazy
from ..lines.path_identity import identity_from_path
from ..lines.record import record
from .exports import PAGE, NotebookMask, PageMask, Reader, TableReader, delimiter_of
from .kinds import LINES, Kind, suffix_of
from .labels import SAMPLE_BYTES, Rewriting, label_of, may_be_labelled
from .own_headers import SAMPLE_BYTES as HEADER_BYTES
from .own_headers import header_of, may_have_header
from .quotes import Unquoting, has_fences, has_quotes, is_log_of_its_own, is_quoted, may_quote
from .streams import Joined, Stream

LOOK_BYTES = 2 << 10  # of each end, before more is asked for a header
PASTE_BYTES = 256 << 10  # a pasted issue is shorter; a longer text is a log and is taken whole
# where a line means what those before it say
WHOLE: frozenset[Kind] = frozenset(["markdown", "notebook", "table", "loki", "page"])


@record
class Form:
    """How log lines stand in a text; with `skipped`, why none do."""

    kind: Kind
    label: Rewriting | None = None
    skipped: str | None = None
    header: Rewriting | None = None


def form_of(kind: Kind, head: bytes, stream: Joined, name: str, tail: bytes = b"") -> Form:
    """Yield the form of a text that begins with `head`, of which `stream` gives more, and whose last lines are `tail`. The
    program's own header comes first: a number that each line begins with is a collector's, or says who speaks."""
    is_told = kind not in LINES or identity_from_path(name).rank is not None
    if is_told or not (may_have_header(head[:LOOK_BYTES]) or may_have_header(tail[-LOOK_BYTES:])):
        return _plain_form(kind, head, stream, name)
    sample = stream.peek(HEADER_BYTES)
    if tail:
        sample = sample[: sample.rfind(b"\n") + 1] + tail
    if kind == "text" and (header := header_of(sample)) is not None and not may_quote(head):
        return Form(kind, header=header)
    form = _plain_form(kind, head, stream, name)
    if form.skipped is not None:
        return form
    if (reader := reader_of(form.kind, form.label)) is not None:
        sample = reader.feed(sample) + reader.finish()
    return replace(form, header=header_of(sample))


def tail_of(raw: io.RawIOBase, size: int) -> bytes:
    """Yield a file's last lines, of one that is longer than what is read of its beginning."""
    if size <= HEADER_BYTES:
        return b""
    place = raw.tell()
    raw.seek(size - HEADER_BYTES)
    data = raw.read(HEADER_BYTES) or b""
    raw.seek(place)
    return data[data.find(b"\n") + 1 :]


def _plain_form(kind: Kind, head: bytes, stream: Joined, name: str) -> Form:
    if kind == "text" and may_be_labelled(head):
        sample = stream.peek(SAMPLE_BYTES)
        if (label := label_of(sample, is_whole=len(sample) < SAMPLE_BYTES)) is not None:
            return Form(kind, label)
    if kind == "markdown" or (kind == "text" and may_quote(head)):
        head = stream.peek(PASTE_BYTES + 1)
        if kind == "markdown" and not has_fences(head) and not has_quotes(head):
            if is_log_of_its_own(head):
                return _plain_form("text", head, stream, name)
            return Form("prose", skipped=f"documentation ({suffix_of(name)}): no log is quoted in it")
        if kind == "text" and len(head) <= PASTE_BYTES and is_quoted(head, is_pasted=name.startswith("<")):
            return Form("markdown")
    if kind != "text":
        return Form(kind)
    return Form("page" if PAGE.match(head) else "table" if delimiter_of(head) is not None else "text")


_READERS: dict[Kind, Callable[[], Reader]] = {
    "markdown": Unquoting, "notebook": NotebookMask, "table": TableReader, "page": PageMask,
}  # fmt: skip


def reader_of(kind: Kind, label: Rewriting | None) -> Reader | None:
    """Yield who reads the lines out of a text of this form; None where they stand as they were printed."""
    return _READERS[kind]() if kind in _READERS else label


# --- several files in one text ------------------------------------------------------------------------------------
# as `tail`, `head`, `more` or a loop shows them, or by `grep -r`:
#
#     ==> logs/rank0.log <==        ::::::::::::::        ===== rank0.log =====        logs/rank0.log:12:step 3 loss 2.1
#                                   rank0.log                                          logs/rank0.log-13-step 4 loss 2.0
#                                   ::::::::::::::

MAX_SHOWN_BYTES = 32 << 20  # looked through: five thousand lines of each of 64 ranks
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
    """Yield the files that such a text shows, in the order of their first lines; every head is of the first one's style.
    What `tail -f` shows of one file in turns with others is joined. What stands above the first head goes with the first
    file; what lies behind the bytes that are looked through, with the one that was open there."""
    text = Joined(stream, is_owned=False).peek(MAX_SHOWN_BYTES)
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
        yield each, Joined(stream, body, is_owned=False) if each == name else io.BytesIO(body)
