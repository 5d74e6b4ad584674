"""Timeouts: which setting governs the group that fired, a value that fits, and when raising it only hides.

Defaults: PyTorch's NCCL groups 600 s since 2.2 (pull request 110947), 1800 s before, gloo 1800 s; TrainingArguments
`ddp_timeout` 1800 s; DeepSpeed `DEEPSPEED_TIMEOUT` 30 (minutes); Megatron `--distributed-timeout-minutes` 10; verl
`actor_rollout_ref.nccl_timeout` 600 s; Lightning's DDP and FSDP strategies take PyTorch's; HCCL_EXEC_TIMEOUT 1836 s.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping
from typing import Any

from .batch import Flags, written
from .fact_names import LONGEST
from .fact_store import Facts

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
