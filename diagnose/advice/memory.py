"""GPU memory: from the numbers of an out-of-memory message, what took the memory, and the lever that fits.

The message's numbers (PyTorch, `c10/cuda/CUDACachingAllocator.cpp`): capacity = free + this process + other processes;
this process = allocated by tensors + reserved but unallocated (cached blocks that did not fit the request) + the rest
(CUDA context, NCCL buffers, cuBLAS workspaces).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .batch import Flags, Setting, flags_for, written
from .fact_store import Facts

CONTEXT_MIB = 2048.0  # CUDA context, NCCL and cuBLAS buffers of one process: 0.5 to 2 GiB
CROWDED_SHARE = 0.1  # of the GPU in other hands
ONE_LARGE_SHARE = 0.25  # one request of a quarter of the GPU is one tensor: logits, attention scores, a gathered layer
MIB = 1 << 20
_SIZE = lazy(r"\s{0,4}([\d.]{1,20})\s{0,4}([KMGTP]?i?[Bb]|bytes)?")
_UNITS = {"b": 0, "bytes": 0, "kib": 1, "kb": 1, "mib": 2, "mb": 2, "gib": 3, "gb": 3, "tib": 4, "tb": 4}


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


def memory_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `taken_by`, the sizes in bytes, the process that holds most of what is not ours, and flags that need less."""
    found = usage(fields)
    if found.wanted is None:
        return {}
    kind = found.dominated_by()
    if fields.get("is_inference") and kind != "another-process":
        return {}  # there is no micro batch; the cause has the engine's own levers
    strangers = _strangers(fields, found)
    held = max(found.others or 0.0, sum(used for _, used in strangers))
    return {
        "taken_by": kind,
        "asked_bytes": found.wanted * MIB,
        "gpu_bytes": _bytes(found.capacity),
        "own_bytes": _bytes(found.allocated),
        "idle_bytes": _bytes(found.idle),
        "others_bytes": held * MIB,
        "stranger_pid": strangers[0][0] if strangers else None,
        "asked_share": round(100 * found.wanted / found.capacity) if found.capacity else None,
        "grows_segments": "expandable_segments:True" in str(facts.get("cuda_alloc_conf") or ""),
        "smaller_flags": _smaller(facts),
        "recompute_flags": Flags(written("recompute", facts.get("framework"), "torch")),
    }


def _bytes(mib: float | None) -> float | None:
    return None if mib is None else mib * MIB


def _strangers(fields: Mapping[str, Any], found: Usage) -> list[tuple[Any, float]]:
    """The other processes in the message's list, with the MiB that they hold."""
    return [
        (fields[f"{n}_pid"], used)
        for n in ("other", "next")
        if fields.get(f"{n}_pid") and (used := size_mib(fields.get(f"{n}_used"))) and not _is_itself(used, found)
    ]


def _is_itself(used: float, found: Usage) -> bool:
    """In a container the rank itself stands in the list of other processes, under an alien id."""
    return abs(used - (found.allocated or 0.0) - (found.idle or 0.0)) < CONTEXT_MIB


def _smaller(facts: Facts) -> Flags | None:
    """Half the micro batch at the same global batch, as flags."""
    micro, steps, ranks = (facts.number(n) for n in ("micro_batch_size", "gradient_accumulation", "world_size"))
    train = facts.number("train_batch_size")
    if not micro or micro % 2:
        return None
    derived = written("micro", facts.get("framework"))
    if derived:
        return Flags(derived.format(micro=micro // 2))
    if not ranks:
        return None
    if not steps and train and train % (micro * ranks) == 0:
        steps = train // (micro * ranks)
    return flags_for(Setting(micro // 2, steps * 2, ranks), facts) if steps else None
