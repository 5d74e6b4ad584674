"""Log text in, text that is safe to print out: no terminal sequence, control or direction character survives.

Colour sequences are dropped, everything else that cannot be seen is shown as `\\xNN` or `\\uNNNN`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..advice.statement import Span
from ..lines.lazy_pattern import lazy

TAB = "    "
# "\x1b[31m", "\x1b]0;title\x07", "\x1bM": what terminals obey. Bounded, so that a lone ESC costs nothing.
_SEQUENCE = lazy(r"\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,512}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
# C0 but newline, DEL, C1 (0x9b opens a sequence alone), zero-width and direction marks, separators, surrogates,
# non-characters (which XML refuses), tag characters (invisible text).
_HIDDEN = lazy(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_WORD = lazy(r"[a-z](?:[a-z'’-]{0,40})$")


def printable(text: str) -> str:
    """Yield the text with everything invisible removed or spelled out; newlines stay."""
    return _HIDDEN.sub(_spell, _SEQUENCE.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """Yield the printable text in one line, runs of white space folded."""
    return " ".join(printable(text).split())


def printable_spans(text: str, spans: Sequence[Span]) -> tuple[str, tuple[Span, ...]]:
    """Yield the printable text, and the spans moved to where their parts stand in it."""
    pieces: list[str] = []
    moved: list[Span] = []
    done = length = 0
    for span in sorted(spans, key=lambda s: (s.start, s.end)):
        if not done <= span.start < span.end <= len(text):
            continue  # overlapping or out of range: not highlighted
        between, inside = printable(text[done : span.start]), printable(text[span.start : span.end])
        moved.append(Span(length + len(between), length + len(between) + len(inside), span.field))
        pieces += [between, inside]
        length += len(between) + len(inside)
        done = span.end
    return "".join([*pieces, printable(text[done:])]), tuple(moved)


def clip(text: str, most: int) -> str:
    """Yield at most so many characters, cut at the end with an ellipsis."""
    return text if len(text) <= most else text[: max(0, most - 1)].rstrip() + "…"


def sentence(text: str) -> str:
    """Yield the text with a capital first letter; what begins with a name (`train_batch_size`), or is Chinese, as it is."""
    first = text.partition(" ")[0].rstrip(",.:;")
    if not _WORD.match(first) or any("\u4e00" <= c <= "\u9fff" for c in text):
        return text
    return text[:1].upper() + text[1:]


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 9:
        return TAB
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
