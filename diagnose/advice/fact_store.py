"""A typed store of facts: what is known of a job as a whole, each value with every line that states it.

Where ranks, hosts, or a file and the running job disagree on what should be one for all, that is a notice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..catalogue.sentences import Sentence
from ..lines.record import record
from .settings import NAMES, Stated, Value
from .statement import Evidence, Fact, FactValue, Remark, Step
from .versions import same_version

_SPECIAL = {name: number for number, name in enumerate(NAMES["frameworks"])}
MANY = ("package",)  # a job has several; they do not contradict each other
MAX_VALUES = 400  # different statements of one fact that are kept
MAX_SHOWN = 4
# One value for all ranks; settings that may well differ (devices, interfaces, who speaks) are not here.
SHARED = frozenset(
    ["world_size", "backend", "ddp_timeout_s", "train_batch_size", "micro_batch_size", "gradient_accumulation",
     "zero_stage", "nnodes", "packing", "launcher"]
)  # fmt: skip
# What may differ between hosts.
PER_HOST = ("ifname", "nccl_interface", "nccl_ib_hca", "nccl_debug", "nccl_topo", "nccl_net", "nccl_ib_gid")
MANY_WORLDS = ("openrlhf", "verl")  # actors, critics and engines are worlds of their own
SPELLED = {"nccl": "NCCL", "cuda": "CUDA", "torch": "PyTorch", "vllm": "vLLM", "trl": "TRL", "ray": "Ray"}
PRINTS = {  # library -> what prints its version, where `import X; print(X.__version__)` does not
    "nccl": 'python -c "import torch; print(torch.cuda.nccl.version())"',
    "cuda": 'python -c "import torch; print(torch.version.cuda)"',
    "driver": "nvidia-smi --query-gpu=driver_version --format=csv,noheader",
    "python": "python --version",
}


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
    """All facts by name, the best value of each first; `packages` are those of which the logs show code running."""

    known: Mapping[str, tuple[Known, ...]]
    packages: frozenset[str] = frozenset()
    notices: tuple[Remark, ...] = ()

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


# --- differences ---------------------------------------------------------------------------------------------------


def differences(facts: Facts) -> tuple[Remark, ...]:
    """Yield a notice for each fact on which ranks, hosts, or a file and the running job, disagree."""
    found: list[Remark] = []
    for name in facts.known:
        values = facts.all(name)
        if len(values) > 1 and _is_shared(name, facts):
            found += _between_speakers(name, values) or _between_file_and_run(name, values)
    return (*found, *_asked_and_started(facts))


def _is_shared(name: str, facts: Facts) -> bool:
    if name == "world_size" and facts.get("framework") in MANY_WORLDS:
        return False
    if name.startswith(("nccl_", "torch_nccl_")) and not name.endswith(("_version", "timeout_s")):
        return not any(part in name for part in PER_HOST)
    return name in SHARED or name.endswith("_version")


def _between_speakers(name: str, values: Sequence[Known]) -> list[Remark]:
    """Processes of one job that print different values. One process that prints two says nothing about others."""
    printed = [v for v in values if v.surety == 3 and (v.ranks or v.hosts)]
    sets = [frozenset(map(str, v.ranks or v.hosts)) for v in printed]
    apart = len(printed) > 1 and all(not (a & b) for i, a in enumerate(sets) for b in sets[:i])
    if not apart:
        return []
    shown = printed[:MAX_SHOWN]
    rows = [{"ranks": v.ranks, "hosts": ", ".join(v.hosts[:MAX_SHOWN]) or v.place, "value": v.value} for v in shown]
    text = Sentence("advice.differs", {"name": named(name), "values": rows})
    return [Remark(_topic(name), text, _evidence(name, printed), (_step(name),))]


def _between_file_and_run(name: str, values: Sequence[Known]) -> list[Remark]:
    """What a file given beside the logs states, against what the job printed."""
    run = next((v for v in values if v.surety == 3), None)
    file = next((v for v in values if v.surety == 2), None)
    if run is None or file is None or not (name.endswith("_version") or name in SHARED):
        return []
    said = {"name": named(name), "run": run.value, "place": file.place, "file": file.value}
    return [Remark(_topic(name), Sentence("advice.file-differs", said), _evidence(name, [run, file]), (_step(name),))]


def _asked_and_started(facts: Facts) -> Iterator[Remark]:
    """More or fewer processes than the launcher was asked for."""
    started = next((k for k in facts.all("world_size") if k.surety >= 3), None)
    nodes, per_node = facts.number("nnodes") or 1, next((k for k in facts.all("gpus_per_node") if k.surety == 2), None)
    asked = next((k for k in facts.all("processes_asked") if k.surety >= 2), None)
    if started is None or facts.get("framework") in MANY_WORLDS:
        return
    number = asked.value if asked else per_node.value * nodes if per_node and isinstance(per_node.value, int) else None
    place = asked or per_node
    if isinstance(number, int) and number != started.value and place is not None:
        said = {"place": place.place, "asked": number, "started": started.value}
        step = Step("now", Sentence("advice.count-processes"), "nvidia-smi -L; env | grep -E 'WORLD_SIZE|NTASKS|VISIBLE'")
        text, topic = Sentence("advice.asked-and-started", said), Sentence("advice.asked-and-started-topic")
        yield Remark(topic, text, _evidence("world_size", [started, place]), (step,))


def named(name: str) -> Sentence:
    """Yield what a fact is called: `NCCL version`, `zero_stage`."""
    library = name.removesuffix("_version")
    key = "advice.version-of" if library != name else "advice.setting"
    return Sentence(key, {"name": SPELLED.get(library, library)})


def _topic(name: str) -> Sentence:
    return Sentence("advice.differs-topic", {"name": named(name)})


def _step(name: str) -> Step:
    if not name.endswith("_version"):
        return Step("fix", Sentence("advice.one-configuration"))
    package = name.removesuffix("_version")
    command = PRINTS.get(package, f'python -c "import {package}; print({package}.__version__, {package}.__file__)"')
    return Step("fix", Sentence("advice.one-version", {"name": SPELLED.get(package, package)}), command)


def _evidence(name: str, values: Sequence[Known]) -> tuple[Evidence, ...]:
    shown = []
    for value in values[:MAX_SHOWN]:
        first = min(value.stated, key=lambda s: (-s.surety, s.source, s.line or 0))
        shown.append(Evidence(first.source, first.line, None, first.rank, first.host, text=f"{name} = {value.value}"))
    return tuple(shown)
