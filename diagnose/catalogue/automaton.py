"""Finds thousands of literals in a block of bytes in one pass, by the native library where it is installed.

The only file that knows the multi-pattern library.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..lines.cache import built, can_tell_owner, read_own, write_own

WORTH_CACHING = 500  # literals: a smaller automaton is built as quickly as it is read


class Literal(NamedTuple):
    """Bytes to find; `folded`: in any case (given in lower case); `once`: one report per block is enough."""

    text: bytes
    folded: bool
    once: bool = False


Found = list[tuple[int, int]]  # (end, number of the literal)
Find = Callable[["bytes | memoryview"], Found]
FindApart = Callable[["bytes | memoryview"], tuple[Found, Found]]


def automaton(literals: Sequence[Literal], *, is_lasting: bool = False) -> Find:
    """Yield a function from bytes to (end, literal) pairs: hyperscan where installed, else pure Python (slow).

    `is_lasting`: the next run will ask for the same; it came with the wheel, or is kept in the user's cache.
    """
    return _library(literals, is_lasting=is_lasting) if literals else lambda data: []


def automaton_apart(literals: Sequence[Literal], count: int, *, is_lasting: bool = False) -> FindApart:
    """Yield a function that finds all in one pass, and yields the pairs of the first `count` and of the others apart."""
    find = _library(literals, is_lasting=is_lasting)

    def find_apart(data: bytes | memoryview) -> tuple[Found, Found]:
        found = find(data)
        return [x for x in found if x[1] < count], [(end, n - count) for end, n in found if n >= count]

    return find_apart


def _library(literals: Sequence[Literal], *, is_lasting: bool) -> Find:
    try:
        import hyperscan
    except ImportError:
        _say_slow()
        return pure_python(literals)
    is_worth = is_lasting and len(literals) >= WORTH_CACHING
    database = _loaded(hyperscan, literals) if is_worth else None
    if database is None:
        database = compiled(hyperscan, literals)
        if is_worth and can_tell_owner():
            write_own(built_name(literals), hyperscan.dumpb(database))

    def find(data: bytes | memoryview) -> Found:
        found: Found = []
        keep = found.append

        def on_match(literal: int, _start: int, end: int, _flags: int, _context: object) -> None:
            keep((end, literal))

        database.scan(data, match_event_handler=on_match)
        return found

    return find


@cache
def _say_slow() -> None:
    """Once a process: each automaton would say it again."""
    import logging

    logging.getLogger("diagnose").warning("hyperscan is not installed: scanning with pure Python, about 50 times slower")


def compiled(hyperscan: Any, literals: Sequence[Literal]) -> Any:
    """Yield the native database of literals."""
    folded, once = hyperscan.HS_FLAG_CASELESS, hyperscan.HS_FLAG_SINGLEMATCH
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[literal.text for literal in literals],
        ids=list(range(len(literals))),
        flags=[(folded if x.folded else 0) | (once if x.once else 0) for x in literals],
        literal=True,
    )
    return database


def _loaded(hyperscan: Any, literals: Sequence[Literal]) -> Any | None:
    """The database that came with the wheel, or of an earlier run. The library trusts what it loads, so a file that
    others could have written, or that is not to the byte what was stored, never reaches it."""
    for stored in _stored(built_name(literals)):
        try:
            database = hyperscan.loadb(stored, hyperscan.HS_MODE_BLOCK)
            database.scratch = hyperscan.Scratch(database)
            return database
        except hyperscan.error:  # built by another version, or for a processor that this one is not
            continue
    return None


def _stored(name: str) -> Iterator[bytes]:
    if shipped := built(name):
        yield shipped
    if can_tell_owner() and (kept := read_own(name)):
        yield kept


def built_name(literals: Sequence[Literal]) -> str:
    """Yield the name of a stored database; the library itself tells what version and processor it is for."""
    texts = b"\0".join([x.text for x in literals])  # none holds that byte
    whole = texts + b"\0" + bytes([x.folded + 2 * x.once for x in literals])
    return f"automaton-{hashlib.sha256(whole).hexdigest()[:24]}-{_machine()}"


def _machine() -> str:
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def pure_python(literals: Sequence[Literal]) -> Find:
    """Yield the same function without the native library, for machines that have no wheel of it."""

    def find(data: bytes | memoryview) -> Found:
        plain = bytes(data)
        folded = plain.lower()
        found = []
        for number, (text, is_folded, once) in enumerate(literals):
            haystack = folded if is_folded else plain
            at = haystack.find(text)
            while at >= 0:
                found.append((at + len(text), number))
                at = -1 if once else haystack.find(text, at + 1)
        return sorted(found)

    return find
