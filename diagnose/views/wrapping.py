"""Rich text that breaks Chinese where Chinese may break: between any two characters, but not before a closing mark.

Rich breaks at blanks only, so that a line of Chinese with one English word in it ends half empty. Imported by
`terminal` when it draws, since rich is slow to load.
"""

from __future__ import annotations

from rich.cells import cell_len, chop_cells
from rich.console import Console, JustifyMethod, OverflowMethod
from rich.containers import Lines
from rich.text import Text

from ..lazy_pattern import lazy

_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u303f"
_CHINESE = lazy(f"[{_WIDE}]")
# One unit: a Chinese character or a run of others, with the marks that open before it and close behind it.
_UNIT = lazy(f"[（“《【]{{0,4}}(?:[{_WIDE}]|[^\\s{_WIDE}]+)[，。；：、）”》】！？…]{{0,4}}\\s*|\\s+")


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
        if no_wrap or self.no_wrap or self.plain.isascii() or not _CHINESE.search(self.plain):
            return super().wrap(console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=no_wrap)
        lines = Lines()
        for line in self.split(allow_blank=True):
            for part in line.divide(break_offsets(line.plain, width)):
                part.rstrip()
                lines.append(part)
        return lines


def break_offsets(text: str, width: int) -> list[int]:
    """Yield where to break `text` so that no line has more than `width` cells."""
    offsets: list[int] = []
    used = 0
    for match in _UNIT.finditer(text):
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
