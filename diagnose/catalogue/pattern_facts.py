"""What a pattern promises, read from its parse tree: which literals every match must contain, whether it begins the
message, and whether it keeps to the RE2 subset (no look-around, no back-reference), so that time is bounded and other
tools can run the same patterns."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parse
else:  # pragma: no cover - the same modules under their old names
    import sre_constants as sre
    import sre_parse

__all__ = ["implies", "is_anchored", "re2_faults", "sre", "sre_parse"]
MAX_REPEAT = 1000  # RE2 refuses larger bounds
MAX_READINGS = 64  # of one part, before it is no longer followed


def implies(pattern: str, literals: Sequence[str], ignore_case: bool = False) -> bool:
    """Whether each match of `pattern` must contain one of `literals`."""
    fold = str.lower if ignore_case else str
    return _proves(sre_parse.parse(pattern), [fold(x) for x in literals], fold)


def _proves(tree: Any, wanted: Sequence[str], fold: Callable[[str], str]) -> bool:
    """Whether all that a sequence can read contains one of `wanted`: a stretch of it, or one of its parts, sees to it."""
    if any(all(any(w in fold(text) for w in wanted) for text in texts) for texts in _stretches(tree)):
        return True
    return any(_part_proves(op, arg, wanted, fold) for op, arg in tree)


def _part_proves(op: Any, arg: Any, wanted: Sequence[str], fold: Callable[[str], str]) -> bool:
    if op is sre.SUBPATTERN:
        return _proves(arg[-1], wanted, fold)
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and arg[0] >= 1:
        return _proves(arg[2], wanted, fold)
    return op is sre.BRANCH and all(_proves(branch, wanted, fold) for branch in arg[1])


def _stretches(tree: Any) -> Iterator[list[str]]:
    """Yield for each stretch of known letters what it may read: `[Ss]aved (?:to|at)` gives four texts."""
    run = [""]
    for op, arg in tree:
        texts = _texts_of(op, arg)
        if texts is not None and len(run) * len(texts) <= MAX_READINGS:
            run = [a + b for a in run for b in texts]
            continue
        heads = _heads(op, arg) if texts is None else []
        if heads and len(run) * len(heads) <= MAX_READINGS:
            yield [a + b for a in run for b in heads]
        yield run
        run = texts if texts is not None else [""]
    yield run


def _texts(tree: Any) -> list[str] | None:
    """Yield all that a sequence can read where that is of letters only and not much; None elsewhere."""
    texts = [""]
    for op, arg in tree:
        more = _texts_of(op, arg)
        if more is None or len(texts) * len(more) > MAX_READINGS:
            return None
        texts = [a + b for a in texts for b in more]
    return texts


def _texts_of(op: Any, arg: Any) -> list[str] | None:
    """The same of one part."""
    if op is sre.LITERAL:
        return [chr(arg)]
    if op is sre.IN:
        return [chr(x) for _, x in arg] if all(kind is sre.LITERAL for kind, _ in arg) else None
    if op is sre.SUBPATTERN:
        return _texts(arg[-1])
    if op is sre.BRANCH:
        options = [_texts(branch) for branch in arg[1]]
        return None if any(o is None for o in options) else [text for o in options for text in o or ()]
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and (arg[0], arg[1]) == (0, 1):
        once = _texts(arg[2])
        return None if once is None else ["", *once]
    return None


def _heads(op: Any, arg: Any) -> list[str]:
    """Yield with which letters a part begins that reads more than known letters; empty where that is open."""
    if op is sre.BRANCH:
        heads = [_heads_of(branch) for branch in arg[1]]
        return [head for some in heads for head in some] if all(heads) else []
    if op is sre.SUBPATTERN:
        return _heads_of(arg[-1])
    return _heads_of(arg[2]) if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and arg[0] >= 1 else []


def _heads_of(tree: Any) -> list[str]:
    """The same of a sequence."""
    heads = [""]
    for op, arg in tree:
        more = _texts_of(op, arg)
        if more is None or len(heads) * len(more) > MAX_READINGS:
            inner = _heads(op, arg) if more is None else []
            heads = [a + b for a in heads for b in inner] or heads
            break
        heads = [a + b for a in heads for b in more]
    return [] if heads == [""] else heads


def is_anchored(pattern: str, flags: int = 0) -> bool:
    """Whether each match of `pattern` must begin where the message does."""
    return _begins_at_start(sre_parse.parse(pattern, flags))


def _begins_at_start(tree: Any) -> bool:
    if not len(tree):  # a branch that may be empty
        return False
    op, arg = tree[0]
    if op is sre.SUBPATTERN:
        return _begins_at_start(arg[-1])
    if op is sre.BRANCH:
        return all(_begins_at_start(branch) for branch in arg[1])
    return op is sre.AT and arg in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)


def re2_faults(pattern: str) -> list[str]:
    """Yield what in `pattern` leaves the RE2 subset or does not compile; empty when it is fine."""
    try:
        re.compile(pattern)
        tree = sre_parse.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return [f"does not compile: {error}"]
    return sorted(set(_faults(tree)))


def _faults(tree: Any) -> list[str]:
    found: list[str] = []
    for op, arg in tree:
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            found.append("look-around")
        elif op in (sre.GROUPREF, sre.GROUPREF_EXISTS):
            found.append("back-reference")
        elif op is sre.BRANCH:
            found += [fault for branch in arg[1] for fault in _faults(branch)]
        elif op is sre.SUBPATTERN:
            found += _faults(arg[-1])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            if arg[1] is not sre.MAXREPEAT and arg[1] > MAX_REPEAT:
                found.append(f"repeat above {MAX_REPEAT}")
            found += _faults(arg[2])
    return found
