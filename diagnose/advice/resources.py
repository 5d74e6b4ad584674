"""GPUs and nodes: what the job asks for against what there is. Pure sums over flags and counted devices.

OpenRLHF (`cli/train_ppo_ray.py`): each role takes nodes x GPUs of its own unless colocated; vLLM takes engines x tensor
parallel size. Other launchers: processes per node x nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lines.record import record
from .batch import nearest_with_micro
from .batch_flags import Setting
from .fact_store import Facts
from .statement import Evidence, Notice, RemedyStep
from .step import Advice, whole

MOST_GPUS = 1024  # of a node; a line that states more tells of none
COUNT_GPUS = "ray status; ray list nodes --detail | grep -E 'node_ip|GPU'; nvidia-smi -L   # on each node"
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


def resource_advice(_cause: str, fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """Yield the sum that does not come out, and the flags to change."""
    asked, present = demands(facts), _present(fields, facts)
    wanted = sum(d.gpus for d in asked) or whole(fields, "wanted_gpus", "wanted", "asked")
    if wanted is None or present is None or wanted == present:
        return _device_advice(facts)
    sum_text = _sum(asked) if asked else str(wanted)
    if wanted > present:
        text = f"{sum_text} GPUs are asked for, {present} exist: {wanted - present} too many. {_less(asked, present)}"
        smaller = _smaller(asked, present)
        steps = [Advice("now", text + _batch_follows(smaller, facts), _flags(smaller, facts), replaces=True)]
        steps.append(Advice("now", "Or find the missing ones: which node offers fewer than the others?", COUNT_GPUS))
        return (*steps, *_device_advice(facts))
    text = f"{sum_text} GPUs are asked for, {present} exist: {present - wanted} stay idle."
    return (Advice("fix", text), *_device_advice(facts))


def _present(fields: Mapping[str, Any], facts: Facts) -> int | None:
    found = whole(fields, "available_gpus", "available", "present", "existing")
    if found:
        return found
    total = facts.number("ray_gpus")
    if total:
        return total
    return _visible_of_all(facts)


def _visible_of_all(facts: Facts) -> int | None:
    visible = visible_devices(facts)
    return visible * (facts.number("nnodes") or 1) if visible else None


def _sum(asked: tuple[Demand, ...]) -> str:
    parts = [f"{d.role} {d.nodes} x {d.per_node}" if d.role != "launch" else f"{d.nodes} x {d.per_node}" for d in asked]
    total = sum(d.gpus for d in asked)
    return f"{' + '.join(parts)} = {total}"


def _smaller(asked: tuple[Demand, ...], present: int) -> Demand | None:
    """What would fit in the place of one demand: as many nodes, with fewer GPUs each."""
    if len(asked) == 1 and present >= asked[0].nodes > 0:
        return Demand(asked[0].role, asked[0].nodes, present // asked[0].nodes)
    return None


def _less(asked: tuple[Demand, ...], present: int) -> str:
    """What would fit: smaller nodes for a launch, colocation for roles."""
    smaller = _smaller(asked, present)
    if smaller:
        return f"{smaller.nodes} nodes x {smaller.per_node} GPUs = {smaller.gpus} would fit."
    largest = max((d.gpus for d in asked), default=0)
    if len(asked) > 1 and largest <= present:
        return f"Colocating the roles would need {largest} (--colocate_all_models); or give each role fewer GPUs."
    return "Ask for fewer, or add the missing ones."


def _batch_follows(smaller: Demand | None, facts: Facts) -> str:
    """The global batch that fits the smaller world, where the present one does not."""
    near = _batch_of(smaller, facts)
    train, micro = facts.number("train_batch_size"), facts.number("micro_batch_size")
    if smaller is None or near is None or near.train == train:
        return ""
    return f" The batch has to follow: {train} is no multiple of {micro} x {smaller.gpus}; {near} fits."


def _batch_of(smaller: Demand | None, facts: Facts) -> Setting | None:
    train, micro = facts.number("train_batch_size"), facts.number("micro_batch_size")
    if smaller is None or not train or not micro or smaller.role not in ("actor", "launch"):
        return None
    return nearest_with_micro(train, micro, smaller.gpus)[0]


def _flags(smaller: Demand | None, facts: Facts) -> str | None:
    """The smaller demand as flags, for the framework of which we know them."""
    if smaller is None or facts.get("framework") != "openrlhf" or smaller.role not in ROLES:
        return None
    flags = f"--{smaller.role}_num_nodes {smaller.nodes} --{smaller.role}_num_gpus_per_node {smaller.per_node}"
    near = _batch_of(smaller, facts)
    return f"{flags} --train_batch_size {near.train}" if near else flags


def _device_advice(facts: Facts) -> tuple[Advice, ...]:
    """A process that addresses a device beyond those it may see."""
    visible = visible_devices(facts)
    local = facts.number("gpus_per_node")
    if visible is None or not local or not visible < local <= MOST_GPUS:
        return ()
    text = (
        f"CUDA_VISIBLE_DEVICES={facts.get('cuda_visible_devices')} leaves {visible} device{'s' if visible != 1 else ''} "
        f"to {local} processes per node: the one with local rank {visible} addresses a device that it cannot see."
    )
    return (Advice("now", text, f"export CUDA_VISIBLE_DEVICES={','.join(map(str, range(local)))}", replaces=True),)


def idle_notices(facts: Facts) -> tuple[Notice, ...]:
    """Yield a notice where the job asks for fewer GPUs than there are: nothing failed, some are paid for and idle."""
    asked, present = demands(facts), facts.number("ray_gpus")
    if present is None:
        present = _visible_of_all(facts)
    wanted = sum(d.gpus for d in asked)
    if not asked or present is None or not 0 < wanted < present:
        return ()
    best = next(iter(facts.all("ray_gpus") or facts.all("cuda_visible_devices")), None)
    evidence = (Evidence(best.stated[0].source, best.stated[0].line, text=str(best.value)),) if best else ()
    text = f"{_sum(asked)} GPUs are asked for, {present} exist: {present - wanted} stay idle."
    return (Notice("idle GPUs", text, evidence, (RemedyStep("fix", "Give the idle GPUs to a role, or ask for fewer."),)),)
