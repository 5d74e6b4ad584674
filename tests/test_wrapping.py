"""Chinese broken into lines."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from diagnose.views.terminal import break_offsets


def lines(text: str, width: int) -> list[str]:
    at = [0, *break_offsets(text, width), len(text)]
    return [text[a:b].rstrip() for a, b in pairwise(at)]


def test_chinese_breaks_between_characters() -> None:
    assert lines("缩短序列或做 packing，切分参数", 16) == ["缩短序列或做", "packing，切分参", "数"]


@given(st.text("的在，。（）ab c-", max_size=80), st.integers(8, 40))
def test_no_line_is_wider_than_asked_and_nothing_is_lost(text: str, width: int) -> None:
    at = [0, *break_offsets(text, width), len(text)]
    parts = [text[a:b] for a, b in pairwise(at)]
    assert "".join(parts) == text
    assert all(cell_len(part.rstrip()) <= width for part in parts)
