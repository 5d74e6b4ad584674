"""Compiled patterns in the user's cache: read back they are what the libraries would compile, and nothing else is trusted."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import regex

from diagnose import stored_patterns
from diagnose.catalogue import load_rules
from diagnose.pattern_code import re_from_row, re_row, regex_from_row, regex_row
from diagnose.prefixes import _LEADING
from diagnose.stored_patterns import StoredPatterns

SOURCE = r"(?P<word>[A-Z]\w{0,9}) (?:ran|\d{2,3})? out of (?P<what>memory|disk)$"
EMPTY = regex.compile("")  # what tells how patterns of the library are made anew


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "diagnose"


def stored() -> None:
    first = StoredPatterns()
    first.re(SOURCE, re.ASCII)
    first.re(SOURCE.encode())
    first.regex(SOURCE, ignore_case=True)
    first.keep()


@pytest.mark.usefixtures("cache")
def test_the_next_run_compiles_nothing_that_this_one_met(monkeypatch: pytest.MonkeyPatch) -> None:
    stored()
    later = StoredPatterns()
    with monkeypatch.context() as patched:
        patched.setattr(stored_patterns, "re", SimpleNamespace(compile=pytest.fail))
        patched.setattr(regex, "compile", lambda source, *_: pytest.fail() if source else EMPTY)
        found = later.re(SOURCE, re.ASCII), later.regex(SOURCE, ignore_case=True)
    assert found[0] == re.compile(SOURCE, re.ASCII)
    match = found[1].search("GPU 12 OUT OF MEMORY", timeout=1)
    assert match and match.groupdict() == {"word": "GPU", "what": "MEMORY"}


@pytest.mark.usefixtures("cache")
def test_flags_and_kind_tell_patterns_of_one_text_apart() -> None:
    stored()
    later = StoredPatterns()
    assert later.re(SOURCE).flags == re.compile(SOURCE).flags
    assert later.re(SOURCE.encode()).fullmatch(b"GPU ran out of disk")
    assert later.regex(SOURCE, ignore_case=False).search("GPU ran OUT OF MEMORY") is None


def test_a_file_that_is_not_to_the_byte_what_was_stored_is_not_read(cache: Path) -> None:
    stored()
    [file] = cache.glob("patterns-*")
    file.write_bytes(file.read_bytes().replace(b"word", b"wort"))
    assert set(StoredPatterns().re(SOURCE, re.ASCII).groupindex) == {"word", "what"}


def test_a_file_that_others_could_have_written_is_not_read(cache: Path) -> None:
    stored()
    [file] = cache.glob("patterns-*")
    file.chmod(0o666)
    assert StoredPatterns()._find("re", SOURCE, re.ASCII)[1] is None


def test_a_cache_that_cannot_be_written_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    stored()
    assert StoredPatterns().re(SOURCE).groups == 2


@pytest.mark.usefixtures("cache")
def test_what_a_later_run_meets_joins_what_is_stored() -> None:
    stored()
    later = StoredPatterns()
    later.re("other")
    later.keep()
    assert all(StoredPatterns()._find("re", source, flags)[1] for source, flags in ((SOURCE, re.ASCII), ("other", 0)))


def test_patterns_of_the_catalogue_match_their_examples_alike_when_read_back() -> None:
    for form in [f for rule in load_rules(fresh=True).rules.values() for f in rule.forms][::9]:
        pattern = regex.compile(form.pattern, regex.IGNORECASE if form.ignore_case else 0)
        back = regex_from_row(form.pattern, regex_row(pattern))
        assert back is not None
        for example in form.examples:
            one, two = pattern.search(example.text), back.search(example.text)
            assert (one and (one.span(), one.groupdict())) == (two and (two.span(), two.groupdict()))


def test_prefixes_read_back_are_equal_to_those_compiled() -> None:
    rows = {entry.row.pattern for entries in _LEADING._rows.values() for entry in entries}
    for source in sorted(rows)[::5]:
        pattern = re.compile(source, re.ASCII)
        assert re_from_row(source, re_row(pattern, re.ASCII)) == pattern


def test_what_a_library_tells_that_is_not_known_has_no_row() -> None:
    assert regex_row(regex.compile(r"\L<names>", names=["a", "b"])) == b""


@pytest.mark.parametrize("row", [b"", b"[]", b"[0,0,0,0]", b'[32,"!",{},0]', b'[32,"AAAA",{"a":7},1]', b"{", b"[1,2,3,4,5,6,7]"])
def test_a_damaged_row_is_compiled_anew(row: bytes) -> None:
    assert re_from_row("a", row) is None
    assert regex_from_row("a", row) is None
