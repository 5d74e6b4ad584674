"""Batch sizes and GPUs: what the job asks for against what there is, as sums over flags and counted devices.

`train = micro x accumulation x data-parallel size`, solved for the settings nearest to what was meant. Of the four numbers
the last one is counted, not written down: it is the number of processes that really started, so `64 != 4 * 8 * 1` means
that one process started. How each framework is told a setting stands in `flags` of `names.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from ..catalogue.sentences import Sentence
from ..lines.record import record
from .fact_store import Facts
from .settings import NAMES
from .statement import Evidence, Remark, Step

MAX_SETTINGS = 4
MAX_BATCH = 1 << 24  # no effort on numbers that no job has


@record
class Setting:
    """Four numbers that fit: `train == micro * accumulation * ranks`, always."""

    micro: int
    accumulation: int
    ranks: int

    @property
    def train(self) -> int:
        """The global batch."""
        return self.micro * self.accumulation * self.ranks

    def __str__(self) -> str:
        return f"{self.train} = {self.micro} x {self.accumulation} x {self.ranks}"


@record
class Flags:
    """Words of a command, made here of numbers: they are filled in as they are, unquoted."""

    words: str

    def __str__(self) -> str:
        return self.words


def whole(fields: Mapping[str, Any], *names: str) -> int | None:
    """Yield the first of these captures that is a positive whole number."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def nearest_with_micro(train: int, micro: int, ranks: int) -> tuple[Setting, ...]:
    """Yield the settings next below and above `train` that keep the micro batch (it fits the memory), nearest first."""
    below, rest = divmod(train, micro * ranks)
    found = (Setting(micro, n, ranks) for n in (below, below + 1)[: 2 if rest else 1] if n > 0)
    return tuple(sorted(found, key=lambda s: (abs(s.train - train), s.train)))


def exact(train: int, micro: int, ranks: int) -> tuple[Setting, ...]:
    """Yield the settings that keep the global batch with a micro batch no larger than `micro`, the largest first."""
    share, rest = divmod(train, ranks)
    fitting = (Setting(m, share // m, ranks) for m in range(min(micro, share), 0, -1) if share % m == 0)
    return () if rest else tuple(islice(fitting, MAX_SETTINGS))


def batch_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield which factor is surprising, and the nearest numbers that fit, as flags of the framework at hand."""
    train, ranks, accumulation = (whole(fields, n) for n in ("train_batch", "world_size", "accumulation"))
    printed = whole(fields, "micro_batch")
    micro = printed or facts.number("micro_batch_size")
    if train is None or train > MAX_BATCH:
        return {}
    if not ranks or not micro:
        divisor = ranks or whole(fields, "divisor") or printed
        if not divisor or train % divisor == 0:
            return {}
        near = [n for n in (train // divisor * divisor, (train // divisor + 1) * divisor) if n > 0]
        divisors = [n for n in range(min(train, divisor, MAX_BATCH >> 4), 1, -1) if train % n == 0]
        return {"train": train, "divides_by": divisor, "multiples": near, "divisors": divisors[:MAX_SETTINGS]}
    found = {"train": train, **_settings(train, micro, ranks, facts)}
    if not accumulation or not printed:
        return {**found, "micro": micro, "ranks": ranks}
    stated, unit = Setting(micro, accumulation, ranks), micro * ranks
    return {**found, "stated": stated, "unit": unit if train % unit else None, **_surprise(train, stated, facts)}


def _surprise(train: int, stated: Setting, facts: Facts) -> dict[str, Any]:
    """How many processes were asked for, or would fit, where their number is what does not fit."""
    # roles of an RLHF job are worlds of their own
    asked = _role("actor", facts) or facts.number("processes_asked") or next(iter(_launch(facts)), None)
    asked = asked.gpus if isinstance(asked, Demand) else asked
    if asked and asked != stated.ranks:
        return {"asked_processes": asked}
    meant, rest = divmod(train, stated.micro * stated.accumulation)
    fits = not rest and meant not in (0, stated.ranks)
    return {"fitting_processes": Setting(stated.micro, stated.accumulation, meant)} if fits else {}


def _settings(train: int, micro: int, ranks: int, facts: Facts) -> dict[str, Any]:
    near, same = nearest_with_micro(train, micro, ranks), exact(train, micro, ranks)
    found: dict[str, Any] = {"nearest": sorted(near, key=lambda s: s.train), "nearest_flags": flags_for(near[0], facts)}
    found["nearest_fits"] = near[0].train == train
    if near[0].train != train and near[0].accumulation % 2 == 0:  # the much smaller choice that people reach for
        found["half"] = Setting(micro, near[0].accumulation // 2, ranks)
    if same and same[0] != near[0]:
        found |= {"same_batch": same, "same_batch_flags": flags_for(same[0], facts)}
    units = train // micro if train % micro == 0 else 0  # for another number of ranks, the nearest first
    sizes = (n for n in range(1, min(units, 2 * ranks + 8) + 1) if units % n == 0 and n != ranks)
    nearest = sorted(sizes, key=lambda n: (abs(n - ranks), -n))[:MAX_SETTINGS]
    if others := [Setting(micro, units // n, n) for n in nearest if n > 1 or ranks == 1]:
        found |= {"other_ranks": others, "other_ranks_flags": flags_for(others[0], facts)}
    return found


def flags_for(setting: Setting, facts: Facts) -> Flags:
    """Yield the setting as flags or keys of the framework at hand; DeepSpeed's keys where none is known."""
    name = str(facts.get("framework") or "")
    if name == "openrlhf" and "train.batch_size" in str(facts.get("command") or ""):
        name = "openrlhf-dotted"
    template = written("batch", name) or written("batch", "deepspeed")
    return Flags(template.format(train=setting.train, micro=setting.micro, accumulation=setting.accumulation))


def written(what: str, *names: str | None) -> str:
    """Yield how the first of these frameworks that has a word for it is told `what`; empty where none has."""
    rows = (NAMES["flags"].get(name or "", {}) for name in names)
    return next((str(row[what]) for row in rows if what in row), "")


MOST_GPUS = 1024  # of a node; a line that states more tells of none
ROLES = ("actor", "critic", "ref", "reward")


@record
class Demand:
    """GPUs that a role asks for."""

    role: str
    nodes: int
    per_node: int

    @property
    def gpus(self) -> int:
        """The product."""
        return self.nodes * self.per_node

    def __str__(self) -> str:
        return f"{self.nodes} x {self.per_node}" if self.role == "launch" else f"{self.role} {self.nodes} x {self.per_node}"


def demands(facts: Facts) -> tuple[Demand, ...]:
    """Yield what each role asks for; colocated roles share and are counted once."""
    found = [d for role in ROLES if (d := _role(role, facts))]
    if facts.get("colocate_all") is True:
        found = sorted(found, key=lambda d: -d.gpus)[:1]
    else:
        shared = {"ref": "colocate_actor_ref", "reward": "colocate_critic_reward"}
        found = [d for d in found if facts.get(shared.get(d.role, "")) is not True]
        engines = facts.number("vllm_engines")
        if engines:
            found.append(Demand("vllm", engines, facts.number("vllm_tensor_parallel") or 1))
    return tuple(found) or _launch(facts)


def _role(role: str, facts: Facts) -> Demand | None:
    nodes, per_node = facts.number(f"{role}_nodes"), facts.number(f"{role}_gpus_per_node")
    return Demand(role, nodes, per_node) if nodes and per_node else None


def _launch(facts: Facts) -> tuple[Demand, ...]:
    per_node = next((k.value for k in facts.all("gpus_per_node") if k.surety >= 2), None)
    if isinstance(per_node, int) and per_node > 0:
        return (Demand("launch", facts.number("nnodes") or 1, per_node),)
    return ()


def _visible(facts: Facts) -> int | None:
    """How many GPUs CUDA_VISIBLE_DEVICES leaves to a process."""
    text = facts.get("cuda_visible_devices")
    names = [part for part in str(text).split(",") if part.strip() not in ("", "NoDevFiles", "-1")]
    return None if text is None else len(names)


def _present(facts: Facts) -> int | None:
    return facts.number("ray_gpus") or (_visible(facts) or 0) * (facts.number("nnodes") or 1) or None


def resource_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `gpus_asked` (as a sum), `gpus_present`, what would fit, and a process without a visible device."""
    asked, found = demands(facts), dict[str, Any]()
    visible, local = _visible(facts), facts.number("gpus_per_node")
    if visible is not None and local and visible < local <= MOST_GPUS:  # one addresses a device beyond those it may see
        all_devices = Flags(",".join(map(str, range(local))))
        found = {"visible_gpus": visible, "local_processes": local, "all_devices": all_devices}
    present = whole(fields, "available_gpus", "available", "present", "existing") or _present(facts)
    wanted = sum(d.gpus for d in asked) or whole(fields, "wanted_gpus", "wanted", "asked")
    if wanted is None or present is None or wanted == present:
        return found
    found |= {"gpus_asked": _sum(asked) if asked else str(wanted), "gpus_present": present}
    if wanted < present:
        return {**found, "idle_gpus": present - wanted}
    found["missing_gpus"] = wanted - present
    if len(asked) == 1 and present >= asked[0].nodes:
        return {**found, **_fitting(Demand(asked[0].role, asked[0].nodes, present // asked[0].nodes), facts)}
    largest = max((d.gpus for d in asked), default=0)
    return {**found, "colocated_gpus": largest if len(asked) > 1 and largest <= present else None}


def _sum(asked: tuple[Demand, ...]) -> str:
    return f"{' + '.join(map(str, asked))} = {sum(d.gpus for d in asked)}"


def _fitting(smaller: Demand, facts: Facts) -> dict[str, Any]:
    """As many nodes with fewer GPUs each, and the global batch that fits these; for OpenRLHF both as flags."""
    train, micro = facts.number("train_batch_size"), facts.number("micro_batch_size")
    is_world = smaller.role in ("actor", "launch")
    near = nearest_with_micro(train, micro, smaller.gpus)[0] if train and micro and is_world else None
    batch = near if near and near.train != train else None
    found = {"fitting": smaller, "fitting_batch": batch}
    if facts.get("framework") != "openrlhf" or smaller.role not in ROLES:
        return found
    flags = f"--{smaller.role}_num_nodes {smaller.nodes} --{smaller.role}_num_gpus_per_node {smaller.per_node}"
    return {**found, "fitting_flags": Flags(f"{flags} --train_batch_size {batch.train}" if batch else flags)}


def idle_notices(facts: Facts) -> tuple[Remark, ...]:
    """Yield a notice where the job asks for fewer GPUs than there are: nothing failed, some are paid for and idle."""
    asked, present = demands(facts), _present(facts)
    wanted = sum(d.gpus for d in asked)
    if not asked or present is None or not 0 < wanted < present:
        return ()
    best = next(iter(facts.all("ray_gpus") or facts.all("cuda_visible_devices")), None)
    shown = (Evidence(best.stated[0].source, best.stated[0].line, text=str(best.value)),) if best else ()
    text = Sentence("advice.idle-gpus", {"asked": _sum(asked), "present": present, "idle": present - wanted})
    return (Remark(Sentence("advice.idle-gpus-topic"), text, shown, (Step("fix", Sentence("advice.use-idle-gpus")),)),)
