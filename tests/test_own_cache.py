"""The cache: read again where nothing changed, built anew where anything did, and never what another could have written."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import jinja2
import pytest

from diagnose.catalogue import automaton as native
from diagnose.catalogue import load as catalogue
from diagnose.catalogue.automaton import Literal, automaton
from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.rule import Rule
from diagnose.catalogue.sentences import KeptTemplates
from diagnose.lines import cache as stored
from diagnose.lines.cache import KEPT, read_own, write_own

RULE = """\
title: A widget broke
role: symptom
match: line
why: The widget says so.
forms:
  - literals: [widget broke]
    pattern: 'widget broke (?P<how>\\w{1,20})'
    examples: [{text: widget broke badly, fields: {how: badly}}]
fields: {how: str}
says: The widget broke {{ how }}.
counter_examples: [{text: widget works, because: it works}]
"""
LITERALS = [Literal(f"word number {n}".encode(), folded=False) for n in range(native.WORTH_CACHING)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "diagnose"


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    file = tmp_path / "rules" / "harmless" / "widget" / "broke.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(RULE)
    age(file)
    return tmp_path / "rules"


def age(file: Path) -> None:
    """As if it had been written a while ago."""
    os.utime(file, (1.7e9, 1.7e9))


class Forgetful(dict[str, Catalogue]):
    """Of each read no more is left than a new process would have."""

    def __setitem__(self, key: str, value: Catalogue) -> None:
        pass


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "JUST_NOW_NS", 0)
    monkeypatch.setattr(catalogue, "_LATEST", Forgetful())


def test_a_catalogue_is_read_from_the_cache_without_its_yaml(overlay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", overlay)
    first = load_rules()
    monkeypatch.setattr(catalogue, "_parse", lambda *_: pytest.fail("YAML was read"))
    again = load_rules()
    assert again.key == first.key
    assert [slim(r) for r in again.rules.values()] == [slim(r) for r in first.rules.values()]


def slim(rule: Rule) -> Rule:
    """Without examples, which are not kept."""
    return replace(rule, forms=tuple(replace(f, examples=()) for f in rule.forms), counter_examples=())


def test_rules_of_a_user_lie_over_the_catalogue_that_came_with_the_wheel(
    overlay: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = load_rules(overlay, fresh=True)
    (tmp_path / "catalogue.json").write_bytes(catalogue.to_bytes(load_rules()))
    monkeypatch.setattr(stored, "BUILT", tmp_path)
    monkeypatch.setattr(catalogue, "SHIPPED", tmp_path)  # no YAML there
    catalogue._shipped.cache_clear()
    laid = load_rules(overlay)
    catalogue._shipped.cache_clear()
    assert (laid.causes, laid.tables, laid.sentences) == (whole.causes, whole.tables, whole.sentences)
    assert [slim(r) for r in laid.rules.values()] == [slim(r) for r in whole.rules.values()]


def test_the_shipped_catalogue_is_the_same_from_the_cache() -> None:
    fresh = load_rules(fresh=True)
    load_rules()
    again = load_rules()
    assert (again.causes, again.tables) == (fresh.causes, fresh.tables)
    assert [slim(r) for r in again.rules.values()] == [slim(r) for r in fresh.rules.values()]


@pytest.mark.parametrize("kept", [Forgetful(), {}], ids=["by the next process", "by the same process"])
def test_a_changed_rule_is_read_anew(overlay: Path, monkeypatch: pytest.MonkeyPatch, kept: dict[str, Catalogue]) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", overlay)
    monkeypatch.setattr(catalogue, "_LATEST", kept)
    load_rules()
    load_rules()  # from the cache
    file = next(overlay.rglob("*.yaml"))
    file.write_text(RULE.replace("A widget broke", "A gadget broke"))  # the same size, and the same time by `age`
    age(file)
    assert load_rules().rules["harmless.widget/broke"].title == "A gadget broke"


def test_a_rule_written_just_now_is_read_whatever_the_file_system_s_clock_says(
    overlay: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", overlay)
    monkeypatch.setattr(catalogue, "JUST_NOW_NS", 10**18)
    load_rules()
    assert not list(cache.glob("catalogue-*"))


@pytest.mark.parametrize("damage", [b"", b"[]", b'[[["x"]],[],[],{},[],""]', b"\xff\xfe"])
def test_a_damaged_catalogue_is_built_anew(
    overlay: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setattr(catalogue, "SHIPPED", overlay)
    first = load_rules()
    next(cache.glob("catalogue-*")).write_bytes(damage)
    assert load_rules() == first


def test_only_the_owner_may_read_or_change_the_cache(cache: Path) -> None:
    write_own("thing-1", b"x")
    assert cache.stat().st_mode & 0o777 == 0o700
    assert (cache / "thing-1").stat().st_mode & 0o777 == 0o600
    assert read_own("thing-1") == b"x"


@pytest.mark.parametrize("place", ["thing-1", "."])
def test_what_others_may_change_is_not_read(cache: Path, place: str) -> None:
    write_own("thing-1", b"x")
    (cache / place).chmod(0o777)
    assert read_own("thing-1") is None


def test_a_link_is_not_followed(cache: Path, tmp_path: Path) -> None:
    write_own("thing-1", b"x")
    (tmp_path / "elsewhere").write_bytes(b"y")
    (cache / "thing-2").symlink_to(tmp_path / "elsewhere")
    assert read_own("thing-2") is None


def test_only_the_latest_files_of_a_kind_stay(cache: Path) -> None:
    for n in range(KEPT + 3):
        write_own(f"thing-{n}", b"x")
        os.utime(cache / f"thing-{n}", (n, n))
    assert sorted(p.name for p in cache.iterdir()) == [f"thing-{n}" for n in range(3, KEPT + 3)]


def test_an_unwritable_cache_costs_nothing_but_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    write_own("thing-1", b"x")
    assert read_own("thing-1") is None


def test_a_stored_automaton_finds_the_same(cache: Path) -> None:
    pytest.importorskip("hyperscan")
    text = b"word number 7 and word number 77"
    first = automaton(LITERALS, is_lasting=True)(text)
    assert list(cache.glob("automaton-*"))
    assert automaton(LITERALS, is_lasting=True)(text) == first
    assert len(first) == 3


@pytest.mark.parametrize("at", [0, 40, -1])
def test_a_damaged_automaton_never_reaches_the_library(cache: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    hyperscan = pytest.importorskip("hyperscan")
    first = automaton(LITERALS, is_lasting=True)(b"word number 7")
    kept = next(cache.glob("automaton-*"))
    data = bytearray(kept.read_bytes())
    data[at] ^= 1
    kept.write_bytes(data)
    monkeypatch.setattr(hyperscan, "loadb", lambda *_: pytest.fail("was loaded"))
    assert automaton(LITERALS, is_lasting=True)(b"word number 7") == first


def test_a_compiled_template_is_kept_when_the_process_ends() -> None:
    text = "{{ n }} ranks"
    environment = jinja2.Environment(loader=jinja2.DictLoader({"who": text}), bytecode_cache=(first := KeptTemplates()))
    environment.get_template("who")
    assert KeptTemplates().get_bucket(environment, "who", None, text).code is None
    first._keep()

    assert KeptTemplates().get_bucket(environment, "who", None, text).code is not None
    assert KeptTemplates().get_bucket(environment, "who", None, "{{ n }} hosts").code is None
