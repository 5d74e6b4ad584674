"""Text that is wrapped where Chinese and lists may break.

Rich breaks at blanks only, so that a line of Chinese with one English word in it ends half empty: Chinese breaks between
any two characters, but not before a closing mark. A list of ranks has no blanks, and breaks behind its commas.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells
from rich.console import Console, JustifyMethod, OverflowMethod
from rich.containers import Lines
from rich.text import Text

from ..lines.lazy_pattern import lazy

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
