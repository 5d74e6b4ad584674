"""GPUs and nodes: what the job asks for against what there is. Pure sums over flags and counted devices.

OpenRLHF (`cli/train_ppo_ray.py`): each role takes nodes x GPUs of its own unless colocated; vLLM takes engines x tensor
parallel size. Other launchers: processes per node x nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..catalogue.sentences import Sentence
from ..lines.record import record
from .batch import Flags, Setting, nearest_with_micro, whole
from .fact_store import Facts
from .statement import Evidence, Remark, Step

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


def visible_devices(facts: Facts) -> int | None:
    """Yield how many GPUs CUDA_VISIBLE_DEVICES leaves to a process."""
    text = facts.get("cuda_visible_devices")
    if text is None:
        return None
    names = [part for part in str(text).split(",") if part.strip()]
    return len(names) if names and str(text).strip() not in ("", "NoDevFiles", "-1") else 0


def resource_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `gpus_asked` (as a sum), `gpus_present`, what would fit, and a process without a visible device."""
    asked, found = demands(facts), _hidden_device(facts)
    present = whole(fields, "available_gpus", "available", "present", "existing") or facts.number("ray_gpus")
    present = present or _visible_of_all(facts)
    wanted = sum(d.gpus for d in asked) or whole(fields, "wanted_gpus", "wanted", "asked")
    if wanted is None or present is None or wanted == present:
        return found
    found |= {"gpus_asked": _sum(asked) if asked else str(wanted), "gpus_present": present}
    if wanted < present:
        return {**found, "idle_gpus": present - wanted}
    smaller = _smaller(asked, present)
    largest = max((d.gpus for d in asked), default=0)
    return {
        **found,
        "missing_gpus": wanted - present,
        "fitting": smaller,
        "colocated_gpus": largest if len(asked) > 1 and largest <= present and smaller is None else None,
        "fitting_batch": _batch_of(smaller, facts),
        "fitting_flags": _flags(smaller, facts),
    }


def _visible_of_all(facts: Facts) -> int | None:
    visible = visible_devices(facts)
    return visible * (facts.number("nnodes") or 1) if visible else None


def _sum(asked: tuple[Demand, ...]) -> str:
    return f"{' + '.join(map(str, asked))} = {sum(d.gpus for d in asked)}"


def _smaller(asked: tuple[Demand, ...], present: int) -> Demand | None:
    """What would fit in the place of one demand: as many nodes, with fewer GPUs each."""
    if len(asked) == 1 and present >= asked[0].nodes > 0:
        return Demand(asked[0].role, asked[0].nodes, present // asked[0].nodes)
    return None


def _batch_of(smaller: Demand | None, facts: Facts) -> Setting | None:
    """The global batch that fits the smaller world, where the present one does not."""
    train, micro = facts.number("train_batch_size"), facts.number("micro_batch_size")
    if smaller is None or not train or not micro or smaller.role not in ("actor", "launch"):
        return None
    near = nearest_with_micro(train, micro, smaller.gpus)[0]
    return near if near.train != train else None


def _flags(smaller: Demand | None, facts: Facts) -> Flags | None:
    """The smaller demand as flags, for the framework of which we know them."""
    if smaller is None or facts.get("framework") != "openrlhf" or smaller.role not in ROLES:
        return None
    flags = f"--{smaller.role}_num_nodes {smaller.nodes} --{smaller.role}_num_gpus_per_node {smaller.per_node}"
    near = _batch_of(smaller, facts)
    return Flags(f"{flags} --train_batch_size {near.train}" if near else flags)


def _hidden_device(facts: Facts) -> dict[str, Any]:
    """A process that addresses a device beyond those it may see."""
    visible, local = visible_devices(facts), facts.number("gpus_per_node")
    if visible is None or not local or not visible < local <= MOST_GPUS:
        return {}
    return {"visible_gpus": visible, "local_processes": local, "all_devices": Flags(",".join(map(str, range(local))))}


def idle_notices(facts: Facts) -> tuple[Remark, ...]:
    """Yield a notice where the job asks for fewer GPUs than there are: nothing failed, some are paid for and idle."""
    asked, present = demands(facts), facts.number("ray_gpus")
    if present is None:
        present = _visible_of_all(facts)
    wanted = sum(d.gpus for d in asked)
    if not asked or present is None or not 0 < wanted < present:
        return ()
    best = next(iter(facts.all("ray_gpus") or facts.all("cuda_visible_devices")), None)
    shown = (Evidence(best.stated[0].source, best.stated[0].line, text=str(best.value)),) if best else ()
    text = Sentence("advice.idle-gpus", {"asked": _sum(asked), "present": present, "idle": present - wanted})
    return (Remark(Sentence("advice.idle-gpus-topic"), text, shown, (Step("fix", Sentence("advice.use-idle-gpus")),)),)
