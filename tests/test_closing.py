"""What goes wrong while a job is put away, and what a paste cuts off, is not why it failed."""

from __future__ import annotations

from pathlib import Path

from .told import cause, told, watchdog

SCROLLED = """[rank2]:[E816 00:34:01.133910474 ProcessGroupNCCL.cpp:629] [Rank 2] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=812, OpType=ALLRE[451/1919]
"""


def test_an_operation_cut_off_by_the_terminal_differs_from_none(tmp_path: Path) -> None:
    text = SCROLLED + "".join(watchdog(rank) for rank in (0, 1, 3))
    report = told(tmp_path, {"run.log": text})
    assert ("collective.timeout", {""}) == (cause(report), {row.verdict for row in report.collectives})
