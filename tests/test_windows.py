"""Windows: which lines around a hit are kept, and by whom they were said."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from diagnose.scan.voices import MAX_TEXT, Voices, voice
from diagnose.scan.walks import Walk, walk_for


def taken(walk: Walk | None, lines: list[bytes]) -> list[bytes]:
    return [x for x in lines if walk and walk.is_open() and walk.takes(x, voice(x))]


def test_a_traceback_keeps_its_own_speaker_s_lines() -> None:
    walk = walk_for(1, "traceback", b"[rank3]: Traceback (most recent call last):")
    woven = [b'[rank%d]:   File "a.py", line %d' % (n % 5, n) for n in range(40)]
    assert taken(walk, woven)[3:] == [x for x in woven if x.startswith(b"[rank3]")]


def test_a_line_without_a_speaker_belongs_to_whom_it_follows() -> None:
    walk = walk_for(1, "block:4", b"[rank3]: mismatch")
    lines = [b"[rank1]: x", b"of rank 1", b"[rank1]: y", b"[rank3]: z", b"of rank 3", b"[rank1]: w"]
    assert taken(walk, lines)[3:] == [b"[rank3]: z", b"of rank 3"]


def test_an_exception_of_an_unusual_name_ends_its_traceback_and_is_no_other_speaker() -> None:
    frames = [b'  File "a.py", line %d, in f' % n for n in range(9)]
    exception = b"triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 163840"
    walk = walk_for(1, "traceback", b"Traceback (most recent call last):")
    assert taken(walk, [*frames, exception])[-1] == exception


WOVEN = (b"[rank1]: a", b"[rank2]: b", b"of whom it follows", b"", b"srun: x", b"[rank1]:[E1120 c", b"z" * (MAX_TEXT + 9))


@settings(max_examples=200)
@given(
    st.tuples(
        st.sampled_from(["near", "rest", "block:9", "traceback", "stack"]),
        st.sampled_from([b"[rank1]", b"srun:", b""]),
        st.integers(0, 3),  # neighbours
        st.integers(0, 14),  # own lines
        st.booleans(),
        st.sampled_from([3, 99]),  # of one traceback
        st.integers(2, 20),  # lines left …
        st.integers(20, 200) | st.just(99_999),  # … and bytes
    ),
    st.lists(st.sampled_from(WOVEN[:6]), max_size=30) | st.lists(st.sampled_from(WOVEN), max_size=30),
    st.integers(0, 30),
)
def test_lines_are_wanted_as_if_each_was_looked_at(wants: tuple[Any, ...], lines: list[bytes], cut: int) -> None:
    walk, other = Walk(1, *wants), Walk(1, *wants)
    found = walk.read(Voices(b"".join(x + b"\n" for x in lines[:cut])), 0, 1)
    found += walk.read(Voices(b"".join(x + b"\n" for x in lines[cut:])), 0, cut + 1)
    assert found == [(n, x[:MAX_TEXT]) for n, x in enumerate(lines, 1) if taken(other, [x[:MAX_TEXT]])]
