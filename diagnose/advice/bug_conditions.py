"""Conditions on facts as known bugs state them: `trl: "==0.15.0"`, `packing: "not true"`, `trainer: "orpo|cpo"`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .fact_names import PACKAGES
from .fact_store import Facts
from .versions import in_range, is_range


def judge(applies_to: Mapping[str, str], facts: Facts) -> tuple[bool | None, bool]:
    """Tell whether all conditions hold (None: one is unknown), and whether one of the libraries is seen at all."""
    answers = [condition_holds(name, wanted, facts) for name, wanted in sorted(applies_to.items())]
    libraries = [name for name, wanted in applies_to.items() if is_range(wanted)]
    seen = any(facts.get(version_fact(n)) is not None or n.replace("-", "_") in facts.libraries for n in libraries)
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


def unknown_libraries(applies_to: Mapping[str, str], facts: Facts) -> list[str]:
    """Yield the libraries whose version the logs do not tell."""
    ranges = sorted(n for n, wanted in applies_to.items() if is_range(wanted))
    return [n for n in ranges if facts.get(version_fact(n)) is None] or ranges


def beside(library: str, applies_to: Mapping[str, str], facts: Facts) -> str | None:
    """Yield the versions of the other libraries that the bug needs: `vllm 0.4.3`."""
    others = {n: facts.get(version_fact(n)) for n, w in sorted(applies_to.items()) if is_range(w) and n != library}
    return " and ".join(f"{n} {v}" for n, v in others.items() if v is not None) or None


def versions_in_words(applies_to: Mapping[str, str]) -> str:
    """Yield the versions concerned: `trl ==0.15.0 and torch <2.5`."""
    return " and ".join(f"{n} {w}" for n, w in sorted(applies_to.items()) if is_range(w))


def settling_command(libraries: Sequence[str]) -> str:
    """Yield the one command that prints the versions that matter."""
    if list(libraries) == ["nccl"]:
        return 'python -c "import torch; print(torch.cuda.nccl.version())"'
    return f"pip show {' '.join(libraries)} | grep -E '^(Name|Version)'"
