"""Texts made to keep a pattern busy, from its own parse tree: what one of its repeats can read, again and again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .pattern_facts import is_anchored, sre, sre_parse

REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, *([sre.POSSESSIVE_REPEAT] if hasattr(sre, "POSSESSIVE_REPEAT") else []))
LONG = 32  # times that a part may come again before its length matters
PROBES = " a0\n:,./[(-_\tZ"  # characters that parts of log lines have in common
MOST_TEXTS = 40  # of one pattern
TEXT_CHARS = 8192  # that a pattern is given at most
MOST_WAYS = 4_000_000  # to part a text among neighbours; so many are tried in 40 ms


def adversarial_texts(pattern: str, size: int = TEXT_CHARS, flags: int = 0) -> Iterator[str]:
    """Yield texts of `size` characters: what stands before a repeat, then what it reads, over and over; and both, over and
    over, where the pattern may begin anywhere."""
    seen: set[tuple[str, str]] = set()
    for head, units in _repeats(sre_parse.parse(pattern, flags), ""):
        for unit in units:
            if (head, unit) in seen or len(seen) >= MOST_TEXTS:
                continue
            seen.add((head, unit))
            yield (head + unit * (size // len(unit)))[:size]
            if head and not is_anchored(pattern, flags):
                yield ((head + unit * 3) * (size // len(head + unit) + 1))[:size]


def _repeats(tree: Any, head: str) -> Iterator[tuple[str, list[str]]]:
    """Yield for each long repeat what a text has to begin with to get there, and some of what it reads."""
    for op, arg in tree:
        if op in REPEATS:
            if arg[1] > LONG:
                yield head, _units(arg[2])
            yield from _repeats(arg[2], head)
        elif op is sre.SUBPATTERN:
            yield from _repeats(arg[-1], head)
        elif op is sre.BRANCH:
            for branch in arg[1]:
                yield from _repeats(branch, head)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeats(arg[1], head)
        head += _least(op, arg)


def _units(body: Any) -> list[str]:
    """Some texts that the body of a repeat reads: of a class the probes that are in it, else its shortest text."""
    if len(body) == 1 and (read := readable(*body[0])) is not None:
        return [c for c in PROBES if c in read][:2] or sorted(read)[:1]
    text = _shortest(body)
    return [text] if text else []


def _shortest(tree: Any) -> str:
    """A short text that a sequence reads."""
    return "".join(_least(op, arg) for op, arg in tree)


def _least(op: Any, arg: Any) -> str:
    """A short text that one part reads; empty for what reads nothing."""
    if op is sre.LITERAL:
        return chr(arg)
    if op is sre.SUBPATTERN:
        return _shortest(arg[-1])
    if op is sre.BRANCH:
        return min(map(_shortest, arg[1]), key=len)
    if op in REPEATS:
        return _shortest(arg[2]) * min(int(arg[0]), LONG)
    read = readable(op, arg)
    return next((c for c in "a0 :" + PROBES if c in read), min(read)) if read else ""


_ALL = [chr(n) for n in range(128)]


def readable(op: Any, arg: Any) -> frozenset[str] | None:
    """The ASCII characters that one part of one character reads; None for any other part."""
    if op is sre.LITERAL:
        return frozenset(chr(arg))
    if op is sre.NOT_LITERAL:
        return frozenset(_ALL) - {chr(arg)}
    if op is sre.ANY:
        return frozenset(_ALL) - {"\n"}
    if op is not sre.IN:
        return None
    source = frozenset(c for c in _ALL if any(_is_in(c, *x) for x in arg if x[0] is not sre.NEGATE))
    return frozenset(_ALL) - source if arg[0][0] is sre.NEGATE else source


_CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s", sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _is_in(char: str, op: Any, arg: Any) -> bool:
    if op is sre.LITERAL:
        return ord(char) == int(arg)
    if op is sre.RANGE:
        return bool(arg[0] <= ord(char) <= arg[1])
    return bool(op is sre.CATEGORY and re.match(_CATEGORIES[arg], char))


def neighbours(pattern: str) -> list[str]:
    """Yield repeats side by side, or within each other, that read the same characters where what follows can fail: each
    way to part a text among them is tried."""
    found: list[str] = []
    _walk(sre_parse.parse(pattern), [], found)
    return sorted(set(found))


class _Chain(NamedTuple):
    """Repeats of which each may take from the one before it what that has read."""

    reads: frozenset[str]  # of the last
    ways: int  # to part a text among them, at most
    shared: str = ""  # a character that two of them read


def _walk(tree: Any, chains: list[_Chain], found: list[str]) -> list[_Chain]:
    """Yield the chains that may end right behind a sequence, given those right before it."""
    for op, arg in tree:
        inner = arg[2] if op in REPEATS else arg[-1] if op is sre.SUBPATTERN else None
        if inner is not None and op in REPEATS and len(inner) == 1 and (reads := readable(*inner[0])) is not None:
            chains = _with(reads, arg, chains, found)
        elif inner is not None:
            once = _walk(inner, chains, found)
            again = _walk(inner, once, found) if op in REPEATS and arg[1] > LONG else []  # `(?:a+)+`
            chains = once + again + (chains if op in REPEATS and arg[0] == 0 else [])
        elif op is sre.BRANCH:
            chains = [chain for branch in arg[1] for chain in _walk(branch, chains, found)]
        elif op is not sre.AT or arg not in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            _tell(chains, found)
            chains = []
    return chains[:MOST_TEXTS]


def _with(reads: frozenset[str], arg: Any, chains: list[_Chain], found: list[str]) -> list[_Chain]:
    """The chains behind a repeat of one character."""
    least, most = arg[0], min(int(arg[1]), TEXT_CHARS)
    longer = [_Chain(reads, c.ways * most, min(c.reads & reads)) for c in chains if c.reads & reads]
    if least:
        _tell([c for c in chains if not c.reads & reads], found)
    return [_Chain(reads, most), *longer, *(chains if not least else [])]


def _tell(chains: list[_Chain], found: list[str]) -> None:
    found += [
        f"neighbouring repeats both read {c.shared!r}, in {c.ways:,} ways; bound one, as in \\s{{1,30}}"
        for c in chains
        if c.shared and c.ways > MOST_WAYS
    ]
