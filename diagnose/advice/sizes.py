"""Sums over what a job states: batch sizes, GPUs, GPU memory and timeouts, and the settings that fit (`names.yaml`).

`train = micro x accumulation x data-parallel size`, of which the last is counted: it is the number of processes that
really started, so `64 != 4 * 8 * 1` means that one process started.
Out of memory: PyTorch (`c10/cuda/CUDACachingAllocator.cpp`) prints capacity = free + this process + other processes, and
this process = allocated by tensors + reserved but unallocated (cached blocks that did not fit the request) + the rest (CUDA
context, NCCL buffers, cuBLAS workspaces).
"""

from __future__ import annotations

import math
import posixpath
from collections.abc import Mapping
from typing import Any

from ..lines.record import record
from .fact_store import Facts
from .settings import NAMES, size_bytes, timeout_setting, written
from .statement import Evidence, Flags, Remark, RemedyStep

MAX_SETTINGS = 4
MAX_BATCH = 1 << 24  # no effort on numbers that no job has


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


def whole(fields: Mapping[str, Any], *names: str) -> int | None:
    """Yield the first of these captures that is a positive whole number."""
    found = (fields.get(name) for name in names)
    return next((x for x in found if isinstance(x, int) and not isinstance(x, bool) and x > 0), None)


def nearest_with_micro(train: int, micro: int, ranks: int) -> tuple[Setting, ...]:
    """Yield the settings next below and above `train` that keep the micro batch (it fits the memory), nearest first."""
    below, rest = divmod(train, micro * ranks)
    found = (Setting(micro, n, ranks) for n in (below, below + 1)[: 2 if rest else 1] if n > 0)
    return tuple(sorted(found, key=lambda s: (abs(s.train - train), s.train)))


def batch_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield which factor is surprising, and the nearest numbers that fit, as flags of the framework at hand."""
    train, ranks, accumulation = (whole(fields, n) for n in ("train_batch", "world_size", "accumulation"))
    printed = whole(fields, "micro_batch")
    micro = printed or facts.number("micro_batch_size")
    if train is None or train > MAX_BATCH:
        return {}
    if not ranks or not micro:
        divisor = ranks or whole(fields, "divisor") or printed
        if not divisor or train % divisor == 0:
            return {}
        near = [n for n in (train // divisor * divisor, (train // divisor + 1) * divisor) if n > 0]
        return {"train": train, "divides_by": divisor, "multiples": near}
    found = {"train": train, "micro": micro, "ranks": ranks, **_fitting_batches(train, micro, ranks, facts)}
    if not accumulation or not printed:
        return found
    stated, unit = Setting(micro, accumulation, ranks), micro * ranks
    return {**found, "stated": stated, "unit": unit if train % unit else None, **_surprise(train, stated, facts)}


def _surprise(train: int, stated: Setting, facts: Facts) -> dict[str, Any]:
    """How many processes were asked for, or would fit, where their number is what does not fit."""
    # roles of an RLHF job are worlds of their own
    asked = _role("actor", facts) or facts.number("processes_asked") or next(iter(_launch(facts)), None)
    asked = asked.gpus if isinstance(asked, Demand) else asked
    if asked and asked != stated.ranks:
        return {"asked_processes": asked}
    meant, rest = divmod(train, stated.micro * stated.accumulation)
    fits = not rest and meant not in (0, stated.ranks)
    return {"fitting_processes": Setting(stated.micro, stated.accumulation, meant)} if fits else {}


def _fitting_batches(train: int, micro: int, ranks: int, facts: Facts) -> dict[str, Any]:
    """The nearest batches with this micro batch, and the same batch with a smaller one or on other numbers of ranks."""
    near, share = nearest_with_micro(train, micro, ranks), train // ranks if train % ranks == 0 else 0
    same = [Setting(m, share // m, ranks) for m in range(min(micro, share), 0, -1) if share % m == 0][:MAX_SETTINGS]
    units = train // micro if train % micro == 0 else 0  # for another number of ranks, the nearest first
    sizes = (n for n in range(2, min(units, 2 * ranks + 8) + 1) if units % n == 0 and n != ranks)
    others = [Setting(micro, units // n, n) for n in sorted(sizes, key=lambda n: (abs(n - ranks), -n))[:MAX_SETTINGS]]
    found = {"nearest": sorted(near, key=lambda s: s.train), "nearest_fits": near[0].train == train}
    found |= {"same_batch": same} if same[:1] != [near[0]] else {}
    firsts = {"nearest_flags": near, "same_batch_flags": same, "other_ranks_flags": others}
    return {**found, "other_ranks": others, **{name: flags_for(s[0], facts) for name, s in firsts.items() if s}}


def flags_for(setting: Setting, facts: Facts) -> Flags:
    """Yield the setting as flags or keys of the framework at hand; DeepSpeed's keys where none is known."""
    name = str(facts.get("framework") or "")
    if name == "openrlhf" and "train.batch_size" in str(facts.get("command") or ""):
        name = "openrlhf-dotted"
    template = written("batch", name) or written("batch", "deepspeed")
    return Flags(template.format(train=setting.train, micro=setting.micro, accumulation=setting.accumulation))


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

    def __str__(self) -> str:
        return f"{self.nodes} x {self.per_node}" if self.role == "launch" else f"{self.role} {self.nodes} x {self.per_node}"


def demands(facts: Facts) -> tuple[Demand, ...]:
    """Yield what each role asks for (colocated roles share and are counted once), else what the launch does."""
    found = [d for role in ROLES if (d := _role(role, facts))]
    if facts.get("colocate_all") is True:
        return tuple(sorted(found, key=lambda d: -d.gpus)[:1]) or _launch(facts)
    shared = {"ref": "colocate_actor_ref", "reward": "colocate_critic_reward"}
    found = [d for d in found if facts.get(shared.get(d.role, "")) is not True]
    if engines := facts.number("vllm_engines"):
        found.append(Demand("vllm", engines, facts.number("vllm_tensor_parallel") or 1))
    return tuple(found) or _launch(facts)


def _role(role: str, facts: Facts) -> Demand | None:
    nodes, per_node = facts.number(f"{role}_nodes"), facts.number(f"{role}_gpus_per_node")
    return Demand(role, nodes, per_node) if nodes and per_node else None


def _launch(facts: Facts) -> tuple[Demand, ...]:
    stated = (k.value for k in facts.all("gpus_per_node") if k.surety >= 2)
    per_node = whole({"stated": next(stated, None)}, "stated")
    return (Demand("launch", facts.number("nnodes") or 1, per_node),) if per_node else ()


def _present(facts: Facts) -> int | None:
    """How many GPUs the job has: as Ray counts them, or as CUDA_VISIBLE_DEVICES leaves them to each node."""
    names = str(facts.get("cuda_visible_devices", "")).split(",")
    visible = [name for name in names if name.strip() not in ("", "NoDevFiles", "-1")]
    return facts.number("ray_gpus") or len(visible) * (facts.number("nnodes") or 1) or None


def resource_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `gpus_asked` (as a sum), `gpus_present`, and what would fit, where more are asked for than there are."""
    asked = demands(facts)
    present = whole(fields, "available_gpus", "available", "present", "existing") or _present(facts)
    wanted = sum(d.gpus for d in asked) or whole(fields, "wanted_gpus", "wanted", "asked")
    if wanted is None or present is None or wanted <= present:
        return {}
    said = {"gpus_asked": _sum(asked) if asked else str(wanted), "gpus_present": present, "missing_gpus": wanted - present}
    if len(asked) != 1 or present < asked[0].nodes:
        return said
    return {**said, **_fitting(Demand(asked[0].role, asked[0].nodes, present // asked[0].nodes), facts)}


def _sum(asked: tuple[Demand, ...]) -> str:
    return f"{' + '.join(map(str, asked))} = {sum(d.gpus for d in asked)}"


def _fitting(smaller: Demand, facts: Facts) -> dict[str, Any]:
    """As many nodes with fewer GPUs each, and the global batch that fits these; for OpenRLHF both as flags."""
    train, micro = facts.number("train_batch_size"), facts.number("micro_batch_size")
    is_world = smaller.role in ("actor", "launch")
    near = nearest_with_micro(train, micro, smaller.gpus)[0] if train and micro and is_world else None
    batch = near if near and near.train != train else None
    found = {"fitting": smaller, "fitting_batch": batch}
    if facts.get("framework") != "openrlhf" or smaller.role not in ROLES:
        return found
    flags = f"--{smaller.role}_num_nodes {smaller.nodes} --{smaller.role}_num_gpus_per_node {smaller.per_node}"
    return {**found, "fitting_flags": Flags(f"{flags} --train_batch_size {batch.train}" if batch else flags)}


def idle_notices(facts: Facts) -> tuple[Remark, ...]:
    """Yield a notice where the job asks for fewer GPUs than there are: nothing failed, some are paid for and idle."""
    asked, present = demands(facts), _present(facts)
    wanted = sum(d.gpus for d in asked)
    if not asked or present is None or not 0 < wanted < present:
        return ()
    best = next(iter(facts.all("ray_gpus") or facts.all("cuda_visible_devices")), None)
    shown = (Evidence(best.stated[0].source, best.stated[0].line, text=str(best.value)),) if best else ()
    said = {"asked": _sum(asked), "present": present, "idle": present - wanted}
    return (Remark("idle-gpus", said, shown, (RemedyStep("fix", "use-idle-gpus"),)),)


CONTEXT = 2.0 * (1 << 30)  # CUDA context, NCCL and cuBLAS buffers of one process: 0.5 to 2 GiB
CROWDED_SHARE = 0.1  # of the GPU in other hands, or beside PyTorch in the same process
FRAGMENTED_SHARE = 0.02  # of the GPU: less is what is left of any cache, and its return would last a step
ONE_LARGE_SHARE = 0.25  # one request of a quarter of the GPU is one tensor: logits, attention scores, a gathered layer


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
TRAINER_DEFAULT_S = 1800


def propose_s(present_s: float | None, observed_s: float | None) -> int:
    """Yield a timeout in seconds: twice what was seen to be needed or was not enough, in half hours, and two at least."""
    return max(math.ceil(SLACK * max(observed_s or 0.0, present_s or 0.0) / STEP_S), 2) * STEP_S


def timeout_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield `limit_s` in force, `work_s` that the slow work took, `new_limit_s`, and how to write that."""
    printed_s = (_number(fields.get("timeout_ms")) or 0.0) / 1000
    limits = (printed_s, *(_number(facts.get(n)) for n in ("nccl_timeout_s", "ddp_timeout_s")))
    present = next(filter(None, limits), None)  # as the line states it, else as configured
    longest = facts.get(NAMES["longest"].get(str(fields.get("activity") or "saving"), ""))  # that the logs show whole
    times = (_number(x) for x in (fields.get("seconds"), fields.get("lasted_s"), longest))
    worked = max((s for s in times if s is not None), default=None)
    seconds, path = propose_s(present, worked), str(fields.get("path") or "")
    setting = timeout_setting(seconds, *(facts.get(name) for name in ("library", "framework", "launcher")))
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
