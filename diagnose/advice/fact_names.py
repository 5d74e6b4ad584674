"""The names of facts, and under which flag, key, variable or package each of them is written by the frameworks.

The tables are `names.yaml`. `Stated` is what every reader of facts yields: a name, a value, and the line that says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..catalogue.load import load_yaml
from ..lines.lazy_pattern import lazy
from ..lines.record import record

Value = str | int | float | bool
_FILE = Path(__file__).with_name("names.yaml")
NAMES: dict[str, dict[str, Any]] = load_yaml(_FILE, _FILE.read_bytes())
PACKAGES: dict[str, str] = NAMES["packages"]
SETTINGS: dict[str, str] = NAMES["settings"]
VARIABLES: dict[str, str] = NAMES["variables"]
PATH_ENDS = ("nccl_timeout", "n_gpus_per_node", "nnodes", "train_batch_size")  # Hydra: `trainer.n_gpus_per_node=8`
_OWN_PREFIX = lazy(r"(?:NCCL|TORCH_NCCL|GLOO|RCCL|UCX)_[A-Z0-9_]{1,60}")
# What slow work an activity is -> the fact that holds how long the longest of it took.
LONGEST = {"saving": "longest_save_s", "evaluating": "longest_eval_s", "tokenising": "longest_tokenising_s"}
# What no fact describes one property of the whole job with: who speaks, in identity lines.
PLACES = frozenset(
    ["rank", "local_rank", "group_rank", "node_rank", "pid", "device", "host", "ip", "actor", "pci", "peer_rank", "path"]
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
