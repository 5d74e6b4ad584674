"""What a terminal page is made of, on rich: styled texts, grids and tables, wrapped where Chinese and lists may break.

Rich breaks at blanks only, so that a line of Chinese with one English word in it ends half empty: Chinese breaks between
any two characters, but not before a closing mark. A list of ranks has no blanks, and breaks behind its commas.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence

from rich.cells import cell_len, chop_cells
from rich.console import Console, JustifyMethod, OverflowMethod, RenderableType
from rich.containers import Lines
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from ..lines.lazy_pattern import lazy
from ..report.language import Say
from .view import Cut

INDENT = 2
LABEL = 8  # cells of the first column
_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_CHINESE = lazy(f"[{_WIDE}]")
# One unit: a Chinese character or a run of others, with the marks that open before it and close behind it.
_UNIT = lazy(f"[（“《【]{{0,4}}(?:[{_WIDE}]|[^\\s{_WIDE}]+)[，。；：、）”》】！？…]{{0,4}}\\s*|\\s+")
_RANKS = lazy(r"\d[\d,-]{11,}")  # `[2-4,11-14,17-20,23,…]`
_ITEM = lazy(r"[^\s,]+,?\s*|,\s*|\s+")


class WrappedText(Text):
    """A `Text` whose Chinese is wrapped as Chinese; without any it is wrapped as ever."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """Yield the lines of at most `width` cells."""
        is_chinese = not self.plain.isascii() and _CHINESE.search(self.plain) is not None
        is_list = not is_chinese and any(len(word) > width and _RANKS.search(word) for word in self.plain.split())
        if no_wrap or self.no_wrap or not (is_chinese or is_list):
            return super().wrap(console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=no_wrap)
        lines = Lines()
        for line in self.split(allow_blank=True):
            for part in line.divide(break_offsets(line.plain, width, _ITEM if is_list else _UNIT)):
                part.rstrip()
                lines.append(part)
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


def styled(*parts: tuple[str, str]) -> Text:
    """Yield one text of parts, each with its style; words too long for the line are broken."""
    return WrappedText.assemble(*parts, overflow="fold")


def table_of(*headers: str, columns: int = 0, gap: int = 2) -> Table:
    """Yield a table with these headers, or so many columns without."""
    made = [Column(header, overflow="fold", header_style="dim") for header in headers or [""] * columns]
    return Table(*made, box=None, show_header=bool(headers), padding=(0, gap, 0, 0), pad_edge=False)


class Paper:
    """A page of so many columns, filled from the top; without colour it holds no escape at all."""

    def __init__(self, say: Say, width: int, color: bool) -> None:
        self.say = say
        self.console = Console(
            file=io.StringIO(),
            width=width,
            force_terminal=color,
            color_system="standard" if color else None,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},  # the size and colours are the caller's to say
        )

    def rows(self) -> int:
        """Yield how many rows are filled."""
        assert isinstance(self.console.file, io.StringIO)
        return self.console.file.getvalue().count("\n")

    def text(self) -> str:
        """Yield what was shown."""
        assert isinstance(self.console.file, io.StringIO)
        return "\n".join(line.rstrip() for line in self.console.file.getvalue().split("\n")).strip("\n") + "\n"

    def heading(self, key: str) -> None:
        """Show the heading of a section."""
        self.console.print()
        self.print(styled((self.say(key), "bold underline")))

    def more(self, rows: Cut[object]) -> None:
        """Say how many rows are not shown."""
        if rows.more and rows.shown:
            self.print(styled((self.say("more", n=rows.more), "dim")), INDENT)

    def command(self, command: str, indent: int) -> None:
        """Not wrapped and not indented by more than blanks: what is copied has to run."""
        for line in command.split("\n") if command else ():
            self.console.print(styled((" " * indent, ""), (line, "green")), soft_wrap=True)

    def labelled(self, rows: Iterable[tuple[str, str, str]], label_style: str = "dim", indent: int = 0) -> None:
        """Show rows of a label and a text, each with a style."""
        self.grid([(styled((k, label_style)), styled((v, style))) for k, v, style in rows], indent, LABEL)

    def bullet(self, text: Text) -> None:
        """Show a text with a bullet before it."""
        self.grid([(styled(("•", "dim")), text)], gap=1)

    def one_row(self, parts: Sequence[tuple[str, str]]) -> None:
        """Show parts in one row, cut at its end."""
        text = styled(*parts)
        if text.plain:
            text.truncate(self.console.width - 2 * INDENT, overflow="ellipsis")
            self.print(text, 2 * INDENT)

    def grid(self, rows: list[tuple[Text, Text]], indent: int = INDENT, column: int | None = None, gap: int = 2) -> None:
        """Show rows of two columns."""
        table = table_of(columns=2, gap=gap)
        table.columns[0].no_wrap = True
        table.columns[0].min_width = column
        for left, right in rows:
            table.add_row(left, right)
        self.print(table, indent)

    def print(self, what: RenderableType, indent: int = 0) -> None:
        """Show anything, indented."""
        # Also where nothing is indented: print() would make plain Text of a WrappedText.
        self.console.print(Padding(what, (0, 0, 0, indent), expand=False))
