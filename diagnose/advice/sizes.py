"""Batch sizes and GPUs: what the job asks for against what there is, as sums over flags and counted devices.

`train = micro x accumulation x data-parallel size`, of which the last is counted: it is the number of processes that
really started, so `64 != 4 * 8 * 1` means that one process started.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..catalogue.sentences import Sentence
from ..lines.record import record
from .fact_store import Facts
from .settings import written
from .statement import Evidence, Flags, Remark, Step

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
        return {"train": train, "divides_by": divisor, "multiples": near}
    found = {"train": train, "micro": micro, "ranks": ranks, **_fitting_batches(train, micro, ranks, facts)}
    if not accumulation or not printed:
        return found
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


def _fitting_batches(train: int, micro: int, ranks: int, facts: Facts) -> dict[str, Any]:
    """The nearest batches with this micro batch, and the same batch with a smaller one or on other numbers of ranks."""
    near, share = nearest_with_micro(train, micro, ranks), train // ranks if train % ranks == 0 else 0
    same = [Setting(m, share // m, ranks) for m in range(min(micro, share), 0, -1) if share % m == 0][:MAX_SETTINGS]
    units = train // micro if train % micro == 0 else 0  # for another number of ranks, the nearest first
    sizes = (n for n in range(2, min(units, 2 * ranks + 8) + 1) if units % n == 0 and n != ranks)
    others = [Setting(micro, units // n, n) for n in sorted(sizes, key=lambda n: (abs(n - ranks), -n))[:MAX_SETTINGS]]
    found = {"nearest": sorted(near, key=lambda s: s.train), "nearest_fits": near[0].train == train}
    found |= {"same_batch": same} if same[:1] != [near[0]] else {}
    firsts = {"nearest_flags": near, "same_batch_flags": same, "other_ranks_flags": others}
    return {**found, "other_ranks": others, **{name: flags_for(s[0], facts) for name, s in firsts.items() if s}}


def flags_for(setting: Setting, facts: Facts) -> Flags:
    """Yield the setting as flags or keys of the framework at hand; DeepSpeed's keys where none is known."""
    name = str(facts.get("framework") or "")
    if name == "openrlhf" and "train.batch_size" in str(facts.get("command") or ""):
        name = "openrlhf-dotted"
    template = written("batch", name) or written("batch", "deepspeed")
    return Flags(template.format(train=setting.train, micro=setting.micro, accumulation=setting.accumulation))


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
        return tuple(sorted(found, key=lambda d: -d.gpus)[:1]) or _launch(facts)
    shared = {"ref": "colocate_actor_ref", "reward": "colocate_critic_reward"}
    found = [d for d in found if facts.get(shared.get(d.role, "")) is not True]
    if engines := facts.number("vllm_engines"):
        found.append(Demand("vllm", engines, facts.number("vllm_tensor_parallel") or 1))
    return tuple(found) or _launch(facts)


def _role(role: str, facts: Facts) -> Demand | None:
    nodes, per_node = facts.number(f"{role}_nodes"), facts.number(f"{role}_gpus_per_node")
    return Demand(role, nodes, per_node) if nodes and per_node else None


def _launch(facts: Facts) -> tuple[Demand, ...]:
    per_node = next((k.value for k in facts.all("gpus_per_node") if k.surety >= 2), None)
    is_number = isinstance(per_node, int) and per_node > 0
    return (Demand("launch", facts.number("nnodes") or 1, int(per_node)),) if is_number and per_node else ()


def _present(facts: Facts) -> int | None:
    """How many GPUs the job has: as Ray counts them, or as CUDA_VISIBLE_DEVICES leaves them to each node."""
    names = str(facts.get("cuda_visible_devices", "")).split(",")
    visible = [name for name in names if name.strip() not in ("", "NoDevFiles", "-1")]
    return facts.number("ray_gpus") or len(visible) * (facts.number("nnodes") or 1) or None


def resource_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `gpus_asked` (as a sum), `gpus_present`, and what would fit, where more are asked for than there are."""
    asked = demands(facts)
    present = whole(fields, "available_gpus", "available", "present", "existing") or _present(facts)
    wanted = sum(d.gpus for d in asked) or whole(fields, "wanted_gpus", "wanted", "asked")
    if wanted is None or present is None or wanted <= present:
        return {}
    said = {"gpus_asked": _sum(asked) if asked else str(wanted), "gpus_present": present, "missing_gpus": wanted - present}
    if len(asked) != 1 or present < asked[0].nodes:
        return said
    return {**said, **_fitting(Demand(asked[0].role, asked[0].nodes, present // asked[0].nodes), facts)}


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
