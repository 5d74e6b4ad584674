"""What a pattern promises, read from its parse tree: which literals every match must contain, and whether it keeps to
the RE2 subset (no look-around, no back-reference) so that time is bounded and other tools can run the same patterns."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre
    from re import _parser as sre_parse
else:  # pragma: no cover - the same modules under their old names
    import sre_constants as sre
    import sre_parse

MAX_REPEAT = 1000  # RE2 refuses larger bounds
Clauses = list[frozenset[str]]


def required_literals(pattern: str) -> Clauses:
    """Yield clauses; every text that `pattern` matches contains at least one string of each clause."""
    return _clauses(sre_parse.parse(pattern))


def implies(pattern: str, literals: Sequence[str], ignore_case: bool = False) -> bool:
    """Whether each match of `pattern` must contain one of `literals`."""
    fold = str.lower if ignore_case else str
    wanted = [fold(x) for x in literals]
    return any(all(any(w in fold(s) for w in wanted) for s in clause) for clause in required_literals(pattern))


def _clauses(tree: Any) -> Clauses:
    clauses: Clauses = []
    run: list[str] = []

    def flush() -> None:
        if run:
            clauses.append(frozenset(["".join(run)]))
            run.clear()

    for op, arg in tree:
        if op is sre.LITERAL:
            run.append(chr(arg))
            continue
        if op is sre.SUBPATTERN and (text := _only_text(arg[-1])) is not None:
            run.append(text)
            continue
        flush()
        clauses.extend(_node(op, arg))
    flush()
    return clauses


def _node(op: Any, arg: Any) -> Clauses:
    if op is sre.SUBPATTERN:
        return _clauses(arg[-1])
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and arg[0] >= 1:
        return _clauses(arg[2])
    if op is sre.BRANCH:
        return _branch([_clauses(branch) for branch in arg[1]])
    return []


def _branch(options: list[Clauses]) -> Clauses:
    """One clause for the alternatives together: the longest string of each."""
    if any(not option for option in options):
        return []
    best = [max(option, key=lambda clause: min(map(len, clause))) for option in options]
    return [frozenset().union(*best)]


def _only_text(tree: Any) -> str | None:
    if all(op is sre.LITERAL for op, _ in tree):
        return "".join(chr(arg) for _, arg in tree)
    return None


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
            found += _nested_repeat(arg) + _faults(arg[2])
    return found


def _nested_repeat(arg: Any) -> list[str]:
    """`(a+)+` and its like can take exponential time in a backtracking engine."""
    if arg[1] is not sre.MAXREPEAT:
        return []
    inner = [a for op, a in _walk(arg[2]) if op in (sre.MAX_REPEAT, sre.MIN_REPEAT) and a[1] is sre.MAXREPEAT]
    first_is_fixed = bool(len(arg[2])) and arg[2][0][0] is sre.LITERAL
    return ["an unbounded repeat inside an unbounded repeat"] if inner and not first_is_fixed else []


def _walk(tree: Any) -> list[tuple[Any, Any]]:
    nodes: list[tuple[Any, Any]] = []
    for op, arg in tree:
        nodes.append((op, arg))
        if op is sre.SUBPATTERN:
            nodes += _walk(arg[-1])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            nodes += _walk(arg[2])
        elif op is sre.BRANCH:
            nodes += [n for branch in arg[1] for n in _walk(branch)]
    return nodes
