"""What a launcher's command line tells: where it writes more logs than its console shows, and over how many nodes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

_FLAGS: dict[str, tuple[str, ...]] = {
    "torchrun": ("--log-dir", "--log_dir"),
    "accelerate": ("--log_dir", "--log-dir"),
    "mpirun": ("--output-filename", "-output-filename", "--output-directory"),
    "mpiexec": ("--output-filename", "-output-filename", "-outfile-pattern", "--outfile-pattern"),
    "prterun": ("--output-filename",),
    "srun": ("-o", "--output", "-e", "--error"),
    "deepspeed": ("--enable_each_rank_log",),
}
_MODULES = {
    "torch.distributed.run": "torchrun",
    "torch.distributed.launch": "torchrun",
    "accelerate.commands.launch": "accelerate",
    "deepspeed.launcher.runner": "deepspeed",
}


def launcher_of(argv: Sequence[str]) -> str | None:
    """The launcher's name: torchrun for `python -m torch.distributed.run …` too; None for anything else."""
    for place, word in enumerate(argv):
        name = os.path.basename(word)
        if name in _FLAGS:
            return name
        if word == "-m" and place + 1 < len(argv) and argv[place + 1] in _MODULES:
            return _MODULES[argv[place + 1]]
        if name.endswith(".py"):
            return None
    return None


def log_patterns(argv: Sequence[str], cwd: str) -> list[str]:
    """What the launcher's own flags name for output, as glob patterns; the script's flags are not looked at."""
    launcher = launcher_of(argv)
    if launcher is None:
        return []
    patterns = {_pattern_of(os.path.join(cwd, value)) for value in _values(argv, _FLAGS[launcher])}
    if launcher in ("mpirun", "mpiexec", "prterun"):
        patterns = {pattern.rstrip("*") + "*" for pattern in patterns}  # a folder, or what files' names begin with
    return sorted(patterns - {os.devnull})


def nodes_of_command(argv: Sequence[str]) -> int | None:
    """How many nodes a torchrun command line spreads over: 4 for `--nnodes=2:4`; None when one or unknown."""
    for value in _values(argv, ("--nnodes", "--num_machines")):
        last = value.rpartition(":")[2]
        return int(last) if last.isdigit() and int(last) > 1 else None
    return None


def _values(argv: Sequence[str], flags: Sequence[str]) -> list[str]:
    found = []
    for place, word in enumerate(argv):
        if word.endswith(".py"):
            break  # what follows belongs to the script
        name, equals, value = word.partition("=")
        if name in flags:
            following = argv[place + 1] if place + 1 < len(argv) else ""
            found.append(value if equals else following)
    return [value for value in found if value]


def _pattern_of(path: str) -> str:
    """`logs/%j-%t.out` (srun) names whatever matches `logs/*-*.out`."""
    return re.sub(r"%\d{0,3}[A-Za-z]", "*", path)
