"""Who speaks on a line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diagnose.scan.walks import beginning, is_same, voice

HEADS = [
    b"",
    b"[rank1]: ",
    b"[rank11]: ",
    b"[rank1]:[E1120 17:03:28.000000001 ProcessGroupNCCL.cpp:632] ",
    b"n7: ",
    b"n7: [rank1]: ",
    b"(WorkerDict pid=31, ip=10.0.0.7) ",
    b"(WorkerDict pid=3, ip=10.0.0.7) ",
    b"[1,3]<stderr>:",
    b"2026-11-20 10:00:00 261.098s: ",
    b"12: ",
    b"12: [rank1]: ",
    b"gpu-7:411:902 [0] NCCL INFO ",
    b"actor/3 ",
    b"r1 | ",
    b"rank1 | ",
    b"rank1: ",
    b"trainer | ",
    b"[rank without an end",
]


@given(st.sampled_from(HEADS[1:-1]), st.sampled_from(HEADS[1:-1]))
def test_the_beginning_of_a_name_stands_on_each_line_of_the_same_speaker(head: bytes, other: bytes) -> None:
    speaker, line = voice(head + b"x"), other + b"x"
    assert not is_same(voice(line), speaker) or beginning(speaker) in line
