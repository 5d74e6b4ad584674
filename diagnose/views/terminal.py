"""A `Report` in, terminal text out (rich): `report.txt.j2` says what stands there, this module sets it.

The template marks its text with control characters, of which no text of a view holds any: a tab parts the columns of a
grid, `\\x01look\\x02text\\x03` gives text a look, `\\x05` begins a line that is not wrapped (a place or a command, to be
copied), `\\x06` begins a text that is cut at the end of its column. Without colour the page holds no escape at all.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from itertools import groupby
from typing import Any, Literal

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.containers import Lines
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ..lines.lazy_pattern import lazy
from ..report.phrases import words
from ..report.report import Report
from .evidence import EvidenceView, LineView, pieces
from .folding import limits_of
from .rendering import fill
from .report_view import build_view

LEAST_WIDTH = 40
HIT_ROWS = 3  # rows that one line of a proof may take
GUTTER = 14  # cells before a line of a proof
TIGHT = 6  # columns of a grid that leave no room for wide gaps in less than `WIDE`
WIDE = 100
WHOLE, CUT = "\x05", "\x06"
_STYLED = lazy("\x01([^\x01\x02]{0,40})\x02([^\x01\x03]*)\x03")


def render_terminal(report: Report, *, width: int = 80, color: bool = False, full: bool = False, redacted: str = "") -> str:
    """Yield the report as it is shown in a terminal of this many columns."""
    width = max(width, LEAST_WIDTH)
    limits = limits_of("terminal", full=full)
    view = build_view(report, limits if full else {**limits, "line": HIT_ROWS * (width - GUTTER)}, redacted)
    page = fill("report.txt.j2", FILTERS, view=view, say=words(report.language), blank=WHOLE, width=width, full=full)
    return _set(page, width, color)


def style(text: str, look: str = "") -> str:
    """Yield the text with a look; what in it has one already keeps it."""
    return f"\x01{look}\x02{text}\x03" if text and look and "\x01" not in text else text


def marked(line: LineView) -> str:
    """Yield a line of a proof, its captured parts marked."""
    plain = "" if line.is_hit else "dim"
    return "".join(style(text, "bold yellow" if is_captured else plain) for text, is_captured in pieces(line))


def whole(text: str) -> str:
    """Yield a line that is not wrapped."""
    return WHOLE + text


def cut(text: str, is_cut: bool = True) -> str:
    """Yield a text that is cut where its column ends."""
    return (CUT if is_cut else "") + text


def pad(text: str, width: int) -> str:
    """Yield the text with blanks up to so many cells."""
    return text + " " * (width - cell_len(text))


def fit(e: EvidenceView, width: int, most: int) -> EvidenceView:
    """Yield the proof with so much context that it takes so many rows; what the log says itself is never left out."""
    room = width - GUTTER
    lines, gap_after = list(e.lines), e.gap_after
    rows = sum(-(-max(cell_len(x.text), 1) // room) if x.is_hit else 1 for x in lines) + (gap_after >= 0)
    for end in (0, -1):
        while rows > most and not lines[end].is_hit:
            lines.pop(end)
            rows, gap_after = rows - 1, gap_after - (end == 0)
    return replace(e, lines=tuple(lines), gap_after=gap_after)


FILTERS = {f.__name__: f for f in (style, marked, whole, cut, pad, fit)} | {"cells": cell_len}


def _set(page: str, width: int, color: bool) -> str:
    # The size and colours are the caller's to say: nothing of the environment is read.
    system: Literal["standard"] | None = "standard" if color else None
    plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False, "legacy_windows": False}
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=color, color_system=system, no_color=not color, _environ={}, **plain
    )
    written = filter(None, (line.rstrip(" ") for line in page.split("\n")))
    for columns, lines in groupby(written, key=lambda line: line.count("\t")):
        if columns:
            console.print(_grid([line.split("\t") for line in lines], console.width))
            continue
        for line in lines:
            is_whole, text = line.startswith(WHOLE), line.lstrip(" ")
            indented = Padding(_text(text), (0, 0, 0, len(line) - len(text)), expand=False)
            console.print(_text(line) if is_whole else indented, soft_wrap=is_whole)
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n")).strip("\n") + "\n"


def _grid(rows: list[list[str]], width: int) -> Padding:
    """Rows in columns; a column of which no cell has a blank stays whole, and so does the first one of two."""
    indent = len(rows[0][0]) - len(rows[0][0].lstrip(" "))
    texts = [[_text(cell) for cell in (row[0][indent:], *row[1:])] for row in rows]
    columns = [[text for text in column if text.plain] for column in zip(*texts, strict=True)]
    is_whole = [all(" " not in text.plain.strip() for text in column) for column in columns]
    is_whole[0] |= len(columns) == 2
    gap = 1 if max(map(len, columns[0]), default=0) == 1 or (len(columns) >= TIGHT and width < WIDE) else 2
    table = Table(*(Column(overflow="fold", no_wrap=x) for x in is_whole), box=None, show_header=False,
                  padding=(0, gap, 0, 0), pad_edge=False)  # fmt: skip
    for cells in texts:
        table.add_row(*cells)
    return Padding(table, (0, 0, 0, indent), expand=False)


def _text(marked: str) -> Text:
    """The text with its looks; words too long for the line are broken."""
    text = WrappedText(overflow="fold")
    done, plain = 0, marked.lstrip(WHOLE + CUT)
    for match in _STYLED.finditer(plain):
        text.append(plain[done : match.start()]).append(match[2], match[1])
        done = match.end()
    text.append(plain[done:])
    if marked.startswith(CUT):
        text.no_wrap, text.overflow = True, "ellipsis"
    return text


_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_CHINESE = lazy(f"[{_WIDE}]")
# One unit: a Chinese character or a run of others, with the marks that open before it and close behind it.
_UNIT = lazy(f"[（“《【]{{0,4}}(?:[{_WIDE}]|[^\\s{_WIDE}]+)[，。；：、）”》】！？…]{{0,4}}\\s*|\\s+")
_RANKS = lazy(r"\d[\d,-]{11,}")  # `[2-4,11-14,17-20,23,…]`
_ITEM = lazy(r"[^\s,]+,?\s*|,\s*|\s+")


class WrappedText(Text):
    """A `Text` whose Chinese is wrapped as Chinese; without any it is wrapped as ever."""

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """Yield the lines of at most `width` cells."""
        is_chinese = not self.plain.isascii() and _CHINESE.search(self.plain) is not None
        is_list = not is_chinese and any(len(word) > width and _RANKS.search(word) for word in self.plain.split())
        if self.no_wrap or options.get("no_wrap") or not (is_chinese or is_list):
            return super().wrap(console, width, **options)
        lines = Lines()
        for line in self.split(allow_blank=True):
            lines.extend(line.divide(break_offsets(line.plain, width, _ITEM if is_list else _UNIT)))
        for line in lines:
            line.rstrip()
        return lines


def break_offsets(text: str, width: int, units: re.Pattern[str] = _UNIT) -> list[int]:
    """Yield where to break `text`, between two of its units, so that no line has more than `width` cells."""
    offsets: list[int] = []
    used = 0
    for match in units.finditer(text):
        unit, start = match[0], match.start()
        cells = cell_len(unit.rstrip())
        if used and used + cells > width:
            offsets.append(start)
            used = 0
        if cells <= width:
            used += cell_len(unit)
            continue
        pieces = chop_cells(unit, max(width, 1))
        for piece in pieces[:-1]:
            start += len(piece)
            offsets.append(start)
        used = cell_len(pieces[-1])
    return offsets
