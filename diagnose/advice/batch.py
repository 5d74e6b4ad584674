"""Batch sizes: `train = micro x accumulation x data-parallel size`, solved for the settings nearest to what was meant.

The formula and its check: DeepSpeed, `deepspeed/runtime/config.py`. Of the four numbers the last one is counted, not
written down: it is the number of processes that really came up, so `64 != 4 * 8 * 1` means that one process started.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .batch_flags import Setting, flags_for
from .fact_store import Facts
from .step import Advice, whole

MAX_SETTINGS = 4
MAX_BATCH = 1 << 24  # no effort on numbers that no job has


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


def batch_advice(_cause: str, fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """Yield which factor is surprising, and the nearest numbers that fit, as flags of the framework at hand."""
    if fields.get("key") and fields.get("ds_value") is not None:
        return _disagreement(fields)
    train = whole(fields, "train_batch")
    ranks = whole(fields, "world_size")
    micro = whole(fields, "micro_batch") or facts.number("micro_batch_size")
    if train is None or train > MAX_BATCH:
        return _too_small(fields, facts)
    if ranks and whole(fields, "micro_batch") and whole(fields, "accumulation"):
        return _product(train, Setting(whole(fields, "micro_batch") or 1, whole(fields, "accumulation") or 1, ranks), facts)
    if ranks and micro:
        return _division(train, micro, ranks, facts)
    divisor = ranks or whole(fields, "divisor", "micro_batch")
    return _multiple(train, divisor) if divisor else ()


def _product(train: int, stated: Setting, facts: Facts) -> tuple[Advice, ...]:
    """`256 != 2 * 18 * 7`."""
    advice: list[Advice] = []
    surprise = surprising_ranks(train, stated, facts)
    if surprise:
        advice.append(surprise)
    unit = stated.micro * stated.ranks
    why = f"{stated.micro} x {stated.accumulation} x {stated.ranks} = {stated.train}, not {train}"
    if train % unit:
        why += (
            f"; with {_ranks(stated.ranks)} and micro batch {stated.micro} no accumulation gives {train}, "
            f"since {train} is no multiple of {unit}"
        )
    advice += _settings(why, train, stated.micro, stated.ranks, facts)
    return tuple(advice)


def surprising_ranks(train: int, stated: Setting, facts: Facts) -> Advice | None:
    """Yield what to check where the number of processes is what does not fit, rather than a batch size."""
    asked = _asked(facts)
    product = stated.micro * stated.accumulation
    meant = train // product if train % product == 0 else None
    reason = None
    if asked and asked != stated.ranks:
        reason = f"the launch asks for {_processes(asked)}"
    elif meant and meant != stated.ranks:
        reason = f"{train} = {stated.micro} x {stated.accumulation} x {meant} would fit {_processes(meant)}"
    if reason is None:
        return None
    started = "1 process was started" if stated.ranks == 1 else f"{stated.ranks} processes are counted"
    text = (
        f"First check how many processes came up: the last factor is counted, {started}, "
        f"while {reason}. "
        "A missing GPU or node, or a program started without its launcher, shows like this."
    )
    return Advice("now", text, "nvidia-smi -L; echo $WORLD_SIZE $SLURM_NTASKS $CUDA_VISIBLE_DEVICES", replaces=True)


def _asked(facts: Facts) -> int | None:
    """How many processes the launch asks for; roles of an RLHF job are worlds of their own."""
    nodes, per_node = facts.number("actor_nodes"), facts.number("actor_gpus_per_node")
    if nodes and per_node:
        return nodes * per_node
    best = next((k for k in facts.all("gpus_per_node") if k.surety >= 2), None)
    if facts.number("processes_asked"):
        return facts.number("processes_asked")
    return best.value * (facts.number("nnodes") or 1) if best and isinstance(best.value, int) else None


def _division(train: int, micro: int, ranks: int, facts: Facts) -> tuple[Advice, ...]:
    why = f"A global batch of {train} does not divide into micro batches of {micro} on {_ranks(ranks)}"
    return tuple(_settings(why, train, micro, ranks, facts))


def _settings(why: str, train: int, micro: int, ranks: int, facts: Facts) -> list[Advice]:
    near, same = nearest_with_micro(train, micro, ranks), exact(train, micro, ranks)
    advice: list[Advice] = []
    if near and near[0].train != train:
        shown = " and ".join(str(s) for s in sorted(near, key=lambda s: s.train))
        text = f"{why}. The nearest that keep the micro batch (memory): {shown}{_half(train, near[0])}."
        advice.append(Advice("now", text, flags_for(near[0], facts), replaces=True))
    elif near:
        text = f"{why}. {near[0]} fits: change the accumulation only."
        advice.append(Advice("now", text, flags_for(near[0], facts), replaces=True))
    if same and (not near or same[0] != near[0]):
        shown = ", ".join(str(s) for s in same)
        advice.append(Advice("fix", f"To keep the global batch of {train}: {shown}.", flags_for(same[0], facts)))
    others = [s for s in fitting_ranks(train, micro, ranks) if s.ranks > 1 or ranks == 1]
    if others:
        text = f"With {_ranks(others[0].ranks)} the global batch fits as it is: {others[0]}"
        more = f" (also {', '.join(str(s) for s in others[1:])})" if others[1:] else ""
        advice.append(Advice("fix", f"{text}{more}.", flags_for(others[0], facts)))
    return advice


def _half(train: int, best: Setting) -> str:
    """What a much smaller choice costs, since it is what people reach for: 126 = 2 x 9 x 7 for 256."""
    if best.accumulation < 2 or best.accumulation % 2:
        return ""
    half = Setting(best.micro, best.accumulation // 2, best.ranks)
    share = round(100 * half.train / train)
    return f". {half} is valid too, but is {share} % of the batch that was meant: more noise, other learning rate"


def _disagreement(fields: Mapping[str, Any]) -> tuple[Advice, ...]:
    key, ds, arg, value = (fields.get(n) for n in ("key", "ds_value", "arg", "arg_value"))
    text = (
        f'State {key} once: write it as "auto" in the DeepSpeed file (it says {ds}) and let {arg} ({value}) decide, '
        "or give both the same number."
    )
    return (Advice("now", text, f'"{key}": "auto"', replaces=True),)


def _too_small(fields: Mapping[str, Any], facts: Facts) -> tuple[Advice, ...]:
    """`Gradient accumulation steps: 0 has to be greater than 0`: whole division gave nothing."""
    if fields.get("value") != 0 or "which" not in fields:
        return ()
    micro, ranks, train = (facts.number(n) for n in ("micro_batch_size", "world_size", "train_batch_size"))
    if not micro or not ranks:
        text = "The global batch is smaller than micro batch x ranks; raise it to at least that product."
        return (Advice("now", text),)
    least = Setting(micro, 1, ranks)
    stated = f" and is {train}" if train else ""
    text = f"The global batch has to be at least micro batch x ranks = {micro} x {ranks} = {least.train}{stated}."
    advice = [Advice("now", text, flags_for(least, facts), replaces=True)]
    if train and train >= ranks:
        smaller = exact(train - train % ranks, micro, ranks)
        if smaller:
            advice.append(Advice("fix", f"Or lower the micro batch: {smaller[0]}.", flags_for(smaller[0], facts)))
    return tuple(advice)


def _multiple(train: int, divisor: int) -> tuple[Advice, ...]:
    """A number that has to be a multiple of another: the nearest ones, and what divides it."""
    if train % divisor == 0:
        return ()
    below, above = train // divisor * divisor, (train // divisor + 1) * divisor
    near = [n for n in (below, above) if n > 0]
    text = f"{train} is no multiple of {divisor}; the nearest that are: {' and '.join(map(str, near))}."
    divisors = [n for n in range(min(train, divisor), 1, -1) if train % n == 0][:MAX_SETTINGS]
    if divisors and train <= 1 << 20:
        text += f" Or keep {train} and divide by {', '.join(map(str, divisors))} instead of {divisor}."
    return (Advice("now", text, replaces=True),)


def _ranks(count: int) -> str:
    return f"{count} rank{'' if count == 1 else 's'}"


def _processes(count: int) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"
