"""GPU memory: from the numbers of an out-of-memory message, what took the memory, and the lever that fits.

The message's numbers (PyTorch, `c10/cuda/CUDACachingAllocator.cpp`): capacity = free + this process + other processes;
this process = allocated by tensors + reserved but unallocated (cached blocks that did not fit the request) + the rest
(CUDA context, NCCL buffers, cuBLAS workspaces).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lines.record import record
from .batch_flags import Setting, flags_for
from .fact_store import Facts
from .step import Advice, gib, size_mib

CONTEXT_MIB = 2048.0  # CUDA context, NCCL and cuBLAS buffers of one process: 0.5 to 2 GiB
CROWDED_SHARE = 0.1  # of the GPU in other hands
ONE_LARGE_SHARE = 0.25  # one request of a quarter of the GPU is one tensor: logits, attention scores, a gathered layer
# Frameworks that derive the accumulation: the micro batch is all there is to change.
DERIVES_ACCUMULATION = {
    "openrlhf": "--micro_train_batch_size {}",
    "verl": "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu={}",
    "megatron": "--micro-batch-size {}",
}
ANY_RECOMPUTE = (
    "torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)   # models of Transformers: "
    "model.gradient_checkpointing_enable()"
)
RECOMPUTE = {
    **dict.fromkeys(("transformers", "trl", "open-r1", "llamafactory"), "--gradient_checkpointing true"),
    "axolotl": "gradient_checkpointing: true",
    "openrlhf": "--gradient_checkpointing",
    "verl": "actor_rollout_ref.model.enable_gradient_checkpointing=True",
    "megatron": "--recompute-activations",
}


@record
class Usage:
    """Sizes in MiB; None where the message does not say."""

    wanted: float | None
    capacity: float | None
    allocated: float | None
    idle: float | None  # reserved by PyTorch but unallocated
    others: float | None  # held by other processes

    def dominated_by(self) -> str:
        """Name what took the memory: another-process, fragmentation, one-tensor, or tensors."""
        if self.others is not None and self.capacity and self.others > CROWDED_SHARE * self.capacity:
            return "another-process"
        if self.idle is not None and self.wanted is not None and self.idle >= self.wanted:
            return "fragmentation"
        if self.wanted is not None and self.capacity and self.wanted > ONE_LARGE_SHARE * self.capacity:
            return "one-tensor"
        return "tensors"


def usage(fields: Mapping[str, Any]) -> Usage:
    """Yield the numbers of an out-of-memory message."""
    wanted, capacity, free, allocated = (size_mib(fields.get(n)) for n in ("wanted", "capacity", "free", "allocated"))
    idle = size_mib(fields.get("reserved_mib"))
    gibs = fields.get("reserved_gib")
    if idle is None and isinstance(gibs, (int, float)):
        idle = gibs * 1024
    held = size_mib(fields.get("held"))
    if idle is None and held is not None and allocated is not None:
        idle = max(held - allocated, 0.0)
    return Usage(wanted, capacity, allocated, idle, _others(capacity, free, allocated, idle))


def _others(capacity: float | None, free: float | None, allocated: float | None, idle: float | None) -> float | None:
    """What other processes hold, as a sum: the message's list of them may hold this one too, see `_is_itself`."""
    if capacity is None or free is None or allocated is None:
        return None
    rest = capacity - free - allocated - (idle or 0.0) - CONTEXT_MIB
    return max(rest, 0.0)


def memory_advice(_cause: str, fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """Yield the lever that fits what dominated."""
    found = usage(fields)
    if found.wanted is None:
        return ()
    kind = found.dominated_by()
    if fields.get("of_inference") and kind != "another-process":
        return ()  # there is no micro batch; the cause has the engine's own levers
    steps = {"another-process": _crowded, "fragmentation": _fragmented, "one-tensor": _large, "tensors": _full}[kind]
    return steps(found, fields, facts)


def _crowded(found: Usage, fields: Mapping[str, Any], _facts: Facts) -> tuple[Advice, ...]:
    others = [
        (fields[f"{n}_pid"], used)
        for n in ("other", "next")
        if fields.get(f"{n}_pid") and (used := size_mib(fields.get(f"{n}_used"))) and not _is_itself(used, found)
    ]
    who = f", such as process {others[0][0]}" if others else ""
    held = max(found.others or 0.0, sum(used for _, used in others))
    text = (
        f"Other processes hold about {gib(held)} of this GPU{who}: this rank's own tensors are "
        f"{gib(found.allocated or 0)} of {gib(found.capacity or 0)}. "
        "Find and end what is left over, or share the GPU by plan."
    )
    return (Advice("now", text, "nvidia-smi --query-compute-apps=pid,used_memory,gpu_uuid --format=csv", replaces=True),)


def _is_itself(used: float, found: Usage) -> bool:
    """In a container the rank itself stands in the list of other processes, under an alien id."""
    return abs(used - (found.allocated or 0.0) - (found.idle or 0.0)) < CONTEXT_MIB


def _fragmented(found: Usage, _fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    text = (
        f"{gib(found.idle or 0)} are reserved but unallocated, more than the {gib(found.wanted or 0)} asked for: the "
        "free memory lies in pieces. Let the allocator grow its segments"
    )
    if "expandable_segments:True" in str(facts.get("cuda_alloc_conf") or ""):
        text += " (already on here; then empty the cache between phases, or keep shapes from changing so much)"
        return (Advice("now", text + ".", "torch.cuda.empty_cache()", replaces=True),)
    return (Advice("now", text + ".", "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", replaces=True),)


def _large(found: Usage, _fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    share = 100 * (found.wanted or 0) / (found.capacity or 1)
    text = (
        f"One tensor of {gib(found.wanted or 0)} was asked for, {share:.0f} % of the GPU: as a rule logits (tokens x "
        "vocabulary), attention scores, or a layer gathered whole. Shorten the longest sequence, compute the loss "
        "in chunks, or lower the micro batch."
    )
    return (Advice("now", text, _smaller(facts), replaces=True),)


def _full(found: Usage, _fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    text = (
        f"{_held(found)}. Halve the micro batch and double the accumulation: the result stays the same and the "
        "activations take half."
    )
    steps = [Advice("now", text, _smaller(facts), replaces=True)]
    if facts.get("gradient_checkpointing") is not True:
        how = RECOMPUTE.get(str(facts.get("framework")), ANY_RECOMPUTE)
        steps.append(Advice("fix", "Recompute activations in the backward pass.", how))
    return tuple(steps)


def _held(found: Usage) -> str:
    """What the message says of the memory, and no more: older ones leave the shares out."""
    wanted = f"{gib(found.wanted or 0)} more did not fit"
    if found.allocated is None or found.capacity is None:
        return f"{wanted}, and the message does not say what held the rest"
    held = f"Live tensors hold {gib(found.allocated)} of {gib(found.capacity)}, and {wanted}"
    if found.idle is None:
        return held
    return f"{held}; the cache hides little ({gib(found.idle)}), so allocator settings will not help"


def _smaller(facts: Facts) -> str | None:
    """Half the micro batch at the same global batch, as flags."""
    micro, steps, ranks = (facts.number(n) for n in ("micro_batch_size", "gradient_accumulation", "world_size"))
    train = facts.number("train_batch_size")
    if not micro or micro % 2:
        return None
    derived = DERIVES_ACCUMULATION.get(str(facts.get("framework")))
    if derived:
        return derived.format(micro // 2)
    if not ranks:
        return None
    if not steps and train and train % (micro * ranks) == 0:
        steps = train // (micro * ranks)
    if not steps:
        return None
    return flags_for(Setting(micro // 2, steps * 2, ranks), facts)
