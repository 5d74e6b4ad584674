"""What is known of a job as a whole, each value with every line that states it, and where these contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..catalogue.sentences import Sentence
from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .settings import NAMES, Stated, Value
from .statement import Evidence, Fact, FactValue, Remark, RemedyStep

if TYPE_CHECKING:
    from packaging.version import Version

_SPECIAL = {name: number for number, name in enumerate(NAMES["frameworks"])}
_SHARED, _PER_HOST, _MANY_WORLDS = (NAMES[name].split() for name in ("shared", "per_host", "many_worlds"))
MANY = "package"  # a job has several; they do not contradict each other
MAX_VALUES = 400  # different statements of one fact that are kept
MAX_SHOWN = 4
MAX_CHARS = 80  # of a version or range
_RELEASE = lazy(r"v?[0-9]{1,6}(?:\.[0-9]{1,6}){0,5}")  # of `22.05-pb`, which is no PEP 440 version


@record
class Known:
    """One value of one fact, and every statement of it, the surest first."""

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
        return self.stated[0].surety

    @property
    def place(self) -> str:
        """Where the best statement stands, as `file:line`."""
        best = self.stated[0]
        return best.source if best.line is None else f"{best.source}:{best.line}"


@record
class Facts:
    """All facts by name, the best value of each first; `packages` are those of which the logs show code running."""

    known: Mapping[str, tuple[Known, ...]]
    packages: frozenset[str] = frozenset()

    def get(self, name: str, default: Any = None) -> Any:
        """Yield the best value of a fact."""
        return self.known[name][0].value if name in self.known else default

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
    return {name: tuple(sorted(map(_known, by_name[name]), key=_order)) for name in sorted(by_name)}


def _known(group: Sequence[Stated]) -> Known:
    """Of `2.6.0` and `2.6.0+cu124` the longer print, of other values the first."""
    longest = max(group, key=lambda s: len(str(s.value)) if s.name.endswith("_version") else 0)
    return Known(longest.value, tuple(sorted(group, key=lambda s: (-s.surety, s.source, s.line or 0))))


def _order(known: Known) -> tuple[int, int, int]:
    """Surest first; a framework by how special it is (OpenRLHF uses DeepSpeed); then by how many speakers state it."""
    special = _SPECIAL.get(str(known.value), len(_SPECIAL)) if known.stated[0].name == "framework" else 0
    return special, -known.surety, -len({(s.source, s.rank) for s in known.stated})


def _row(known: Sequence[Known]) -> Fact:
    best, others = known[0], known[1:]
    if best.stated[0].name == MANY:
        return Fact(", ".join(sorted({str(k.value) for k in known})), best.place)
    rest = tuple(FactValue(k.value, k.place, k.ranks) for k in others if k.surety == best.surety > 1)
    return Fact(best.value, best.place, best.ranks if others else (), rest)


def read_version(text: object) -> Version | None:
    """Yield a version that can be compared, after PEP 440; None where `text` does not begin with one."""
    from packaging.version import InvalidVersion, Version  # few jobs need it, and it takes long to load

    plain = str(text).strip()
    try:
        return Version(plain[:MAX_CHARS])
    except InvalidVersion:
        match = _RELEASE.match(plain)
        return Version(match[0]) if match else None


def in_range(version: object, wanted: str) -> bool | None:
    """Tell whether `version` lies in `wanted` (`>=0.15.0,<0.15.1 or ==0.14.2`); None where the version says nothing."""
    mine = None if version is None else read_version(version)
    if mine is None:
        return None
    from packaging.specifiers import SpecifierSet

    return any(SpecifierSet(part).contains(mine, prereleases=True) for part in wanted.split(" or "))


def same_version(one: object, other: object) -> bool:
    """Whether two prints may mean one version: `2.6.0` and `2.6.0+cu124`, `12.4` and `12.4.131`."""
    a, b = read_version(one), read_version(other)
    if a is None or b is None:
        return str(one) == str(other)
    given = min(len(a.release), len(b.release))
    same_local = a.local is None or b.local is None or a.local == b.local
    return same_local and a.release[:given] == b.release[:given] and (a.pre, a.post, a.dev) == (b.pre, b.post, b.dev)


def differences(facts: Facts) -> tuple[Remark, ...]:
    """Yield a notice for each fact on which ranks, hosts, or a file and the running job, disagree."""
    found: list[Remark] = []
    for name, values in facts.known.items():
        is_own = name == "world_size" and facts.get("framework") in _MANY_WORLDS
        if name.startswith(("nccl_", "torch_nccl_")) and not name.endswith(("_version", "timeout_s")):
            is_own = any(part in name for part in _PER_HOST)
        elif name not in _SHARED and not name.endswith("_version"):
            is_own = True
        if len(values) > 1 and not is_own:
            found += _contradictions(name, values)
    return (*found, *_asked_and_started(facts))


def _contradictions(name: str, values: Sequence[Known]) -> Iterator[Remark]:
    """Processes of one job that print different values, else what a file beside the logs states against what they print."""
    # One process that prints two values says nothing about others.
    printed = [v for v in values if v.surety == 3 and (v.ranks or v.hosts)]
    sets = [frozenset(map(str, v.ranks or v.hosts)) for v in printed]
    run, file = (next((v for v in values if v.surety == surety), None) for surety in (3, 2))
    if len(printed) > 1 and not any(a & b for i, a in enumerate(sets) for b in sets[:i]):
        key, proof, shown = "differs", printed, printed[:MAX_SHOWN]
        rows = [{"ranks": v.ranks, "hosts": ", ".join(v.hosts[:MAX_SHOWN]) or v.place, "value": v.value} for v in shown]
        said: dict[str, Any] = {"values": rows}
    elif run is not None and file is not None and (name.endswith("_version") or name in _SHARED):
        key, proof, said = "file-differs", [run, file], {"run": run.value, "place": file.place, "file": file.value}
    else:
        return
    package = name.removesuffix("_version")
    spelled = NAMES["spelled"].get(package, package)
    named = Sentence("advice.setting" if package == name else "advice.version-of", {"name": spelled})
    command = f'python -c "import {package}; print({package}.__version__, {package}.__file__)"'
    alike = RemedyStep("fix", "one-version", NAMES["prints"].get(package, command))
    step = RemedyStep("fix", "one-configuration") if package == name else alike
    yield Remark(key, {"name": named, "spelled": spelled, **said}, _evidence(name, proof), (step,))


def _asked_and_started(facts: Facts) -> Iterator[Remark]:
    """More or fewer processes than the launcher was asked for."""
    started = next((k for k in facts.all("world_size") if k.surety >= 3), None)
    if started is None or facts.get("framework") in _MANY_WORLDS:
        return
    asked, nodes = next((k for k in facts.all("processes_asked") if k.surety >= 2), None), 1
    if asked is None:
        asked, nodes = next((k for k in facts.all("gpus_per_node") if k.surety == 2), None), facts.number("nnodes") or 1
    if asked is not None and isinstance(asked.value, int) and asked.value * nodes != started.value:
        said = {"place": asked.place, "asked": asked.value * nodes, "started": started.value}
        step = RemedyStep("now", "count-processes", "nvidia-smi -L; env | grep -E 'WORLD_SIZE|NTASKS|VISIBLE'")
        yield Remark("asked-and-started", said, _evidence("world_size", [started, asked]), (step,))


def _evidence(name: str, values: Sequence[Known]) -> tuple[Evidence, ...]:
    shown = ((value.stated[0], f"{name} = {value.value}") for value in values[:MAX_SHOWN])
    return tuple(Evidence(by.source, by.line, None, by.rank, by.host, text=text) for by, text in shown)
