"""Facts that should be one for the whole job and are not: each is worth a notice, whatever the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lines.rank_ranges import rank_ranges
from .fact_store import Facts, Known
from .statement import Evidence, Notice, RemedyStep

MAX_SHOWN = 4
# One value for all ranks; settings that may well differ (devices, interfaces, who speaks) are not here.
SHARED = frozenset(
    ["world_size", "backend", "ddp_timeout_s", "train_batch_size", "micro_batch_size", "gradient_accumulation",
     "zero_stage", "nnodes", "packing", "launcher"]
)  # fmt: skip
# What may differ between hosts.
PER_HOST = ("ifname", "nccl_interface", "nccl_ib_hca", "nccl_debug", "nccl_topo", "nccl_net", "nccl_ib_gid")
MANY_WORLDS = ("openrlhf", "verl")  # actors, critics and engines are worlds of their own


def contradictions(facts: Facts) -> tuple[Notice, ...]:
    """Yield a notice for each fact on which ranks, hosts, or a file and the running job, disagree."""
    found: list[Notice] = []
    for name in facts.known:
        values = facts.all(name)
        if len(values) > 1 and _is_shared(name, facts):
            found += _between_speakers(name, values) or _between_file_and_run(name, values)
    return (*found, *_asked_and_started(facts))


def _is_shared(name: str, facts: Facts) -> bool:
    if name == "world_size" and facts.get("framework") in MANY_WORLDS:
        return False
    if name.startswith(("nccl_", "torch_nccl_")) and not name.endswith(("_version", "timeout_s")):
        return not any(part in name for part in PER_HOST)
    return name in SHARED or name.endswith("_version")


def _between_speakers(name: str, values: Sequence[Known]) -> list[Notice]:
    """Processes of one job that print different values. One process that prints two says nothing about others."""
    printed = [v for v in values if v.surety == 3 and (v.ranks or v.hosts)]
    sets = [frozenset(map(str, v.ranks or v.hosts)) for v in printed]
    apart = len(printed) > 1 and all(not (a & b) for i, a in enumerate(sets) for b in sets[:i])
    if not apart:
        return []
    said = "; ".join(f"{who(v)}: {v.value}" for v in printed[:MAX_SHOWN])
    text = f"The ranks disagree on {words(name)}: {said}."
    return [Notice(f"different {words(name)}", text, _evidence(name, printed), (_step(name),))]


def _between_file_and_run(name: str, values: Sequence[Known]) -> list[Notice]:
    """What a file given beside the logs states, against what the job printed."""
    run = next((v for v in values if v.surety == 3), None)
    file = next((v for v in values if v.surety == 2), None)
    if run is None or file is None or not (name.endswith("_version") or name in SHARED):
        return []
    text = (
        f"The job printed {words(name)} {run.value}, but {file.place} states {file.value}: "
        "that file belongs to another environment or was changed after the start."
    )
    return [Notice(f"different {words(name)}", text, _evidence(name, [run, file]), (_step(name),))]


def _asked_and_started(facts: Facts) -> Iterator[Notice]:
    """More or fewer processes than the launcher was asked for."""
    started = next((k for k in facts.all("world_size") if k.surety >= 3), None)
    nodes, per_node = facts.number("nnodes") or 1, next((k for k in facts.all("gpus_per_node") if k.surety == 2), None)
    asked = next((k for k in facts.all("processes_asked") if k.surety >= 2), None)
    if started is None or facts.get("framework") in MANY_WORLDS:
        return
    number = asked.value if asked else per_node.value * nodes if per_node and isinstance(per_node.value, int) else None
    place = asked or per_node
    if isinstance(number, int) and number != started.value and place is not None:
        text = f"{place.place} asks for {number} processes, but the job says that its world has {started.value}."
        step = RemedyStep("now", "Check that no node or GPU is missing and that no other configuration was read.",
                          "nvidia-smi -L; echo $WORLD_SIZE $SLURM_NTASKS $CUDA_VISIBLE_DEVICES")  # fmt: skip
        yield Notice("processes asked for and started", text, _evidence("world_size", [started, place]), (step,))


def who(known: Known) -> str:
    """Name the speakers of a value: ranks, else hosts, else the place of the line."""
    if known.ranks:
        return f"rank{'s' if len(known.ranks) > 1 else ''} {rank_ranges(known.ranks)}"
    return ", ".join(known.hosts[:MAX_SHOWN]) or known.place


def words(name: str) -> str:
    """Yield a fact's name as people say it: `NCCL version`, `world size`."""
    plain = name.removesuffix("_s").replace("_", " ")
    return " ".join(_SPELT.get(word, word) for word in plain.split())


_SPELT = {"nccl": "NCCL", "cuda": "CUDA", "torch": "PyTorch", "vllm": "vLLM", "trl": "TRL", "ray": "Ray", "ddp": "DDP"}


def _step(name: str) -> RemedyStep:
    if not name.endswith("_version"):
        return RemedyStep("fix", "Start every rank with one configuration, from one place that all hosts read.")
    package = name.removesuffix("_version")
    text = f"Install one version of {words(package)} on every host, and check it there."
    python = {
        "nccl": "import torch; print(torch.cuda.nccl.version())",
        "cuda": "import torch; print(torch.version.cuda)",
    }
    if package == "driver":
        return RemedyStep("fix", text, "nvidia-smi --query-gpu=driver_version --format=csv,noheader")
    code = python.get(package, f"import {package}; print({package}.__version__, {package}.__file__)")
    return RemedyStep("fix", text, f'python -c "{code}"')


def _evidence(name: str, values: Sequence[Known]) -> tuple[Evidence, ...]:
    shown = []
    for value in values[:MAX_SHOWN]:
        first = min(value.stated, key=lambda s: (-s.surety, s.source, s.line or 0))
        shown.append(Evidence(first.source, first.line, None, first.rank, first.host, text=f"{name} = {value.value}"))
    return tuple(shown)
