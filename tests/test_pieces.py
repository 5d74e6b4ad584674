"""Where a line's message begins, remembered by the line's shape."""

from __future__ import annotations

import pytest

from diagnose.scan.pieces import pieces_of, read_pieces

LINES = [
    b"[rank0]:[E1120 10:15:00.032668 ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout",
    b"[rank7]:[E1120 11:16:01.932660 ProcessGroupNCCL.cpp:616] [Rank 7] Watchdog caught collective operation timeout",
    b"1732121008 received SIGSEGV",
    b"9732121008 received SIGSEGV",
    b" 4/10 [00:10<00:12,  2.1s/it]Killed",
    b" 5/11 [00:20<00:12,  3.1s/it]Killed",
    b"\rTraining:  12%|#2   \rTraining:  13%|#3   ",
    "1: Verlust ä 2".encode(),
    "2: Verlust ä 3".encode(),
    b"",
]


@pytest.mark.parametrize("line", LINES * 2)
def test_a_remembered_start_is_the_one_that_is_read(line: bytes) -> None:
    assert pieces_of(line) == read_pieces(line.decode())
