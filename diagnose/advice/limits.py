"""GPU memory and timeouts: what used up a limit, and the setting that fits.

Out of memory: PyTorch (`c10/cuda/CUDACachingAllocator.cpp`) prints capacity = free + this process + other processes, and
this process = allocated by tensors + reserved but unallocated (cached blocks that did not fit the request) + the rest (CUDA
context, NCCL buffers, cuBLAS workspaces).
Timeouts: which setting governs the group that fired (`flags` of `names.yaml`), and a value that fits.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping
from typing import Any

from ..lines.lazy_pattern import lazy
from .fact_store import Facts
from .settings import NAMES, written
from .sizes import Setting, flags_for
from .statement import Flags

CONTEXT = 2.0 * (1 << 30)  # CUDA context, NCCL and cuBLAS buffers of one process: 0.5 to 2 GiB
CROWDED_SHARE = 0.1  # of the GPU in other hands, or beside PyTorch in the same process
FRAGMENTED_SHARE = 0.02  # of the GPU: less is what is left of any cache, and its return would last a step
ONE_LARGE_SHARE = 0.25  # one request of a quarter of the GPU is one tensor: logits, attention scores, a gathered layer
_SIZE = lazy(r"\s{0,4}(\d{1,15}(?:\.\d{0,15})?)\s{0,4}(?:([kKMGTP]?)i?[Bb])?")


def size_bytes(value: object, unit: str = "M") -> float | None:
    """Yield a size such as `79.10 GiB` in bytes; a bare number is of the binary `unit`."""
    match = _SIZE.match(str(value)) if value is not None else None
    power = "KMGTP".find((unit if match[2] is None else match[2]).upper() or "-") + 1 if match else 0
    return float(match[1]) * 1024.0**power if match else None


def memory_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `taken_by`, the sizes, the process that holds most of what is not ours, and flags that need less."""
    names = ("wanted", "capacity", "free", "allocated", "held", "in_use", "reserved_mib")
    wanted, capacity, free, allocated, held, in_use, reserved = (size_bytes(fields.get(name)) for name in names)
    if wanted is None:
        return {}
    cached = max(held - allocated, 0.0) if held is not None and allocated is not None else None
    idle = next((x for x in (reserved, size_bytes(fields.get("reserved_gib"), "G"), cached) if x is not None), None)
    own = (allocated or 0.0) + (idle or 0.0)
    # Of other processes, as a sum: the message's list of them may hold this one too.
    is_known = capacity is not None and free is not None and allocated is not None
    others = max((capacity or 0) - (free or 0) - max(in_use or 0, own + CONTEXT), 0.0) if is_known else None
    beside = in_use - own - CONTEXT if in_use is not None and allocated is not None else None
    kind = _taken_by(wanted, capacity, idle, others, beside)
    if fields.get("is_inference") and kind != "another-process":
        return {}  # there is no micro batch; the cause has the engine's own levers
    # a container's rank is in the message's list by an alien id
    listed = ((fields.get(f"{name}_pid"), size_bytes(fields.get(f"{name}_used"))) for name in ("other", "next"))
    strangers = [(pid, used) for pid, used in listed if pid and used and abs(used - own) >= CONTEXT]
    return {
        "taken_by": kind,
        "asked_bytes": wanted,
        "gpu_bytes": capacity,
        "own_bytes": allocated,
        "idle_bytes": idle,
        "process_bytes": in_use,
        "others_bytes": max(others or 0.0, sum(used for _, used in strangers)),
        "stranger_pid": strangers[0][0] if strangers else None,
        "asked_share": round(100 * wanted / capacity) if capacity else None,
        "grows_segments": "expandable_segments:True" in str(facts.get("cuda_alloc_conf") or ""),
        "smaller_flags": _smaller(facts),
        "recompute_flags": Flags(written("recompute", facts.get("framework"), "torch")),
    }


def _taken_by(wanted: float, capacity: float | None, idle: float | None, others: float | None, beside: float | None) -> str:
    for who, taken in (("another-process", others), ("another-library", beside)):
        if taken is not None and capacity and taken > CROWDED_SHARE * capacity:
            return who
    if idle is not None and idle >= wanted and idle >= FRAGMENTED_SHARE * (capacity or 0):
        return "fragmentation"
    return "one-tensor" if capacity and wanted > ONE_LARGE_SHARE * capacity else "tensors"


def _smaller(facts: Facts) -> Flags | None:
    """Half the micro batch at the same global batch, as flags."""
    micro, steps, ranks, train = (
        facts.number(n) for n in ("micro_batch_size", "gradient_accumulation", "world_size", "train_batch_size")
    )
    if not micro or micro % 2:
        return None
    if derived := written("micro", facts.get("framework")):
        return Flags(derived.format(micro=micro // 2))
    if ranks and not steps and train and train % (micro * ranks) == 0:
        steps = train // (micro * ranks)
    return flags_for(Setting(micro // 2, steps * 2, ranks), facts) if ranks and steps else None


STEP_S = 1800  # proposals are whole half hours: nobody tunes a timeout by the minute
SLACK = 2.0  # a slow save of yesterday is no bound for tomorrow's
MIN_PROPOSAL_S = 3600
TRAINER_DEFAULT_S = 1800
OTHER_LIBRARIES = ("oneccl", "horovod", "jax", "tensorflow", "mpi")  # none of these settings governs them


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


def timeout_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `limit_s` in force, `work_s` that the slow work took, `new_limit_s`, and how to write that."""
    printed_s = (_number(fields.get("timeout_ms")) or 0.0) / 1000
    limits = (printed_s, *(_number(facts.get(n)) for n in ("nccl_timeout_s", "ddp_timeout_s")))
    present = next(filter(None, limits), None)  # as the line states it, else as configured
    longest = facts.get(NAMES["longest"].get(str(fields.get("activity") or "saving"), ""))  # that the logs show whole
    times = (_number(x) for x in (fields.get("seconds"), fields.get("lasted_s"), longest))
    worked = max((s for s in times if s is not None), default=None)
    seconds, path = propose_s(present, worked), str(fields.get("path") or "")
    setting = setting_for(seconds, facts)
    return {
        "limit_s": present,
        "work_s": worked,
        "new_limit_s": seconds,
        "new_limit": Flags(setting) if setting else None,
        "is_default": present == TRAINER_DEFAULT_S and (setting or "").startswith("--ddp_timeout"),
        "folder": posixpath.dirname(path) or path or None,
    }


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
