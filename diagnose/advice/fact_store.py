"""A small typed store of facts: what is known of a job as a whole, each value with every line that states it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..lines.record import record
from .commands import FRAMEWORKS
from .fact_names import Stated, Value
from .statement import Fact, FactValue, Notice
from .versions import same_version

_SPECIAL = {name: number for number, (_, name) in enumerate(FRAMEWORKS)}
MANY = ("library",)  # a job has several; they do not contradict each other
MAX_VALUES = 400  # different statements of one fact that are kept


@record
class Known:
    """One value of one fact, and every statement of it."""

    value: Value
    stated: tuple[Stated, ...]

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that state it, sorted."""
        return tuple(sorted({s.rank for s in self.stated if s.rank is not None}))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that state it, sorted."""
        return tuple(sorted({s.host for s in self.stated if s.host}))

    @property
    def surety(self) -> int:
        """3: a running process printed it, 2: a command or file asks for it, 1: inferred."""
        return max(s.surety for s in self.stated)

    @property
    def place(self) -> str:
        """Where the best statement stands, as `file:line`."""
        best = min(self.stated, key=lambda s: (-s.surety, s.source, s.line or 0))
        return best.source if best.line is None else f"{best.source}:{best.line}"


@record
class Facts:
    """All facts by name, the best value of each first; `libraries` are packages of which the logs show code running."""

    known: Mapping[str, tuple[Known, ...]]
    libraries: frozenset[str] = frozenset()
    notices: tuple[Notice, ...] = ()

    def get(self, name: str, default: Any = None) -> Any:
        """Yield the best value of a fact."""
        values = self.known.get(name)
        return values[0].value if values else default

    def number(self, name: str) -> int | None:
        """Yield a fact that is a whole number; None where it is unknown or something else."""
        value = self.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def all(self, name: str) -> tuple[Known, ...]:
        """Yield every value of a fact, the best first."""
        return self.known.get(name, ())

    def values(self) -> dict[str, Any]:
        """Yield the best value of each fact by name: what the conditions and sentences of remedies see."""
        return {name: known[0].value for name, known in self.known.items()}

    def rows(self) -> dict[str, Fact]:
        """Yield the facts as the report shows them."""
        return {name: _row(known) for name, known in self.known.items()}


def facts_of(**values: Value) -> Facts:
    """Yield facts as given: for callers that know them, and for tests."""
    return Facts({k: (Known(v, (Stated(k, v, "given", None, 3),)),) for k, v in sorted(values.items())})


def gather_facts(stated: Iterable[Stated]) -> dict[str, tuple[Known, ...]]:
    """Yield statements grouped by fact and value: the surest first, then the most stated."""
    by_name: dict[str, list[list[Stated]]] = {}
    exact: dict[tuple[str, type, Value], list[Stated]] = {}  # most ranks print the same words
    for one in stated:
        groups = by_name.setdefault(one.name, [])
        key = (one.name, type(one.value), one.value)
        group = exact.get(key)
        if group is None and one.name.endswith("_version"):
            group = next((g for g in groups if same_version(one.value, g[0].value)), None)
        if group is None and len(groups) < MAX_VALUES:
            group = []
            groups.append(group)
        if group is not None:
            group.append(one)
            exact[key] = group
    return {name: _ordered(by_name[name]) for name in sorted(by_name)}


def _ordered(groups: Sequence[list[Stated]]) -> tuple[Known, ...]:
    known = [Known(_fullest(g), tuple(g)) for g in groups]
    return tuple(sorted(known, key=_order))


def _order(known: Known) -> tuple[int, int, int]:
    """Surest first; a framework by how special it is (OpenRLHF uses DeepSpeed); then by how many speakers state it."""
    special = _SPECIAL.get(str(known.value), len(_SPECIAL)) if known.stated[0].name == "framework" else 0
    return special, -known.surety, -len({(s.source, s.rank) for s in known.stated})


def _fullest(group: Sequence[Stated]) -> Value:
    """Of `2.6.0` and `2.6.0+cu124` the longer print, of other values the first."""
    return max(group, key=lambda s: len(str(s.value))).value if group[0].name.endswith("_version") else group[0].value


def _row(known: Sequence[Known]) -> Fact:
    best, others = known[0], known[1:]
    if best.stated[0].name in MANY:
        return Fact(", ".join(sorted({str(k.value) for k in known})), best.place)
    rest = tuple(FactValue(k.value, k.place, k.ranks) for k in others if k.surety == best.surety > 1)
    return Fact(best.value, best.place, best.ranks if others else (), rest)
