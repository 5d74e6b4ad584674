"""The names of facts, and under which flag, key, variable or package each of them is written by the frameworks.

Tables only. `Stated` is what every reader of facts yields: a name, a value, and the line that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from ..lines.lazy_pattern import lazy
from ..lines.record import record

Value = str | int | float | bool

# Package (as `pip` names it) -> fact. NCCL and cuDNN come as wheels of their own.
PACKAGES: dict[str, str] = {
    "torch": "torch_version",
    "pytorch": "torch_version",
    "transformers": "transformers_version",
    "trl": "trl_version",
    "accelerate": "accelerate_version",
    "deepspeed": "deepspeed_version",
    "vllm": "vllm_version",
    "openrlhf": "openrlhf_version",
    "verl": "verl_version",
    "ray": "ray_version",
    "lightning": "lightning_version",
    "pytorch-lightning": "lightning_version",
    "peft": "peft_version",
    "datasets": "datasets_version",
    "tokenizers": "tokenizers_version",
    "safetensors": "safetensors_version",
    "huggingface-hub": "huggingface_hub_version",
    "flash-attn": "flash_attn_version",
    "bitsandbytes": "bitsandbytes_version",
    "triton": "triton_version",
    "xformers": "xformers_version",
    "numpy": "numpy_version",
    "megatron-core": "megatron_version",
    "sglang": "sglang_version",
    "llamafactory": "llamafactory_version",
    "axolotl": "axolotl_version",
    "nvidia-nccl-cu11": "nccl_version",
    "nvidia-nccl-cu12": "nccl_version",
    "nvidia-nccl-cu13": "nccl_version",
    "nvidia-cudnn-cu12": "cudnn_version",
}

# Flags of launchers and trainers, keys of configuration files -> fact. Dashes are underscores here.
SETTINGS: dict[str, str] = {
    "nproc_per_node": "gpus_per_node",
    "num_gpus": "gpus_per_node",  # deepspeed
    "n_gpus_per_node": "gpus_per_node",  # verl
    "gpus_per_node": "gpus_per_node",
    "ntasks_per_node": "tasks_per_node",  # Slurm: one task may be one GPU or one node
    "nnodes": "nnodes",
    "num_nodes": "nnodes",
    "num_machines": "nnodes",  # accelerate
    "num_processes": "processes_asked",  # accelerate: of all machines together
    "train_batch_size": "train_batch_size",
    "train.batch_size": "train_batch_size",
    "global_batch_size": "train_batch_size",
    "train_micro_batch_size_per_gpu": "micro_batch_size",
    "micro_train_batch_size": "micro_batch_size",
    "train.micro_batch_size": "micro_batch_size",
    "per_device_train_batch_size": "micro_batch_size",
    "micro_batch_size": "micro_batch_size",
    "gradient_accumulation_steps": "gradient_accumulation",
    "accumulate_grad_batches": "gradient_accumulation",
    "rollout_batch_size": "rollout_batch_size",
    "num_generations": "num_generations",
    "ddp_timeout": "ddp_timeout_s",
    "distributed_timeout_minutes": "distributed_timeout_min",
    "nccl_timeout": "nccl_timeout_s",  # verl: actor_rollout_ref.nccl_timeout, in seconds
    "train_timeout_seconds": "nccl_timeout_s",  # torchtitan
    "tensor_model_parallel_size": "tensor_parallel",
    "tensor_parallel_size": "tensor_parallel",
    "vllm_tensor_parallel_size": "vllm_tensor_parallel",
    "pipeline_model_parallel_size": "pipeline_parallel",
    "context_parallel_size": "context_parallel",
    "ring_attn_size": "context_parallel",
    "vllm_num_engines": "vllm_engines",
    "vllm_sync_backend": "vllm_sync_backend",
    "vllm_gpu_memory_utilization": "vllm_gpu_memory_utilization",
    "gpu_memory_utilization": "vllm_gpu_memory_utilization",
    "actor_num_nodes": "actor_nodes",
    "actor_num_gpus_per_node": "actor_gpus_per_node",
    "critic_num_nodes": "critic_nodes",
    "critic_num_gpus_per_node": "critic_gpus_per_node",
    "ref_num_nodes": "ref_nodes",
    "ref_num_gpus_per_node": "ref_gpus_per_node",
    "reward_num_nodes": "reward_nodes",
    "reward_num_gpus_per_node": "reward_gpus_per_node",
    "colocate_all_models": "colocate_all",
    "colocate_actor_ref": "colocate_actor_ref",
    "colocate_critic_reward": "colocate_critic_reward",
    "zero_stage": "zero_stage",
    "packing": "packing",
    "gradient_checkpointing": "gradient_checkpointing",
    "save_strategy": "save_strategy",
    "save_only_model": "save_only_model",
    "save_steps": "save_steps",
    "stage3_gather_16bit_weights_on_model_save": "zero3_gathers_on_save",
    "zero3_save_16bit_model": "zero3_gathers_on_save",
    "fsdp_state_dict_type": "fsdp_state_dict_type",
    "distributed_type": "distributed_type",
    "ddp_backend": "backend",
    "max_length": "max_length",
    "max_seq_length": "max_length",
    "bf16": "bf16",
}
PATH_ENDS = ("nccl_timeout", "n_gpus_per_node", "nnodes", "train_batch_size")  # Hydra: `trainer.n_gpus_per_node=8`

# Environment variables -> fact; no other variable is ever kept, since values may be secrets.
VARIABLES: dict[str, str] = {
    "NCCL_SOCKET_IFNAME": "socket_ifname",
    "GLOO_SOCKET_IFNAME": "gloo_ifname",
    "CUDA_VISIBLE_DEVICES": "cuda_visible_devices",
    "WORLD_SIZE": "world_size",
    "LOCAL_WORLD_SIZE": "gpus_per_node",
    "MASTER_PORT": "master_port",
    "CUDA_LAUNCH_BLOCKING": "cuda_launch_blocking",
    "PYTORCH_CUDA_ALLOC_CONF": "cuda_alloc_conf",
    "PYTORCH_ALLOC_CONF": "cuda_alloc_conf",
    "DEEPSPEED_TIMEOUT": "deepspeed_timeout_min",
    "SLURM_NNODES": "nnodes",
    "SLURM_JOB_NUM_NODES": "nnodes",
    "SLURM_NTASKS": "slurm_tasks",
    "SLURM_GPUS_ON_NODE": "slurm_gpus_on_node",
    "TRANSFORMERS_OFFLINE": "transformers_offline",
    "HF_HUB_OFFLINE": "hf_hub_offline",
}
_OWN_PREFIX = lazy(r"(?:NCCL|TORCH_NCCL|GLOO|RCCL|UCX)_[A-Z0-9_]{1,60}")
# What slow work an activity is -> the fact that holds how long the longest of it took.
LONGEST = {"saving": "longest_save_s", "evaluating": "longest_eval_s", "tokenising": "longest_tokenising_s"}
# What no fact describes one property of the whole job with: who speaks, in identity lines.
PLACES = frozenset(
    [
        "rank",
        "local_rank",
        "group_rank",
        "node_rank",
        "pid",
        "device",
        "host",
        "ip",
        "actor",
        "pci",
        "peer_rank",
        "path",
    ]
)


@record
class Stated:
    """One fact as one line states it; `surety` 3: a process printed it, 2: a command or file asks it, 1: inferred."""

    name: str
    value: Value
    source: str
    line: int | None
    surety: int = 2
    rank: int | None = None
    host: str | None = None


def variable_fact(name: str) -> str | None:
    """Yield the fact that an environment variable states; None for those that are not looked at."""
    return VARIABLES.get(name) or (name.lower() if _OWN_PREFIX.fullmatch(name) else None)


def setting_fact(key: str) -> str | None:
    """Yield the fact that a flag or configuration key states: `--nproc-per-node`, `trainer.nnodes`."""
    plain = key.strip().lstrip("-+").replace("-", "_").lower()
    last = plain.rpartition(".")[2]
    return SETTINGS.get(plain) or (SETTINGS.get(last) if last in PATH_ENDS or last in _UNMISTAKABLE else None)


_UNMISTAKABLE = frozenset(k for k in SETTINGS if len(k) > 16)


def typed(text: str) -> Value | None:
    """Yield a flag's or file's text as the value it means; None for what states nothing (`auto`, `null`, `$VAR`)."""
    plain = text.strip().strip("'\"`").rstrip(",")
    if not plain or plain.startswith("$") or plain.lower() in ("auto", "null", "none", "~") or len(plain) > 200:
        return None
    if plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    for convert in _NUMBERS:
        try:
            number = convert(plain)
        except ValueError:
            continue
        return number if math.isfinite(number) else plain  # `inf`: JSON has no such number
    return plain


_NUMBERS: tuple[Callable[[str], int | float], ...] = (int, float)


def stated_setting(key: str, text: str, source: str, line: int | None, surety: int = 2) -> Iterator[Stated]:
    """Yield the fact that `key=text` states, in the fact's own unit."""
    name = setting_fact(key)
    value = typed(text)
    if name is None or value is None:
        return
    if name == "distributed_timeout_min" and isinstance(value, (int, float)) and not isinstance(value, bool):
        name, value = "nccl_timeout_s", value * 60
    yield Stated(name, value, source, line, surety)
