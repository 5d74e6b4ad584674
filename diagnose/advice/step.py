"""One piece of advice, and how numbers are read from what a rule captured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .statement import RemedyStep, When

ORDER: tuple[When, ...] = ("now", "fix", "prevent", "collect")


@record
class Advice:
    """One thing to do; with `replaces` the cause's own steps of the same `when` are dropped."""

    when: When
    text: str
    command: str | None = None
    replaces: bool = False


def whole(fields: Mapping[str, Any], *names: str) -> int | None:
    """Yield the first of these captures that is a positive whole number."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


_SIZE = lazy(r"\s{0,4}([\d.]{1,20})\s{0,4}([KMGTP]?i?[Bb]|bytes)?")
_UNITS = {"b": 0, "bytes": 0, "kib": 1, "kb": 1, "mib": 2, "mb": 2, "gib": 3, "gb": 3, "tib": 4, "tb": 4}


def size_mib(value: object) -> float | None:
    """Yield a size such as `79.10 GiB` in MiB; a bare number is taken as MiB."""
    match = _SIZE.match(str(value)) if value is not None else None
    if match is None:
        return None
    try:
        number = float(match[1])
    except ValueError:
        return None
    return number * 1024.0 ** (_UNITS.get((match[2] or "mib").lower(), 2) - 2)


def gib(mib: float) -> str:
    """Yield a size in MiB as people read it: `1.9 GiB`, `512 MiB`."""
    return f"{mib / 1024 + 1e-9:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"  # 1.25 reads as 1.3


def merge_remedy(advice: Iterable[Advice], own: Iterable[RemedyStep]) -> tuple[RemedyStep, ...]:
    """Yield a report's steps, in order of when: the solved ones first, then the cause's own where not replaced."""
    solved = tuple(advice)
    replaced = {a.when for a in solved if a.replaces}
    steps = [RemedyStep(a.when, a.text, a.command) for a in solved]
    steps += [s for s in own if s.when not in replaced]
    return tuple(sorted(steps, key=lambda s: ORDER.index(s.when)))
