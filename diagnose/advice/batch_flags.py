"""How each framework is told a batch size, and which of the factors it derives itself.

Sources: DeepSpeed `runtime/config.py` (any two of three state the third); OpenRLHF `utils/deepspeed/deepspeed.py`
(accumulation = train // micro // world, never a flag); Transformers and TRL (the global batch is derived); Megatron
`num_microbatches_calculator.py` (accumulation is derived); verl (sizes are prompts, accumulation is derived).
"""

from __future__ import annotations

from typing import Protocol

from ..facts.store import Facts


class Sizes(Protocol):
    """What is needed of a setting."""

    @property
    def micro(self) -> int: ...
    @property
    def accumulation(self) -> int: ...
    @property
    def ranks(self) -> int: ...
    @property
    def train(self) -> int: ...


DERIVES_TRAIN = ("transformers", "trl", "open-r1", "llamafactory", "axolotl", "accelerate")


def flags_for(setting: Sizes, facts: Facts) -> str:
    """Yield the setting as flags or keys of the framework at hand; DeepSpeed's keys where none is known."""
    framework = str(facts.get("framework") or "")
    if framework == "openrlhf":
        dotted = "train.batch_size" in str(facts.get("command") or "")
        names = ("--train.batch_size", "--train.micro_batch_size") if dotted else (
            "--train_batch_size", "--micro_train_batch_size")  # fmt: skip
        return f"{names[0]} {setting.train} {names[1]} {setting.micro}   # DeepSpeed: {deepspeed_keys(setting)}"
    if framework == "verl":
        return (
            f"actor_rollout_ref.actor.ppo_mini_batch_size={setting.train} "
            f"actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu={setting.micro}"
        )
    if framework == "megatron":
        return f"--global-batch-size {setting.train} --micro-batch-size {setting.micro}"
    if framework in DERIVES_TRAIN:
        return f"--per_device_train_batch_size {setting.micro} --gradient_accumulation_steps {setting.accumulation}"
    if framework == "lightning":
        return f"DataLoader(batch_size={setting.micro}), Trainer(accumulate_grad_batches={setting.accumulation})"
    return deepspeed_keys(setting)


def deepspeed_keys(setting: Sizes) -> str:
    """Yield the setting as lines of a DeepSpeed configuration."""
    return (
        f'"train_batch_size": {setting.train}, "train_micro_batch_size_per_gpu": {setting.micro}, '
        f'"gradient_accumulation_steps": {setting.accumulation}'
    )
