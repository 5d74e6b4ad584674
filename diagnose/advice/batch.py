"""Batch sizes: `train = micro x accumulation x data-parallel size`, solved for the settings nearest to what was meant.

The formula and its check: DeepSpeed, `deepspeed/runtime/config.py`. Of the four numbers the last one is counted, not
written down: it is the number of processes that really started, so `64 != 4 * 8 * 1` means that one process started.
How each framework is told a setting: DeepSpeed `runtime/config.py` (any two of three state the third); OpenRLHF
`utils/deepspeed/deepspeed.py` (accumulation = train // micro // world, never a flag); Transformers and TRL (the global
batch is derived); Megatron `num_microbatches_calculator.py` and verl (accumulation is derived).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..lines.record import record
from .fact_names import NAMES
from .fact_store import Facts

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


@record
class Flags:
    """Words of a command, made here of numbers: they are filled in as they are, unquoted."""

    words: str

    def __str__(self) -> str:
        return self.words


def whole(fields: Mapping[str, Any], *names: str) -> int | None:
    """Yield the first of these captures that is a positive whole number."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return None


def nearest_with_micro(train: int, micro: int, ranks: int) -> tuple[Setting, ...]:
    """Yield the settings next below and above `train` that keep the micro batch (it fits the memory), nearest first."""
    unit = micro * ranks
    below = train // unit
    found = {Setting(micro, n, ranks) for n in (below, below + 1 if train % unit else below) if n > 0}
    return tuple(sorted(found, key=lambda s: (abs(s.train - train), s.train)))


def exact(train: int, micro: int, ranks: int) -> tuple[Setting, ...]:
    """Yield the settings that keep the global batch with a micro batch no larger than `micro`, the largest first."""
    if train % ranks or train > MAX_BATCH:
        return ()
    share = train // ranks
    fitting = [Setting(m, share // m, ranks) for m in range(min(micro, share), 0, -1) if share % m == 0]
    return tuple(fitting[:MAX_SETTINGS])


def fitting_ranks(train: int, micro: int, ranks: int) -> tuple[Setting, ...]:
    """Yield the settings with another number of ranks that keep `train` and `micro`, nearest in ranks first."""
    units = train // micro if train % micro == 0 else 0
    sizes = [n for n in range(1, min(units, 2 * ranks + 8) + 1) if units and units % n == 0 and n != ranks]
    sizes.sort(key=lambda n: (abs(n - ranks), -n))
    return tuple(Setting(micro, units // n, n) for n in sizes[:MAX_SETTINGS])


def batch_numbers(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """Yield which factor is surprising, and the nearest numbers that fit, as flags of the framework at hand."""
    train, ranks = whole(fields, "train_batch"), whole(fields, "world_size")
    micro = whole(fields, "micro_batch") or facts.number("micro_batch_size")
    accumulation = whole(fields, "accumulation")
    if train is None or train > MAX_BATCH:
        return _least(fields, facts)
    if ranks and accumulation and whole(fields, "micro_batch"):
        stated = Setting(whole(fields, "micro_batch") or 1, accumulation, ranks)
        unit = stated.micro * stated.ranks
        found = {"train": train, "stated": stated, "unit": unit if train % unit else None}
        return {**found, **_surprise(train, stated, facts), **_settings(train, stated.micro, ranks, facts)}
    if ranks and micro:
        return {"train": train, "micro": micro, "ranks": ranks, **_settings(train, micro, ranks, facts)}
    divisor = ranks or whole(fields, "divisor", "micro_batch")
    return _multiples(train, divisor) if divisor else {}


def _surprise(train: int, stated: Setting, facts: Facts) -> dict[str, Any]:
    """How many processes were asked for, or would fit, where their number is what does not fit."""
    asked = _asked(facts)
    product = stated.micro * stated.accumulation
    meant = train // product if train % product == 0 else None
    if asked and asked != stated.ranks:
        return {"asked_processes": asked}
    if not meant or meant == stated.ranks:
        return {}
    return {"fitting_processes": Setting(stated.micro, stated.accumulation, meant)}


def _asked(facts: Facts) -> int | None:
    """How many processes the launch asks for; roles of an RLHF job are worlds of their own."""
    nodes, per_node = facts.number("actor_nodes"), facts.number("actor_gpus_per_node")
    if nodes and per_node:
        return nodes * per_node
    best = next((k for k in facts.all("gpus_per_node") if k.surety >= 2), None)
    if facts.number("processes_asked"):
        return facts.number("processes_asked")
    return best.value * (facts.number("nnodes") or 1) if best and isinstance(best.value, int) else None


def _settings(train: int, micro: int, ranks: int, facts: Facts) -> dict[str, Any]:
    near, same = nearest_with_micro(train, micro, ranks), exact(train, micro, ranks)
    others = [s for s in fitting_ranks(train, micro, ranks) if s.ranks > 1 or ranks == 1]
    found: dict[str, Any] = {"other_ranks": others or None}
    if near:
        found |= {"nearest": sorted(near, key=lambda s: s.train), "nearest_flags": flags_for(near[0], facts)}
        found["nearest_fits"] = near[0].train == train
        found["half"] = _half(near[0]) if near[0].train != train else None
    if same and (not near or same[0] != near[0]):
        found |= {"same_batch": same, "same_batch_flags": flags_for(same[0], facts)}
    if others:
        found["other_ranks_flags"] = flags_for(others[0], facts)
    return found


def _half(best: Setting) -> Setting | None:
    """The much smaller choice that people reach for: 126 = 2 x 9 x 7 for 256."""
    if best.accumulation < 2 or best.accumulation % 2:
        return None
    return Setting(best.micro, best.accumulation // 2, best.ranks)


def _least(fields: Mapping[str, Any], facts: Facts) -> dict[str, Any]:
    """`Gradient accumulation steps: 0 has to be greater than 0`: whole division gave nothing."""
    if fields.get("value") != 0 or "which" not in fields:
        return {}
    micro, ranks, train = (facts.number(n) for n in ("micro_batch_size", "world_size", "train_batch_size"))
    if not micro or not ranks:
        return {"is_too_small": True}
    least = Setting(micro, 1, ranks)
    found = {"is_too_small": True, "least": least, "least_flags": flags_for(least, facts), "train": train}
    smaller = exact(train - train % ranks, micro, ranks) if train and train >= ranks else ()
    return {**found, "smaller_micro": smaller[0], "smaller_flags": flags_for(smaller[0], facts)} if smaller else found


def _multiples(train: int, divisor: int) -> dict[str, Any]:
    """A number that has to be a multiple of another: the nearest ones, and what divides it."""
    if train % divisor == 0:
        return {}
    near = [n for n in (train // divisor * divisor, (train // divisor + 1) * divisor) if n > 0]
    fits = train <= 1 << 20
    divisors = [n for n in range(min(train, divisor), 1, -1) if train % n == 0][:MAX_SETTINGS] if fits else []
    return {"train": train, "divides_by": divisor, "multiples": near, "divisors": divisors}


def flags_for(setting: Setting, facts: Facts) -> Flags:
    """Yield the setting as flags or keys of the framework at hand; DeepSpeed's keys where none is known."""
    name = str(facts.get("framework") or "")
    if name == "openrlhf" and "train.batch_size" in str(facts.get("command") or ""):
        name = "openrlhf-dotted"
    template = written("batch", name) or written("batch", "deepspeed")
    return Flags(template.format(train=setting.train, micro=setting.micro, accumulation=setting.accumulation))


def written(what: str, *names: str | None) -> str:
    """Yield how the first of these frameworks that has a word for it is told `what`; empty where none has."""
    rows = (NAMES["flags"].get(name or "", {}) for name in names)
    return next((str(row[what]) for row in rows if what in row), "")
