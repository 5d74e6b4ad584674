"""What a pattern promises, read from its parse tree: which literals every match must contain, whether it begins the
message, whether it keeps to the RE2 subset (no look-around, no back-reference), so that other tools can run the same
patterns, and what may keep it busy: repeats side by side, and texts made of what its repeats read."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    from re import _compiler as sre_compile
    from re import _constants as sre
    from re import _parser as sre_parse
else:  # pragma: no cover - the same modules under their old names
    import sre_compile
    import sre_constants as sre
    import sre_parse

REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, *([sre.POSSESSIVE_REPEAT] if hasattr(sre, "POSSESSIVE_REPEAT") else []))
STARTS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
MAX_REPEAT = 1000  # RE2 refuses larger bounds
MAX_READINGS = 256  # of one sequence, before what went before is no longer followed
OPEN = "\0"  # in a reading: anything that is not of known letters
LONG = 32  # times that a part may come again before its length matters
PROBES = " a0\n:,./[(-_\tZ"  # characters that parts of log lines have in common
ASCII = [chr(n) for n in range(128)]
MOST_TEXTS = 40  # of one pattern
TEXT_CHARS = 8192  # that a pattern is given at most
MOST_WAYS = 4_000_000  # to part a text among neighbours; so many are tried in 40 ms


def implies(pattern: str, literals: Sequence[str], ignore_case: bool = False) -> bool:
    """Whether each match of `pattern` must contain one of `literals`."""
    fold = str.lower if ignore_case else str
    wanted = [fold(x) for x in literals]
    return not _readings(sre_parse.parse(pattern), lambda text: any(x in fold(text) for x in wanted))


def _readings(tree: Any, is_proven: Callable[[str], bool]) -> set[str]:
    """Yield what a sequence may read: `[Ss]aved (?:to|at) \\d` gives four texts. One that is proven is followed no more."""
    found = {""}
    for op, arg in tree:
        texts = _readings_of(op, arg, is_proven)
        longer = {_ends(reading) for a in found for b in texts if not is_proven(reading := a + b)}
        found = longer if len(longer) <= MAX_READINGS else {OPEN + text for text in texts}
    return found


def _ends(reading: str) -> str:
    """A reading without what stands between its open parts: no neighbour can make a literal of it."""
    first, gap, rest = reading.partition(OPEN)
    return first + gap + rest.rpartition(OPEN)[2]


def _readings_of(op: Any, arg: Any, is_proven: Callable[[str], bool]) -> set[str]:
    """The same of one part."""
    if op is sre.LITERAL:
        return {chr(arg)}
    if op is sre.IN and all(kind is sre.LITERAL for kind, _ in arg):
        return {chr(char) for _, char in arg}
    if op in REPEATS and arg[1] == 1:
        return _readings(arg[2], is_proven) | ({""} if arg[0] == 0 else set())
    if op in REPEATS and arg[0] >= 1:
        return {text + OPEN for text in _readings(arg[2], is_proven)}
    if op in (sre.SUBPATTERN, sre.BRANCH):
        return {text for inner in _inner(op, arg) for text in _readings(inner, is_proven)}
    return {"" if op is sre.AT else OPEN}


def _inner(op: Any, arg: Any) -> list[Any]:
    """The sequences that a part holds, of which it reads one."""
    if op is sre.BRANCH:
        return list(arg[1])
    if op in REPEATS:
        return [arg[2]]
    return [arg[-1]] if op in (sre.SUBPATTERN, sre.ASSERT, sre.ASSERT_NOT) else []


def is_anchored(pattern: str, flags: int = 0) -> bool:
    """Whether each match of `pattern` must begin where the message does."""
    return _begins_at_start(sre_parse.parse(pattern, flags))


def _begins_at_start(tree: Any) -> bool:
    if not len(tree):  # a branch that may be empty
        return False
    op, arg = tree[0]
    if op in (sre.SUBPATTERN, sre.BRANCH):
        return all(map(_begins_at_start, _inner(op, arg)))
    return op is sre.AT and arg in STARTS


def re2_faults(pattern: str) -> list[str]:
    """Yield what in `pattern` leaves the RE2 subset or does not compile; empty when it is fine."""
    try:
        re.compile(pattern)
        tree = sre_parse.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return [f"does not compile: {error}"]
    return sorted(set(_faults(tree)))


def _faults(tree: Any) -> Iterator[str]:
    for op, arg in tree:
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            yield "look-around"
        elif op in (sre.GROUPREF, sre.GROUPREF_EXISTS):
            yield "back-reference"
        elif op in REPEATS and arg[1] is not sre.MAXREPEAT and arg[1] > MAX_REPEAT:
            yield f"repeat above {MAX_REPEAT}"
        for inner in _inner(op, arg):
            yield from _faults(inner)


# --- what keeps a pattern busy ----------------------------------------------------------------------------------------


def adversarial_texts(pattern: str, size: int = TEXT_CHARS, flags: int = 0) -> Iterator[str]:
    """Yield texts of `size` characters: what stands before a repeat, then what it reads, over and over; and both, over and
    over, where the pattern may begin anywhere."""
    tree = sre_parse.parse(pattern, flags)
    may_begin_anywhere = not _begins_at_start(tree)
    tried = dict.fromkeys((head, unit) for head, units in _repeats(tree, "") for unit in units)
    for head, unit in list(tried)[:MOST_TEXTS]:
        yield (head + unit * (size // len(unit)))[:size]
        if head and may_begin_anywhere:
            yield ((head + unit * 3) * (size // len(head + unit) + 1))[:size]


def _repeats(tree: Any, head: str) -> Iterator[tuple[str, list[str]]]:
    """Yield for each long repeat what a text has to begin with to get there, and some of what it reads."""
    for op, arg in tree:
        if op in REPEATS and arg[1] > LONG:
            yield head, _units(arg[2])
        for inner in _inner(op, arg):
            yield from _repeats(inner, head)
        head += _least(op, arg)


def _units(body: Any) -> list[str]:
    """Some texts that the body of a repeat reads: of a class the probes that are in it, else its shortest text."""
    if len(body) == 1 and (read := _readable(*body[0])) is not None:
        return [c for c in PROBES if c in read][:2] or sorted(read)[:1]
    return list(filter(None, [_shortest(body)]))


def _shortest(tree: Any) -> str:
    """A short text that a sequence reads."""
    return "".join(_least(op, arg) for op, arg in tree)


def _least(op: Any, arg: Any) -> str:
    """A short text that one part reads; empty for what reads nothing."""
    if op is sre.LITERAL:
        return chr(arg)
    if op in (sre.SUBPATTERN, sre.BRANCH):
        return min(map(_shortest, _inner(op, arg)), key=len)
    if op in REPEATS:
        return _shortest(arg[2]) * min(int(arg[0]), LONG)
    read = _readable(op, arg)
    return next((c for c in "a0 :" + PROBES if c in read), min(read)) if read else ""


def _readable(op: Any, arg: Any) -> frozenset[str] | None:
    """The ASCII characters that one part of one character reads; None for any other part."""
    if op not in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
        return None
    part = sre_compile.compile(sre_parse.SubPattern(sre_parse.State(), [(op, arg)]), re.UNICODE)
    return frozenset(filter(part.match, ASCII))


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
        if op in REPEATS and len(arg[2]) == 1 and (reads := _readable(*arg[2][0])) is not None:
            chains = _with(reads, arg, chains, found)
        elif op in REPEATS:
            once = _walk(arg[2], chains, found)
            again = _walk(arg[2], once, found) if arg[1] > LONG else []  # `(?:a+)+`
            chains = once + again + (chains if arg[0] == 0 else [])
        elif op in (sre.SUBPATTERN, sre.BRANCH):
            chains = [chain for inner in _inner(op, arg) for chain in _walk(inner, chains, found)]
        elif op is not sre.AT or arg not in STARTS:
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
