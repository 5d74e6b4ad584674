"""What the environment of a process and the command line of a launcher say about a job; strings in, facts out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from pathlib import Path

from ..lines.record import record


@record
class JobFacts:
    """One process's view of its job; None where nothing says."""

    node: str
    label: str | None = None  # job and attempt, for a shared folder
    nodes: int | None = None  # only where this process sees but one node of several
    all_nodes: int | None = None  # of the job, whoever looks
    world_size: int | None = None
    rank: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    logs: tuple[str, ...] = ()
    tasks: int | None = None  # of an srun step that starts several on a node, one per GPU: each looks for itself
    step: str | None = None  # names that step

    @property
    def part(self) -> str:
        """The name of what this process sees: its node, or its task where a node has several."""
        return self.node if self.tasks is None else f"{self.node}-task{self.rank}"


def read_environment(environ: Mapping[str, str] = os.environ) -> JobFacts:
    """Reads the job's facts."""
    nodes, in_step = _own_view(environ), "SLURM_STEP_NUM_NODES" in environ
    tasks, of_nodes = _number(environ, "SLURM_STEP_NUM_TASKS"), _number(environ, "SLURM_STEP_NUM_NODES")
    ended = re.fullmatch(r"(\d{1,3}):(\d{1,3})", environ.get("SLURM_JOB_EXIT_CODE2", ""))  # exit:signal, in an epilog
    number = int(ended[2]) if ended else 0
    return JobFacts(
        node=environ.get("SLURMD_NODENAME") or environ.get("NODE_NAME") or os.uname().nodename or "node",
        label=_label(environ),
        nodes=nodes,
        all_nodes=nodes or _number(environ, "SLURM_JOB_NUM_NODES", "SLURM_NNODES") or _listed(environ),
        world_size=_number(environ, "WORLD_SIZE") if "LOCAL_RANK" in environ else None,  # else it counts pods (PyTorchJob)
        rank=_number(environ, "RANK", *(["SLURM_PROCID"] if in_step else [])),  # outside of a step that is 0 for all
        exit_code=int(ended[1]) if ended and not number else None,
        signal=number or None,
        logs=_slurm_logs(environ),
        tasks=tasks if tasks and of_nodes and tasks > of_nodes and "LOCAL_RANK" not in environ else None,
        step=f"{environ.get('SLURM_JOB_ID')}.{environ.get('SLURM_STEP_ID')}.{environ.get('SLURM_RESTART_COUNT', '0')}",
    )


def attempt_folder(environ: Mapping[str, str] = os.environ) -> str | None:
    """The folder of all ranks' logs of this attempt on this node, as torchelastic gives it away.

    TORCHELASTIC_ERROR_FILE=/tmp/torchelastic_9y2kqp1m/none_4kqlbyqv/attempt_0/3/error.json
    """
    found = re.fullmatch(r"(.+/attempt_\d{1,6})/[^/]*/[^/]*", environ.get("TORCHELASTIC_ERROR_FILE", ""))
    return found[1] if found else None


def count_nodes(nodelist: str) -> int:
    """How many nodes Slurm's `gpu[01-04,07],login1` stands for: 6."""
    names = filter(None, re.split(r",(?![^\[]*\])", nodelist))
    groups = ([group.split(",") for group in re.findall(r"\[([^\]]{1,4000})\]", name)] for name in names)
    return sum(prod(sum(map(_span, group)) for group in product) for product in groups)


def _span(part: str) -> int:
    first, _, last = part.partition("-")
    return max(1, int(last) - int(first) + 1) if first.isdecimal() and last.isdecimal() else 1


def _label(environ: Mapping[str, str]) -> str | None:
    array, task = environ.get("SLURM_ARRAY_JOB_ID"), environ.get("SLURM_ARRAY_TASK_ID")
    job = f"{array}_{task}" if array and task else environ.get("SLURM_JOB_ID")
    elastic = environ.get("TORCHELASTIC_RUN_ID", "none")
    job = job or (elastic if elastic != "none" else None) or environ.get("PET_RDZV_ID") or environ.get("JOB_NAME")
    attempt = environ.get("SLURM_RESTART_COUNT") or environ.get("TORCHELASTIC_RESTART_COUNT") or "0"
    return f"{job}-{attempt}" if job and attempt != "0" else job


def _own_view(environ: Mapping[str, str]) -> int | None:
    """Nodes of the job, where this process stands on one: in an srun step, a torchrun worker, an epilog, a pod."""
    nodes = _number(environ, "GROUP_WORLD_SIZE", "SLURM_STEP_NUM_NODES")
    if nodes is None and environ.get("SLURM_SCRIPT_CONTEXT", "").startswith("epilog_slurmd"):
        nodes = _listed(environ)
    nodes = nodes or _last_number(environ.get("PET_NNODES", ""))
    return nodes if nodes and nodes > 1 else None


def _last_number(spread: str) -> int | None:
    """Of `2:4`, at least two and at most four."""
    last = spread.rpartition(":")[2]
    return int(last) if last.isdecimal() else None


def _listed(environ: Mapping[str, str]) -> int | None:
    listed = environ.get("SLURM_JOB_NODELIST") or environ.get("SLURM_NODELIST")
    return count_nodes(listed) if listed else None


def _slurm_logs(environ: Mapping[str, str]) -> tuple[str, ...]:
    named = [environ[name] for name in ("SLURM_JOB_STDOUT", "SLURM_JOB_STDERR") if environ.get(name)]
    job, folder = environ.get("SLURM_JOB_ID"), environ.get("SLURM_SUBMIT_DIR") or environ.get("SLURM_JOB_WORK_DIR")
    return tuple(dict.fromkeys(named)) or ((f"{folder}/slurm-{job}*.out",) if job and folder else ())


def _number(environ: Mapping[str, str], *names: str) -> int | None:
    return next((int(environ[name]) for name in names if environ.get(name, "").isdecimal()), None)


# --- a launcher's command line: where it writes more logs than its console shows, and over how many nodes -----------

LAUNCHERS = Path(__file__).with_name(
    "launchers.json"
)  # by name: the flags that name its logs, or what their names begin with


@lru_cache
def _launchers() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = json.loads(LAUNCHERS.read_bytes())
    return found


def launcher_of(argv: Sequence[str]) -> str | None:
    """The launcher's name: torchrun for `python -m torch.distributed.run …` too; None for anything else."""
    for word, following in zip(argv, (*argv[1:], ""), strict=True):
        name = os.path.basename(word)
        for launcher, about in _launchers().items():
            if name == launcher or (word == "-m" and following in about.get("modules", ())):
                return launcher
        if name.endswith(".py"):
            break
    return None


def log_patterns(argv: Sequence[str], cwd: str) -> list[str]:
    """What the launcher's own flags name for output, as glob patterns; the script's flags are not looked at."""
    about = _launchers().get(launcher_of(argv) or "", {})
    begun, whole = ([_pattern(value, cwd) for value in _values(argv, about.get(key, ()))] for key in ("logs_begin", "logs"))
    return sorted({*whole, *(f"{pattern.rstrip('*')}*" for pattern in begun)} - {os.devnull})


def _pattern(value: str, cwd: str) -> str:
    """`logs/%j-%t.out` (srun) names whatever matches `logs/*-*.out`."""
    return re.sub(r"%\d{0,3}[A-Za-z]", "*", os.path.join(cwd, value))


def nodes_of_command(argv: Sequence[str]) -> int | None:
    """How many nodes a torchrun command line spreads over: 4 for `--nnodes=2:4`; None when one or unknown."""
    spread = _values(argv, ("--nnodes", "--num_machines"))
    nodes = _last_number(spread[0]) if spread else None
    return nodes if nodes and nodes > 1 else None


def _values(argv: Sequence[str], flags: Sequence[str]) -> list[str]:
    found = []
    for word, following in zip(argv, (*argv[1:], ""), strict=True):
        if word.endswith(".py"):
            break  # what follows belongs to the script
        name, equals, value = word.partition("=")
        found += [value if equals else following] if name in flags else []
    return [value for value in found if value]
