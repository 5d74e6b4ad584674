"""What a process of a user does once, thousands of tests in one process would each do again: it is remembered here.

Without this a third of a test's time goes into asking the file system whether any of 2,000 rules has changed, and into the
automaton of their literals; rules of a user's own are laid over those 2,000, which would be parsed for each such test.
`conftest.py` lays it over the package before any test imports it. Whoever has a cache of their own (`test_own_cache.py`, `test_growth.py`) meets the code itself.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from diagnose.catalogue import automaton, load

SETTINGS = ("HOME", "XDG_CACHE_HOME", "DIAGNOSE_RULES")


def surroundings() -> tuple[object, ...]:
    """What decides which rules are read, and from which cache."""
    return (load.SHIPPED, "hyperscan" in sys.modules and sys.modules["hyperscan"] is None, *map(os.environ.get, SETTINGS))


def remember() -> None:
    """Lay it over the package."""
    load.load_rules = _load_rules(load.load_rules, surroundings())
    load.load_yaml, load.check = _parsed(load.load_yaml, load.check)
    automaton._library = _library(automaton._library, surroundings())


def _load_rules(read: Callable[..., load.Catalogue], usual: tuple[object, ...]) -> Callable[..., load.Catalogue]:
    kept: dict[bool, load.Catalogue] = {}

    def load_rules(*extra: str | os.PathLike[str], fresh: bool = False) -> load.Catalogue:
        if extra or surroundings() != usual:
            return read(*extra, fresh=fresh)
        if fresh not in kept:
            kept[fresh] = read(fresh=fresh)
        return kept[fresh]

    return load_rules


def _parsed(parse: Callable[..., Any], check: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    kept: dict[tuple[Path, bytes], dict[str, Any]] = {}
    checked: dict[tuple[Any, int], Any] = {}  # by type and by the `id` of what is kept

    def load_yaml(path: Path, data: bytes) -> dict[str, Any]:
        if path.name.endswith(".zh.yaml") or not path.is_relative_to(load.SHIPPED):  # a translation is taken apart
            return parse(path, data)
        if (path, data) not in kept:
            kept[path, data] = parse(path, data)
            checked[None, id(kept[path, data])] = True
        return kept[path, data]

    def check_once(kind: Any, loaded: dict[str, Any], path: Path) -> Any:
        if (None, id(loaded)) not in checked:
            return check(kind, loaded, path)
        if (kind, id(loaded)) not in checked:
            checked[kind, id(loaded)] = check(kind, loaded, path)
        return checked[kind, id(loaded)]

    return load_yaml, check_once


def _library(build: Callable[..., Any], usual: tuple[object, ...]) -> Callable[..., Any]:
    kept: dict[tuple[object, ...], Any] = {}

    def library(literals: Sequence[automaton.Literal], *, is_lasting: bool) -> Any:
        if surroundings() != usual:
            return build(literals, is_lasting=is_lasting)
        key = (threading.get_ident(), *literals)  # one must not be asked by two threads at once
        if key not in kept:
            kept[key] = build(literals, is_lasting=is_lasting)
        return kept[key]

    return library
