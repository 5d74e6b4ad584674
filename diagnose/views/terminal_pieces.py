"""What a terminal page is made of: styled text and tables without lines. Imports rich when asked: it is slow to load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


def styled(*parts: tuple[str, str]) -> Text:
    """Yield one text of parts, each with its style; words too long for the line are broken."""
    from .wrapping import WrappedText

    return WrappedText.assemble(*parts, overflow="fold")


def table_of(*headers: str, columns: int = 0, gap: int = 2) -> Table:
    """Yield a table with these headers, or so many columns without."""
    from rich.table import Column, Table

    made = [Column(header, overflow="fold", header_style="dim") for header in headers or [""] * columns]
    return Table(*made, box=None, show_header=bool(headers), padding=(0, gap, 0, 0), pad_edge=False)
