"""Version numbers as libraries print them, the ranges in which a known bug lives, and conditions on facts.

`packaging` compares, after PEP 440. Text that is no version is None, never an error. A condition is what a known bug
states: `trl: "==0.15.0"`, `packing: "not true"`, `trainer: "orpo|cpo"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..lines.lazy_pattern import lazy
from .settings import PACKAGES

if TYPE_CHECKING:
    from packaging.version import Version

    from .fact_store import Facts

MAX_CHARS = 80  # of a version or range
OPERATORS = ("<", ">", "=", "!", "~")
_RELEASE = lazy(r"v?[0-9]{1,6}(?:\.[0-9]{1,6}){0,5}")  # of `22.05-pb`, which is no PEP 440 version


def read_version(text: object) -> Version | None:
    """Yield a version that can be compared; None where `text` does not begin with one."""
    from packaging.version import InvalidVersion, Version  # few jobs need it, and it takes long to load

    plain = str(text).strip()
    try:
        return Version(plain[:MAX_CHARS])
    except InvalidVersion:
        match = _RELEASE.match(plain)
        return Version(match[0]) if match else None


def in_range(version: object, wanted: str) -> bool | None:
    """Tell whether `version` lies in `wanted` (`>=0.15.0,<0.15.1 or ==0.14.2`); None where the version says nothing."""
    mine = read_version(version)
    if mine is None:
        return None
    from packaging.specifiers import SpecifierSet

    return any(SpecifierSet(part).contains(mine, prereleases=True) for part in wanted.split(" or "))


def is_range(text: str) -> bool:
    """Whether every clause of `text` compares with a version."""
    return all(part.startswith(OPERATORS) for part in text.split(" or "))


def same_version(one: object, other: object) -> bool:
    """Whether two prints may mean one version: `2.6.0` and `2.6.0+cu124`, `12.4` and `12.4.131`."""
    a, b = read_version(one), read_version(other)
    if a is None or b is None:
        return str(one) == str(other)
    given = min(len(a.release), len(b.release))
    same_local = a.local is None or b.local is None or a.local == b.local
    return same_local and a.release[:given] == b.release[:given] and (a.pre, a.post, a.dev) == (b.pre, b.post, b.dev)


# --- conditions ---------------------------------------------------------------------------------------------------


def judge(applies_to: Mapping[str, str], facts: Facts) -> tuple[bool | None, bool]:
    """Tell whether all conditions hold (None: one is unknown), and whether one of the libraries is seen at all."""
    answers = [condition_holds(name, wanted, facts) for name, wanted in sorted(applies_to.items())]
    libraries = [name for name, wanted in applies_to.items() if is_range(wanted)]
    seen = any(facts.get(version_fact(n)) is not None or n.replace("-", "_") in facts.packages for n in libraries)
    return (False if False in answers else None if None in answers else True), seen


def condition_holds(name: str, wanted: str, facts: Facts) -> bool | None:
    """Tell whether one condition holds; None where its fact is unknown (`not X` holds then)."""
    if is_range(wanted):
        value = facts.get(version_fact(name))
        return None if value is None else in_range(value, wanted)
    value = facts.get(name)
    plain = None if value is None else str(value).lower()
    if wanted.startswith("not "):
        return plain != wanted[4:].strip().lower()
    return None if plain is None else plain in wanted.lower().split("|")


def only_versions_unknown(applies_to: Mapping[str, str], facts: Facts) -> bool:
    """Whether the version of a library is all that is missing: what else the bug needs is known to hold."""
    others = {n: w for n, w in applies_to.items() if not is_range(w)}
    return judge(others, facts)[0] is True and judge(applies_to, facts)[0] is None


def version_fact(library: str) -> str:
    """Yield the name of the fact that holds a library's version."""
    return PACKAGES.get(library.lower(), f"{library.lower().replace('-', '_')}_version")


def ranges_of(applies_to: Mapping[str, str]) -> dict[str, str]:
    """Yield the libraries concerned, sorted, with the versions in which the bug lives."""
    return {n: w for n, w in sorted(applies_to.items()) if is_range(w)}


def beside(library: str, applies_to: Mapping[str, str], facts: Facts) -> str | None:
    """Yield the installed versions of the other libraries that the bug needs: `vllm 0.4.3`."""
    others = {n: facts.get(version_fact(n)) for n in ranges_of(applies_to) if n != library}
    return ", ".join(f"{n} {v}" for n, v in others.items() if v is not None) or None


def settling_command(libraries: list[str]) -> str:
    """Yield the one command that prints the versions that matter."""
    if libraries == ["nccl"]:
        return 'python -c "import torch; print(torch.cuda.nccl.version())"'
    return f"pip show {' '.join(libraries)} | grep -E '^(Name|Version)'"
