"""GPU memory and timeouts: what used up a limit, and the setting that fits.

Out of memory: PyTorch (`c10/cuda/CUDACachingAllocator.cpp`) prints capacity = free + this process + other processes, and
this process = allocated by tensors + reserved but unallocated (cached blocks that did not fit the request) + the rest (CUDA
context, NCCL buffers, cuBLAS workspaces).
Timeouts: which setting governs the group that fired, a value that fits, and when raising it only hides. Defaults: PyTorch's
NCCL groups 600 s since 2.2 (pull request 110947), 1800 s before, gloo 1800 s; TrainingArguments `ddp_timeout` 1800 s;
DeepSpeed `DEEPSPEED_TIMEOUT` 30 (minutes); Megatron `--distributed-timeout-minutes` 10; verl
`actor_rollout_ref.nccl_timeout` 600 s; Lightning's DDP and FSDP strategies take PyTorch's; HCCL_EXEC_TIMEOUT 1836 s.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping
from typing import Any

from ..lines.lazy_pattern import lazy
from ..lines.record import record
from .fact_store import Facts
from .settings import LONGEST
from .sizes import Flags, Setting, flags_for, written

# --- GPU memory ----------------------------------------------------------------------------------------------------------

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


# --- timeouts ------------------------------------------------------------------------------------------------------------

STEP_S = 1800  # proposals are whole half hours: nobody tunes a timeout by the minute
SLACK = 2.0  # a slow save of yesterday is no bound for tomorrow's
MIN_PROPOSAL_S = 3600
TRAINER_DEFAULT_S = 1800
OTHER_LIBRARIES = ("oneccl", "horovod", "jax", "tensorflow", "mpi")  # none of these settings governs them


def present_timeout_s(fields: Mapping[str, Any], facts: Facts) -> float | None:
    """Yield the timeout of the group that fired, in seconds: as the line states it, else as configured."""
    stated = fields.get("timeout_ms")
    if isinstance(stated, (int, float)) and stated > 0:
        return float(stated) / 1000
    for name in ("nccl_timeout_s", "ddp_timeout_s"):
        value = facts.get(name)
        if isinstance(value, (int, float)) and value > 0:
            return float(value)
    return None


def propose_s(present_s: float | None, observed_s: float | None) -> int:
    """Yield a timeout in seconds: twice what was seen to be needed or was not enough, in whole half hours."""
    needed = max(SLACK * (observed_s or 0.0), SLACK * (present_s or 0.0), float(MIN_PROPOSAL_S))
    return math.ceil(needed / STEP_S) * STEP_S


def setting_for(seconds: int, facts: Facts) -> str | None:
    """Yield how to write a timeout of `seconds` for the library and framework at hand; None where we know of none."""
    if facts.get("library") in OTHER_LIBRARIES:
        return None
    template = written("timeout", facts.get("library"), facts.get("framework"), facts.get("launcher"), "torch")
    return template.format(seconds=seconds, minutes=math.ceil(seconds / 60))


def observed_s(fields: Mapping[str, Any], facts: Facts, activity: str = "saving") -> float | None:
    """Yield the longest such work (a save, an evaluation) that the logs show whole, in seconds."""
    found = [fields.get("seconds"), fields.get("lasted_s"), facts.get(LONGEST.get(activity, ""))]
    return max((float(x) for x in found if isinstance(x, (int, float)) and not isinstance(x, bool)), default=None)


def timeout_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `limit_s` in force, `work_s` that the slow work took, `new_limit_s`, and how to write that."""
    present, activity = present_timeout_s(fields, facts), str(fields.get("activity") or "saving")
    worked = observed_s(fields, facts, activity)
    seconds = propose_s(present, worked)
    setting = setting_for(seconds, facts)
    path = str(fields.get("path") or "")
    return {
        "limit_s": present,
        "work_s": worked,
        "new_limit_s": seconds,
        "new_limit": Flags(setting) if setting else None,
        "is_default": present == TRAINER_DEFAULT_S and (setting or "").startswith("--ddp_timeout"),
        "folder": posixpath.dirname(path) or path or None,
    }
