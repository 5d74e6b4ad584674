"""Who speaks on the lines of others: the index passes by the same lines as looking at each of them does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diagnose.scan.voices import MAX_TEXT, Voices, beginning, is_same, voice

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
lines = st.lists(st.tuples(st.sampled_from(HEADS), st.sampled_from([b"x", b"  File", b"y" * (MAX_TEXT + 9)])), max_size=40)


@given(lines, st.sampled_from(HEADS), st.integers(0, 12), st.integers(0, 2 * MAX_TEXT), st.booleans())
def test_an_index_passes_by_the_same_lines(
    said: list[tuple[bytes, bytes]], head: bytes, most_lines: int, most_bytes: int, is_ended: bool
) -> None:
    data = b"\n".join(a + b for a, b in said) + (b"\n" if is_ended and said else b"")
    starts = [0, *(n + 1 for n, byte in enumerate(data) if byte == 0x0A and n + 1 < len(data))] if data else []
    by_line, indexed = Voices(data), Voices(data)
    by_line._passed, indexed._passed = -(1 << 40), 1 << 40
    for at in starts:
        asked = (at, voice(head + b"x"), most_lines, most_bytes)
        end, *rest = by_line.pass_by(*asked)
        found = indexed.pass_by(*asked)
        assert (min(end, len(data)), rest) == (min(found[0], len(data)), [*found[1:]])


def test_an_index_is_made_once_much_was_passed_by() -> None:
    data = b"".join(b"[rank%d]: x\n" % (n % 50) for n in range(500))
    voices = Voices(data)
    found = [voices.pass_by(at, b"[rank49]", 500, 1 << 20) for at in [0] * 500]
    assert voices._index is not None
    assert len(set(found)) == 1


@given(st.sampled_from(HEADS[1:-1]), st.sampled_from(HEADS[1:-1]))
def test_the_beginning_of_a_name_stands_on_each_line_of_the_same_speaker(head: bytes, other: bytes) -> None:
    speaker, line = voice(head + b"x"), other + b"x"
    assert not is_same(voice(line), speaker) or beginning(speaker) in line
