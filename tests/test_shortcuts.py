"""What is remembered or skipped to be fast gives what looking at each line gives."""

from __future__ import annotations

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diagnose.lines.shapes import DIGITS, digit_marks, marks_at, spots_of
from diagnose.scan.voices import MAX_TEXT, Voices, voice

PIECES = [
    *("a", "b1", "12", ".", "|", "^", "$"),
    *(r"\d", r"\d{2}", "[12]", "[^1]", "[0-9]", "[02-9]", "2?", "1+"),
    *("(?:1|a)", "(?P<n>3b?)+", "(?:1[2a])?"),
    *("(?=1)", "(?!12|b)", "(?<=2)", "(?<!a1)"),
]


def places_of(marks: tuple[bytes, ...], line: bytes) -> tuple[tuple[bytes, int], ...]:
    return tuple((mark, at) for mark in marks for at in range(len(line)) if line.lower().startswith(mark, at))


@settings(max_examples=200, deadline=None)
@example("b1[^1]", "b12", 0)
@example("b1[1a]", "b1a", 0)
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.text("ab123", max_size=8),
    st.integers(0, 9**8),
)
def test_lines_of_one_shape_with_marks_at_the_same_places_match_alike(pattern: str, text: str, other: int) -> None:
    marks = digit_marks(pattern)
    if marks is None:
        return
    digits = iter(f"{other:09d}".replace("4", "1").replace("5", "2"))
    changed = "".join(next(digits) if c.isdigit() else c for c in text)
    one, two = text.encode(), changed.encode()
    assert one.translate(DIGITS) == two.translate(DIGITS)
    assert marks_at(spots_of(marks, one.translate(DIGITS)), two) == places_of(marks, two)
    if places_of(marks, one) == places_of(marks, two):
        assert (regex.search(pattern, text) is None) == (regex.search(pattern, changed) is None)


HEADS = [
    *(
        b"",
        b"[rank1]: ",
        b"[rank11]: ",
        b"n7: ",
        b"n7: [rank1]: ",
        b"[1,3]<stderr>:",
        b"12: ",
        b"12: [rank1]: ",
        b"actor/3 ",
    ),
    *(b"[rank1]:[E1120 17:03:28.000000001 ProcessGroupNCCL.cpp:632] ", b"2026-11-20 10:00:00 261.098s: ", b"trainer | "),
    *(b"(WorkerDict pid=31, ip=10.0.0.7) ", b"(WorkerDict pid=3, ip=10.0.0.7) ", b"gpu-7:411:902 [0] NCCL INFO ", b"r1 | "),
    *(b"rank1 | ", b"rank1: ", b"[rank without an end"),
]
LINES = st.lists(st.tuples(st.sampled_from(HEADS), st.sampled_from([b"x", b"  File", b"y" * (MAX_TEXT + 9)])), max_size=40)


@given(LINES, st.sampled_from(HEADS), st.integers(0, 12), st.integers(0, 2 * MAX_TEXT), st.booleans())
def test_an_index_of_speakers_passes_by_the_same_lines(
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
