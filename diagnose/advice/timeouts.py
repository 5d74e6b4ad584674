"""Time-outs: which setting governs the group that fired, a value that fits, and when raising it only hides.

Defaults: PyTorch's NCCL groups 600 s since 2.2 (pull request 110947), 1800 s before, gloo 1800 s; TrainingArguments
`ddp_timeout` 1800 s; DeepSpeed `DEEPSPEED_TIMEOUT` 30 (minutes); Megatron `--distributed-timeout-minutes` 10; verl
`actor_rollout_ref.nccl_timeout` 600 s; Lightning's DDP and FSDP strategies take PyTorch's.
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping
from typing import Any

from ..catalogue.sentences import shell_word
from .fact_names import LONGEST
from .fact_store import Facts
from .step import Advice

STEP_S = 1800  # proposals are whole half hours: nobody tunes a time-out by the minute
SLACK = 2.0  # a slow save of yesterday is no bound for tomorrow's
MIN_PROPOSAL_S = 3600
TRAINER_DEFAULT_S = 1800
HIDING = ("collective.desync", "collective.shape-mismatch")  # no time is long enough
DDP_TIMEOUT = ("TrainingArguments' ddp_timeout", "--ddp_timeout {seconds}")
SETTINGS: dict[str, tuple[str, str]] = {  # framework or launcher -> what governs its groups, how it is written
    **dict.fromkeys(("transformers", "trl", "open-r1", "llamafactory", "axolotl"), DDP_TIMEOUT),
    "megatron": ("Megatron's time-out", "--distributed-timeout-minutes {minutes}"),
    "verl": ("verl's nccl_timeout", "actor_rollout_ref.nccl_timeout={seconds}"),
    "torchtitan": ("torchtitan's comm.train_timeout_seconds", "--comm.train_timeout_seconds {seconds}"),
    "lightning": ("the strategy's timeout", "Trainer(strategy=DDPStrategy(timeout=timedelta(seconds={seconds})))"),
    "openrlhf": (
        "the time-out that OpenRLHF's strategy passes",
        "strategy.setup_distributed(timeout=timedelta(minutes={minutes}))",
    ),
    "accelerate": (
        "Accelerate's process group",
        "Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=timedelta(seconds={seconds}))])",
    ),
    "deepspeed": ("DeepSpeed's time-out (minutes)", "export DEEPSPEED_TIMEOUT={minutes}"),
    "torch": (
        "the process group's timeout",
        "torch.distributed.init_process_group(timeout=timedelta(seconds={seconds}))",
    ),
}


def timeout_advice(cause: str, fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """Yield what to do about the time-out in force: the setting with a solved value, or why not to touch it."""
    present_s = present_timeout_s(fields, facts)
    if cause in HIDING:
        return (Advice("fix", f"Do not raise the time-out{_in_force(present_s)}: these ranks would wait for ever."),)
    if cause == "storage.slow-save":
        return (*_for_slow_save(fields, facts, present_s), *_save_less(fields, facts))
    # A time-out without a late rank has the same step among the cause's own; for a GPU measured to be slow none fired.
    if cause == "collective.straggler" and not fields.get("slow_by"):
        return _for_wait(facts, present_s, fields)
    return ()


def present_timeout_s(fields: Mapping[str, Any], facts: Facts) -> float | None:
    """Yield the time-out of the group that fired, in seconds: as the line states it, else as configured."""
    stated = fields.get("timeout_ms")
    if isinstance(stated, (int, float)) and stated > 0:
        return float(stated) / 1000
    for name in ("nccl_timeout_s", "ddp_timeout_s"):
        value = facts.get(name)
        if isinstance(value, (int, float)) and value > 0:
            return float(value)
    return None


def propose_s(present_s: float | None, observed_s: float | None) -> int:
    """Yield a time-out in seconds: twice what was seen to be needed or was not enough, in whole half hours."""
    needed = max(SLACK * (observed_s or 0.0), SLACK * (present_s or 0.0), float(MIN_PROPOSAL_S))
    return math.ceil(needed / STEP_S) * STEP_S


def setting_for(seconds: int, facts: Facts) -> tuple[str, str]:
    """Yield which setting governs the group (in words) and how to write `seconds` there, for the framework at hand."""
    names = (facts.get("framework"), facts.get("launcher"), "torch")
    name = next(n for n in names if n in SETTINGS)
    what, how = SETTINGS[name]
    return what, how.format(seconds=seconds, minutes=math.ceil(seconds / 60))


def observed_s(fields: Mapping[str, Any], facts: Facts, activity: str = "saving") -> float | None:
    """Yield the longest such work (a save, an evaluation) that the logs show whole, in seconds."""
    found = [fields.get("seconds"), fields.get("lasted_s"), facts.get(LONGEST.get(activity, ""))]
    return max((float(x) for x in found if isinstance(x, (int, float)) and not isinstance(x, bool)), default=None)


def _for_slow_save(fields: Mapping[str, Any], facts: Facts, present_s: float | None) -> tuple[Advice, ...]:
    observed = observed_s(fields, facts)
    seconds = propose_s(present_s, observed)
    what, how = setting_for(seconds, facts)
    seen = f" (a save took {observed:.0f} s)" if observed else ""
    if not observed and present_s:
        seen = f" (this one was not done after {_say(present_s)})"
    text = f"Raise {what} above what a save takes{seen}: {_say(seconds)} instead of {_say(present_s)}."
    if what.startswith("TrainingArguments") and present_s == TRAINER_DEFAULT_S:
        text += f" --ddp_timeout={TRAINER_DEFAULT_S} is the default that was already in force and changes nothing."
    return (Advice("now", text, how, replaces=True),)


def _save_less(fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """What shortens a save, by what is known of the job."""
    steps: list[Advice] = []
    if facts.get("zero3_gathers_on_save") is True or facts.get("zero_stage") == 3:
        text = (
            "ZeRO-3 gathers the whole model through rank 0 for model.safetensors. Save the shards and merge them after "
            "the job: no rank then waits for one writer."
        )
        key = '"stage3_gather_16bit_weights_on_model_save": false'
        key = "zero3_save_16bit_model: false" if facts.get("launcher") == "accelerate" else key
        command = f"{key}   # then: python zero_to_fp32.py CHECKPOINT OUTPUT"
        steps.append(Advice("fix", text, command, replaces=True))
    elif str(facts.get("fsdp_state_dict_type") or "").upper().startswith("FULL"):
        steps.append(
            Advice(
                "fix",
                "Save FSDP's shards instead of one full state dict.",
                "fsdp_state_dict_type: SHARDED_STATE_DICT",
                replaces=True,
            )
        )
    else:
        text = (
            "Let each rank save its own shard, or let rank 0 write after a gather that nobody waits behind: no barrier "
            "until the next step needs one."
        )
        steps.append(Advice("fix", text, replaces=True))
    text = (
        "Write to a fast local disk and copy from there in the background; save weights only where the optimizer is "
        "not needed to resume. This measures what the present place takes."
    )
    path = str(fields.get("path") or "CHECKPOINT_DIR")
    place = shell_word(f"{posixpath.dirname(path) or path}/speed-test")
    steps.append(Advice("fix", text, f"dd if=/dev/zero of={place} bs=64M count=64 oflag=direct; rm {place}"))
    text = "Whether the save still moves: where it does not, a longer time-out only hides a rank that stands still."
    size = f"du -s {shell_word(path)}"
    steps.append(Advice("collect", text, f"{size}; sleep 60; {size}   # and: py-spy dump --pid PID of the saving rank"))
    return tuple(steps)


def _for_wait(facts: Facts, present_s: float | None, fields: Mapping[str, Any]) -> tuple[Advice, ...]:
    activity = str(fields.get("activity") or "")
    if activity in ("", "waiting"):  # to wait is no work that may take long
        text = (
            f"Raise the time-out{_in_force(present_s)} only if the late rank is known to be at work (saving, evaluating, "
            "tokenising): for a rank that died or stands still it only makes the job fail later."
        )
        return (Advice("fix", text),)
    seconds = propose_s(present_s, observed_s(fields, facts, activity))
    what, how = setting_for(seconds, facts)
    text = f"If {activity} has to take that long, raise {what}: {_say(seconds)} instead of {_say(present_s)}."
    return (Advice("fix", text, how),)


def _in_force(seconds: float | None) -> str:
    return f" ({_say(seconds)} in force)" if seconds else ""


def _say(seconds: float | None) -> str:
    if seconds is None:
        return "the present value"
    return f"{seconds:.0f} s" if seconds < 7200 or seconds % 3600 else f"{seconds:.0f} s ({seconds / 3600:.0f} h)"
