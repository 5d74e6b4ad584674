"""Logs quoted in another text, in Markdown, mail, chat or a web page: only what is quoted was printed by a run.

In: the lines of a pasted issue, a mail, an .md file, a page. Out: as many lines, those outside fences and quotes blank. A
paste that stands behind a margin as a whole, `> ` of a reply, the four blanks of a code block or the edges of the box in
which k9s shows a log, comes out without it. Where headings name the ranks of several fences (`### Rank 0 log`), each line
of a fence gets its rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from os.path import commonprefix
from pathlib import Path

from ..lines.cache import patterns, tables
from ..lines.lazy_pattern import lazy
from ..lines.prefix import split_prefix
from .escapes import without_escapes
from .exports import LineMask, Reader

*_ROWS, _WORDS = patterns(__file__, "quotes")
_FENCE, _NUDGED, _HEADING, _LISTED, _PROSE_LINE, _QUOTE = (lazy(row.encode()) for row in _ROWS)
_WORD = lazy(_WORDS)
_FORMS = tables(Path(__file__).with_name("pastes.yaml"))
_LOG_LINE, _CODE, _PRINTED = (lazy("|".join(_FORMS[name]).encode()) for name in ("log_lines", "code", "printed"))
MAX_MARGINS = 4  # of replies to replies
_EDGE, _ARROW = "\u2502".encode(), "\u2771".encode()  # of a box in which k9s shows a log; within a Rich box
INDENT = 4  # columns that make a code block in Markdown
FEW = 3  # lines of a message that was copied alone, often with the blank before it
MAX_LOGGED = 0.34  # of an issue's lines outside fences
OWN_SHARE = 0.5  # of the lines of an unfenced page, before it is a log
MIN_QUOTED = 2  # lines in one quote that look logged

_HEADING_WORDS = frozenset(_FORMS["heading_words"])
_OTHER_RANKS = frozenset(("node", "local", "machine", "lora"))  # behind which the number is not of the job
MAX_HEADING, MAX_WORDS = 120, 10  # characters, words
MAX_RANK = 1 << 16

# --- which texts quote a log ------------------------------------------------------------------------------------


def may_quote(head: bytes) -> bool:
    """Tell from its first bytes whether a text may be a quoted log: a margin, fences, or lines behind `>`."""
    return b"\n>" in head or bool(margin_of(head)) or has_fences(head)


def is_quoted(text: bytes, *, is_pasted: bool) -> bool:
    """Tell a log behind a margin, a pasted or saved issue, and a mail or chat that quotes a log behind `>`, from a log."""
    if margin_of(text) or is_issue(text, is_pasted=is_pasted):
        return True
    lines = text.split(b"\n")
    outside = [line for line, kept in zip(lines, _quoted(lines), strict=True) if not kept and line.strip(b" >\r")]
    return has_quotes(text) and not any(map(_is_logged, outside)) and any(map(_PROSE_LINE.match, outside))


def has_fences(text: bytes) -> bool:
    """Tell whether at least one line opens a fence."""
    return any(_FENCE.match(line.rstrip(b"\r")) for line in text.split(b"\n") if b"```" in line or b"~~~" in line)


def has_quotes(text: bytes) -> bool:
    """Tell whether a log stands behind `>`."""
    return b">" in text and any(_quoted(text.split(b"\n")))


def is_issue(text: bytes, *, is_pasted: bool) -> bool:
    """Tell a pasted issue, or one that was saved as text, from a log that merely prints fences (a model's samples do). It
    has fences, all closed; outside them there is prose and not one line that looks logged, and what was saved has one
    inside. Its own words may hold a message that begins a line; then it has headings, and prose makes most of it."""
    outside, inside, is_closed = _parted(text)
    printed, logged = sum(map(_is_logged, inside)), sum(map(_is_logged, outside))
    is_prose = any(map(_PROSE_LINE.match, outside)) or (is_pasted and not outside)
    if not is_closed or not is_prose or not logged:
        return is_closed and is_prose and (is_pasted or printed > 0)
    return any(map(_HEADING.match, outside)) and logged < printed and logged <= MAX_LOGGED * len(outside)


def is_log_of_its_own(text: bytes) -> bool:
    """Tell a log that was saved as Markdown, without a fence, from a page that speaks of messages."""
    lines = [_LISTED.sub(b"", line) for line in without_escapes(text).split(b"\n") if line.strip()]
    return len(lines) > 1 and sum(map(_is_logged, lines)) >= OWN_SHARE * len(lines)


def _is_logged(line: bytes) -> bool:
    return _LOG_LINE.match(line) is not None


def _parted(text: bytes) -> tuple[list[bytes], list[bytes], bool]:
    """Yield the lines outside fences and inside, and whether there are any and all are closed."""
    if not has_fences(text):
        return [], [], False
    mask = FenceMask()
    kept = mask.feed(text).split(b"\n")
    outside = [line.strip() for line, inside in zip(text.split(b"\n"), kept, strict=True) if not inside]
    outside = [line for line in outside if line and not line.startswith((b"```", b"~~~"))]
    return outside, [line for line in kept if line], not mask.open


# --- what stands inside -----------------------------------------------------------------------------------------


class FenceMask(LineMask):
    """Blanks the lines outside fences, and the fences themselves."""

    def __init__(self) -> None:
        self.open = b""  # what closes the open fence; empty outside
        self._margin = b""  # what stands before it: the lines inside stand as deep, in a list or a reply
        self._is_page = False  # the open fence is a directive of a documentation page, which shows what could be printed
        self._heading = b""  # the last line above it
        self._inside: list[int] = []  # places of the lines inside
        self._of_ranks: dict[int, list[int]] = {}  # those of closed fences, by the rank that their heading names
        self._place = 0

    def feed(self, data: bytes, /) -> bytes:
        """Yield `data` with as many lines."""
        self._place, self._inside, self._of_ranks = -1, [], {}
        return super().feed(data)

    def with_ranks(self, kept: bytes) -> bytes:
        """Yield what `feed` kept with the ranks of the fences' headings, where these name several. `Rank 1 fails` above the
        console of all of them tells of one; a log that says itself who speaks knows better."""
        lines = kept.split(b"\n")
        for rank, places in self._of_ranks.items() if len(self._of_ranks) > 1 else ():
            told = (split_prefix(lines[place][:400].decode("utf-8", "replace")) for place in places)
            if all((x.rank, x.local_rank, x.task, x.actor) == (None,) * 4 for x in told):
                for place in filter(lines.__getitem__, places):
                    lines[place] = b"[rank%d]: %s" % (rank, lines[place])
        return b"\n".join(lines)

    def _keep(self, line: bytes) -> bytes:
        self._place += 1
        found = _FENCE.match(line.rstrip(b"\r")) if b"```" in line or b"~~~" in line else None
        fence, info = (found[1], found[2].strip()) if found else (b"", b"")
        if not self.open:
            if found:
                self.open, self._is_page = fence, info.startswith(b"{")  # ```{code-block}, ```{pip-cli}: MyST, R Markdown
                self._margin = line[: found.start(1)]
            elif line.strip():
                self._heading = line
            return b""
        if fence.startswith(self.open) and not info:
            rank = _rank_of(self._heading.decode("utf-8", "replace"))
            self._of_ranks |= {rank: self._inside} if rank is not None else {}
            self.open, self._heading, self._inside = b"", b"", []
            return b""
        self._inside.append(self._place)
        before = len(commonprefix([line, self._margin]))  # noqa: RUF071 - of the fence too, so it is none of the text
        return b"" if self._is_page else line[before:]  # "```python" inside a fence is text


class Unquoting(Reader):
    """Takes the margin off a paste that has one, and blanks what stands outside its fences and quotes."""

    def __init__(self) -> None:
        self._margins: list[bytes] | None = None  # as the first block has them
        self._mask: FenceMask | None = FenceMask()

    def feed(self, data: bytes, /) -> bytes:
        """Yield `data` with as many lines."""
        if self._margins is None:
            self._margins, text = [], data
            while len(self._margins) < MAX_MARGINS and (margin := margin_of(text)):  # of replies, from outside in
                self._margins.append(margin)
                text = _without(text, [margin])
            if self._margins and not is_issue(_without(data, self._margins), is_pasted=True):
                self._mask = None
        data = _without(data, self._margins)
        if self._mask is None:
            return data
        kept = self._mask.with_ranks(self._mask.feed(data))
        if b">" not in data:
            return kept
        both = zip(kept.split(b"\n"), _quoted(data.split(b"\n")), strict=True)
        return b"\n".join([fenced or quoted for fenced, quoted in both])


def _quoted(lines: list[bytes]) -> Iterator[bytes]:
    """Yield each line as it stands behind its `>`, where it and its neighbors of that depth quote a log; else nothing."""
    marks = ((line, _QUOTE.match(line)) for line in lines)
    parted = [(found[1].count(b">"), line[found.end() :]) if found else (0, b"") for line, found in marks]
    for depth, group in groupby(parted, key=lambda part: part[0]):
        inside = [text for _, text in group]
        is_log = depth > 0 and sum(map(_is_logged, inside)) >= MIN_QUOTED and not any(map(_FENCE.match, inside))
        yield from inside if is_log else [b""] * len(inside)


def margin_of(text: bytes) -> bytes:
    """Yield what every line of a quoted paste begins with, `>`, a box edge or blanks; nothing where some line does not."""
    lines = [line for line in text.split(b"\n") if line.strip()]
    if len(lines) > 1 and all(line.startswith(b">") for line in lines):
        return b">"
    if len(lines) > 1 and all(line.startswith(_EDGE) or _EDGE.startswith(line) for line in lines) and _ARROW not in text:
        return _EDGE
    if lines and lines[0].startswith((b"    ", b"\t")):
        margin = min((line[: len(line) - len(line.lstrip(b" \t"))] for line in lines), key=len)
        is_common = len(margin.expandtabs(4)) >= INDENT and all(line.startswith(margin) for line in lines)
        inside = [line.strip() for line in lines]
        if is_common and (any(map(_PRINTED.match, inside)) or not any(map(_CODE.match, inside))):
            return margin
    elif 0 < len(lines) <= FEW and all(_NUDGED.match(line) for line in lines):
        return min((line[: len(line) - len(line.lstrip(b" "))] for line in lines), key=len)
    return b""


def _without(data: bytes, margins: list[bytes]) -> bytes:
    for margin in margins:
        lines = [line.removeprefix(margin) for line in data.split(b"\n")]
        if margin == _EDGE:
            lines = [line.rstrip().removesuffix(_EDGE).rstrip() for line in lines]
        data = b"\n".join([line.removeprefix(b" ") for line in lines] if margin in (b">", _EDGE) else lines)
    return data


# --- whose log a fence holds ------------------------------------------------------------------------------------


def _rank_of(heading: str) -> int | None:
    words = [word.lower() for word in _WORD.findall(heading[: MAX_HEADING + 1])]
    is_label = len(heading) <= MAX_HEADING and len(words) <= MAX_WORDS and words.count("rank") == 1
    if not is_label or not all(word in _HEADING_WORDS or word.isdecimal() for word in words):
        return None
    place = words.index("rank")
    before, number = words[place - 1] if place else "", "".join(words[place + 1 : place + 2])
    return int(number) if number.isdecimal() and int(number) < MAX_RANK and before not in _OTHER_RANKS else None
