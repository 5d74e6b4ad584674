"""Version numbers as libraries print them, and the ranges in which a known bug lives.

A small part of PEP 440, enough for `2.6.0+cu124`, `0.15.0.dev0`, `0.6.3.post1`, `2.1.0rc1`, `22.05-pb`; text that is no
version is None, never an error.
"""

from __future__ import annotations

import re

from ..lines.lazy_pattern import lazy

_VERSION = lazy(
    r"v?(?P<release>\d{1,6}(?:\.\d{1,6}){0,5})"
    r"(?:[.\-_]?(?P<pre>a|b|rc|alpha|beta|dev)[.\-_]?(?P<pre_n>\d{0,8}))?"
    r"(?:[.\-_]?post[.\-_]?(?P<post>\d{0,8}))?",
    re.IGNORECASE,
)
_CLAUSE = lazy(r"\s{0,4}(==|!=|<=|>=|<|>|~=)\s{0,4}([\w.+\-]{1,40})\s{0,4}")
_FINAL = 9  # sorts behind every pre-release
_BEFORE = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "rc": 3}
_DIGITS = 6

Version = tuple[tuple[int, ...], int, int, int]  # release, phase, number of the pre-release, number of the post-release


def read_version(text: object) -> Version | None:
    """Yield a version that can be compared; None where `text` does not begin with one. A local part is not compared."""
    match = _VERSION.match(str(text).strip())
    if match is None:
        return None
    release = tuple(int(x) for x in match["release"].split("."))
    padded = (release + (0,) * _DIGITS)[:_DIGITS]
    phase = _BEFORE[match["pre"].lower()] if match["pre"] else _FINAL
    post = int(match["post"] or 0) + 1 if match["post"] is not None else 0
    return padded, phase, int(match["pre_n"] or 0), post


def in_range(version: object, wanted: str) -> bool | None:
    """Tell whether `version` lies in `wanted` (`>=0.15.0,<0.15.1 or ==0.14.2`); None where the version says nothing."""
    mine = read_version(version)
    if mine is None:
        return None
    return any(_all_hold(mine, part) for part in wanted.split(" or "))


def is_range(text: str) -> bool:
    """Whether every clause of `text` compares with a version."""
    parts = [clause for part in text.split(" or ") for clause in part.split(",")]
    return all((m := _CLAUSE.fullmatch(p)) is not None and read_version(m[2]) is not None for p in parts)


def same_version(one: object, other: object) -> bool:
    """Whether two prints may mean one version: `2.6.0` and `2.6.0+cu124`, `12.4` and `12.4.131`."""
    if str(one) == str(other):
        return True
    a, b = read_version(one), read_version(other)
    if a is None or b is None:
        return False
    local = [str(x).partition("+")[2] for x in (one, other)]
    if all(local) and local[0] != local[1]:
        return False
    given = min(_given(one), _given(other))
    return a[0][:given] == b[0][:given] and a[1:] == b[1:]


def _given(text: object) -> int:
    """How many numbers of the release were printed."""
    match = _VERSION.match(str(text).strip())
    return match["release"].count(".") + 1 if match else 0


def _all_hold(mine: Version, clauses: str) -> bool:
    return all(_holds(mine, clause) for clause in clauses.split(","))


def _holds(mine: Version, clause: str) -> bool:
    match = _CLAUSE.fullmatch(clause)
    other = read_version(match[2]) if match else None
    if match is None or other is None:
        return False
    if match[1] == "~=":  # ~=2.1.3: 2.1.3 and later patches of 2.1
        keep = max(_given(match[2]) - 1, 1)
        return mine >= other and mine[0][:keep] == other[0][:keep]
    if match[1] in ("==", "!="):
        return (mine == other) == (match[1] == "==")
    return {"<": mine < other, "<=": mine <= other, ">": mine > other, ">=": mine >= other}[match[1]]
