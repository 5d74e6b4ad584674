"""A batch setting, how each framework is told it, and which of the factors it derives itself.

Sources: DeepSpeed `runtime/config.py` (any two of three state the third); OpenRLHF `utils/deepspeed/deepspeed.py`
(accumulation = train // micro // world, never a flag); Transformers and TRL (the global batch is derived); Megatron
`num_microbatches_calculator.py` (accumulation is derived); verl (sizes are prompts, accumulation is derived).
"""

from __future__ import annotations

from ..lines.record import record
from .fact_store import Facts


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


DERIVES_TRAIN = ("transformers", "trl", "open-r1", "llamafactory", "axolotl", "accelerate")


def flags_for(setting: Setting, facts: Facts) -> str:
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


def deepspeed_keys(setting: Setting) -> str:
    """Yield the setting as lines of a DeepSpeed configuration."""
    return (
        f'"train_batch_size": {setting.train}, "train_micro_batch_size_per_gpu": {setting.micro}, '
        f'"gradient_accumulation_steps": {setting.accumulation}'
    )
