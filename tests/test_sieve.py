"""The sieve: fragments find exactly what the literals themselves find, whatever was learnt and however common they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import corpus
from diagnose.catalogue.automaton import FindApart, Found, Literal, automaton_apart
from diagnose.catalogue.load import load_rules
from diagnose.catalogue.matcher import Matcher
from diagnose.scan import sieve
from diagnose.scan.fragments import FRAGMENT_BYTES, choose_fragments
from diagnose.scan.scan_rules import ScanRules
from diagnose.scan.sieve import Sieve

WORDS = [
    "out of memory",
    "CUDA out of memory",
    "reset by peer",
    "Connection reset by peer",
    "abort",
    "Killed process 7",
    "ok",
]
LITERALS = [*(Literal(w.encode(), folded=False) for w in WORDS), Literal(b"no such file or folder", folded=True)]
OTHERS = [Literal(b"\x1b", folded=False, once=True)]
ALL = automaton_apart(LITERALS, OTHERS)

text = st.lists(
    st.sampled_from([*WORDS, "No Such File or Folder", "emory", " by peer", "\n", " ", "\x1b[0m", "reset by "]), max_size=60
).map(lambda parts: "".join(parts).encode())


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieve, "LEARN_BYTES", 10)


def told(find: FindApart, block: bytes) -> tuple[Found, list[int]]:
    found, others = find(block)
    return sorted(found), sorted(n for _, n in others)  # what is told once may be told of any place


def both(data: Sequence[bytes]) -> tuple[list[tuple[Found, list[int]]], list[tuple[Found, list[int]]]]:
    sieve = Sieve(ALL, LITERALS, OTHERS)
    return [told(sieve.find, block) for block in data], [told(ALL, block) for block in data]


@pytest.mark.usefixtures("soon")
@settings(max_examples=200, deadline=None)
@given(st.lists(text, min_size=1, max_size=6))
def test_what_is_found_does_not_depend_on_what_was_learnt(data: list[bytes]) -> None:
    found, wanted = both([b"Connection reset by a peer\n", *data])
    assert found == wanted


@pytest.mark.usefixtures("soon")
def test_a_flood_of_fragments_gives_the_sieve_up_and_loses_nothing() -> None:
    flood = b"Connection reset by peer\n" * (sieve.MAX_LINES + 1)
    found, wanted = both([b"learn from this\n", *[flood] * (sieve.MAX_COARSE + 2), b"Killed process 7\n"])
    assert found == wanted


LESSON = b"learn from this\n" * 4


def a_lasting_sieve() -> Sieve:
    return Sieve(ALL, LITERALS, OTHERS, is_lasting=True)


@pytest.mark.usefixtures("soon")
def test_what_one_run_learnt_the_next_one_takes_sooner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    a_lasting_sieve().find(LESSON)
    monkeypatch.setattr(sieve, "LEARN_BYTES", 1 << 30)
    monkeypatch.setattr(sieve, "RECALL_BYTES", 10)
    monkeypatch.setattr(sieve, "choose_fragments", pytest.fail)
    later = a_lasting_sieve()
    later.find(LESSON)
    assert later._narrow is not None
    assert told(later.find, b"Killed process 7, reset by peer\n") == told(ALL, b"Killed process 7, reset by peer\n")


@pytest.mark.usefixtures("soon")
def test_fragments_of_an_earlier_run_that_are_common_now_are_learnt_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    a_lasting_sieve().find(LESSON)
    monkeypatch.setattr(sieve, "RECALL_BYTES", 10)
    monkeypatch.setattr(sieve, "LEARN_BYTES", 100)
    later = a_lasting_sieve()
    later.find(LESSON)
    flood = b"Connection reset by a friend\n" * (sieve.MAX_LINES + 1)
    for _ in range(sieve.MAX_COARSE + 2):
        later.find(flood)
    for block in [flood, b"all is well\n" * 10, b"abort\nok Killed process 7\n"]:
        assert told(later.find, block) == told(ALL, block)
    assert later._narrow is not None and later._narrow(flood) == ([], [])


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("stored", [b"", b"[[1, 2]]", b"{", b"[7]", b"\xff", b'[["reset by", false]]'])
def test_damaged_memory_is_no_memory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stored: bytes) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    a_lasting_sieve().find(LESSON)
    for path in (tmp_path / "diagnose").glob("fragments-*"):
        path.write_bytes(stored)
    monkeypatch.setattr(sieve, "RECALL_BYTES", 10)
    later = a_lasting_sieve()
    later.find(LESSON)
    assert told(later.find, b"Killed process 7\n") == told(ALL, b"Killed process 7\n")


@pytest.mark.usefixtures("soon")
def test_literals_come_in_order_of_their_ends() -> None:
    found = Sieve(ALL, LITERALS, OTHERS)
    found.find(b"learn from this\n")
    ends = [end for end, _ in found.find(b"ok abort ok\nreset by peer ok\n")[0]]
    assert ends == sorted(ends)


def test_no_fragment_stands_in_what_was_read() -> None:
    chosen = choose_fragments(LITERALS, [b"we ran Connection reset tests"])
    assert not [x for x in chosen if len(x.text) == FRAGMENT_BYTES and x.text in b"we ran Connection reset tests"]


def test_what_is_chosen_stands_in_every_literal() -> None:
    chosen = choose_fragments(LITERALS, [b"Connection reset by a peer, out of memory"])
    assert all(x in chosen or any(not part.folded and part.text in x.text for part in chosen) for x in LITERALS)


def test_no_fragment_is_a_run_of_one_character_as_which_a_long_line_may_be_nothing_else() -> None:
    (chosen,) = choose_fragments([Literal(b"guid 0000000-1", folded=False)], [b"guid 00, guid 0-1, 00-1, 0000-1"])
    assert len(set(chosen.text)) > 1


def test_one_fragment_may_stand_for_several_literals() -> None:
    assert len(choose_fragments(LITERALS[:4], [])) == 2


def test_a_literal_all_of_whose_fragments_are_common_stands_for_itself() -> None:
    assert choose_fragments(LITERALS[2:3], [b"reset by peer"]) == LITERALS[2:3]


def test_no_literal_of_the_catalogue_stands_on_lines_that_healthy_jobs_print_all_the_time() -> None:
    """One such literal costs every large log: where lines with literals are common, no fragment is rare, and no sieve helps."""
    rules = ScanRules(load_rules())
    text = next(corpus.lines("realistic", 1, 0, 0, ([b"training"], [])))
    literals = Counter(rules.main.literals[n].text for _, n in Matcher.find(rules.main, text))

    assert {} == {literal: count for literal, count in literals.items() if count > len(text) >> 18}


def test_of_the_texts_that_would_do_those_of_rare_bytes_are_chosen() -> None:
    literal = Literal(b"eeeeeeeQZXJKVWeeeeee", folded=False)
    assert choose_fragments([literal], [b"e" * 1_000]) == [Literal(b"QZXJKVW", folded=False)]
