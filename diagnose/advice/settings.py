"""Launch commands and the files that set a job up in, facts out: launcher, framework, sizes, time limits, versions.

`names.yaml` says under which flag, key, variable or package the frameworks write each fact. JSON and YAML are read by key
and line, not parsed: a broken or templated file still tells what it can, and every fact keeps its line.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..lines.cache import tables
from ..lines.lazy_pattern import lazy
from ..lines.record import record

Value = str | int | float | bool
_FILE = Path(__file__).with_name("names.yaml")
NAMES: dict[str, Any] = tables(_FILE)
PACKAGES: dict[str, str] = NAMES["packages"]
SETTINGS: dict[str, str] = NAMES["settings"]
VARIABLES: dict[str, str] = NAMES["variables"]
OTHER_LIBRARIES = ("oneccl", "horovod", "jax", "tensorflow", "mpi")  # none of our settings governs their timeouts
_SIZE = lazy(r"\s{0,4}(\d{1,15}(?:\.\d{0,15})?)\s{0,4}(?:([kKMGTP]?)i?[Bb])?")
TEXTS = ("cuda_visible_devices", "socket_ifname", "gloo_ifname", "cuda_alloc_conf")


Pair = tuple[str, Value]  # a fact's name and what it is


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


def typed(text: str) -> Value | None:
    """Yield a flag's or file's text as the value it means; None for what states nothing (`auto`, `null`, `$VAR`)."""
    plain = text.strip().strip("'\"`").rstrip(",")
    if not plain or plain.startswith("$") or plain.lower() in ("auto", "null", "none", "~") or len(plain) > 200:
        return None
    if plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    for convert in (int, float):
        with suppress(ValueError):
            number: int | float = convert(plain)
            return number if math.isfinite(number) else plain  # `inf`: JSON has no such number
    return plain


def size_bytes(value: object, unit: str = "M") -> float | None:
    """Yield a size such as `79.10 GiB` in bytes; a bare number is of the binary `unit`."""
    match = _SIZE.match(str(value)) if value is not None else None
    power = "KMGTP".find((unit if match[2] is None else match[2]).upper() or "-") + 1 if match else 0
    return float(match[1]) * 1024.0**power if match else None


def setting_facts(key: str, text: str) -> Iterator[Pair]:
    """Yield the fact that a flag or configuration key states, in its own unit: `--nproc-per-node`, `trainer.nnodes`."""
    plain, value = key.strip().lstrip("-+").replace("-", "_").lower(), typed(text)
    name = SETTINGS.get(plain) or SETTINGS.get(plain.rpartition(".")[2])  # Hydra: `trainer.n_gpus_per_node=8`
    if name == "distributed_timeout_min" and isinstance(value, (int, float)) and not isinstance(value, bool):
        name, value = "nccl_timeout_s", value * 60
    if name is not None and value is not None:
        yield name, value


def variable_facts(name: str, text: str) -> Iterator[Pair]:
    """Yield the fact that an environment variable states; variables that are not looked at yield nothing."""
    fact = VARIABLES.get(name) or (name.lower() if _OWN_PREFIX.fullmatch(name) else None)
    value = typed(text)
    if fact is not None and value is not None:
        yield fact, str(value) if fact in TEXTS else value


NumberedLine = tuple[int, str]
MAX_WORDS = 2000
MAX_TEXT = 32 * 1024
MAX_JOINED = 400  # lines of one command

_COMMAND, _PAIR, _VARIABLE, _SBATCH, _PACKAGE, _TRAINER, _HYDRA, _OWN_PREFIX, _ASSIGNMENT = map(
    lazy, NAMES["patterns"].values()
)
_LAUNCHERS = [(lazy(p), name) for name, p in NAMES["launchers"].items()]
_FRAMEWORKS = [(lazy(p, re.IGNORECASE), name) for name, p in NAMES["frameworks"].items()]
_WRAPPERS = NAMES["wrappers"].split()


def looks_like_command(text: str) -> bool:
    """Whether a line of a script starts a program that this reads: variables and wrappers in front are skipped."""
    words = text.strip().split(None, 12)
    while words and ("=" in words[0].partition("/")[0] or words[0] in _WRAPPERS):
        words = words[1:]
    return bool(words) and _COMMAND.match(" ".join(words) + " ") is not None


def program_facts(text: str) -> Iterator[Pair]:
    """Yield framework and TRL's trainer of a command or path: `trl/scripts/orpo.py`, `trl sft --…`."""
    if framework := next((name for pattern, name in _FRAMEWORKS if pattern.search(text)), None):
        yield "framework", framework
    if trainer := _TRAINER.search(text):
        yield "trainer", trainer["word"] or trainer["file"]


def command_facts(text: str) -> Iterator[Pair]:
    """Yield what a launch command states: launcher, framework, sizes, time-outs, variables set in front of it."""
    text = text[:MAX_TEXT]
    if launcher := next((name for pattern, name in _LAUNCHERS if pattern.search(text + " ")), None):
        yield "launcher", launcher
    yield from program_facts(text)
    words = split_words(text)
    for word in words:
        if match := _ASSIGNMENT.fullmatch(word):
            yield from variable_facts(match["name"], match["value"])
    for key, value in flags(words):
        yield from setting_facts(key, value)


def split_words(text: str) -> list[str]:
    """Yield a command's words as a shell (or Python's list print) would cut them; broken quoting is cut at blanks."""
    bare = text.strip()
    if bare.startswith("[") and "'" in bare:  # ['/usr/bin/python', '-u', 'train.py', '--local_rank=0']
        bare = bare.strip("[]").replace("', '", "' '")
    try:
        words = shlex.split(bare, comments=False)
    except ValueError:
        words = bare.split()
    return words[:MAX_WORDS]


def flags(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield flags with their values: `--a 1`, `--a=1`, `-a`, Hydra's `a.b=1`; a flag without a value is true."""
    for at, word in enumerate(words):
        if word.startswith("--") and len(word) > 2:
            key, has_value, value = word[2:].partition("=")
            if not has_value:
                follower = words[at + 1] if at + 1 < len(words) else ""
                is_flag = follower.startswith("-") and not isinstance(typed(follower), (int, float))
                value = "true" if not follower or is_flag else follower
            yield key, value
        elif "=" in word and not word.startswith("-") and _HYDRA.fullmatch(word.partition("=")[0]):
            key, _, value = word.partition("=")
            yield key.lstrip("+"), value


def file_facts(lines: Sequence[NumberedLine], source: str) -> Iterator[Stated]:
    """Yield the facts that a configuration file, a launch script or an environment dump states."""
    keys = {m["key"] for _, text in lines[:120] if (m := _PAIR.match(text))}
    if len(keys.intersection(NAMES["of_a_model"].split())) >= 3:
        return  # describes the model; its `transformers_version` is that of whoever saved it
    for number, text in _joined(lines):
        yield from (Stated(name, value, source, number) for name, value in _line_facts(text))
    if any(text.split(":")[0].strip() in NAMES["of_accelerate"].split() for _, text in lines):
        yield Stated("launcher", "accelerate", source, lines[0][0], 1)


def _line_facts(text: str) -> Iterator[Pair]:
    if sbatch := _SBATCH.match(text.strip()):
        yield from command_facts(sbatch["words"])
    elif text.lstrip().startswith(("#", "//")):
        return
    elif (package := _PACKAGE.fullmatch(text.strip())) and (fact := PACKAGES.get(package_name(package["name"]))):
        yield fact, package["version"]
    elif looks_like_command(text):
        yield from command_facts(text)
        yield "command", " ".join(text.split())[:2000]
    elif variable := _VARIABLE.match(text):
        yield from variable_facts(variable["name"], variable["value"].strip())
    elif pair := _PAIR.match(text):
        yield from setting_facts(pair["key"], pair["value"].strip().rstrip(",}])").strip())


def written(what: str, *names: str | None) -> str:
    """Yield how the first of these frameworks that has a word for it is told `what`; empty where none has."""
    rows = (NAMES["flags"].get(name or "", {}) for name in names)
    return next((str(row[what]) for row in rows if what in row), "")


def timeout_setting(seconds: int, library: str | None, framework: str | None, launcher: str | None) -> str | None:
    """Yield how to write a timeout for the library and framework at hand; None where we know of no setting."""
    if library in OTHER_LIBRARIES:
        return None
    template = written("timeout", library, framework, launcher, "torch")
    return template.format(seconds=seconds, minutes=math.ceil(seconds / 60))


def package_name(name: str) -> str:
    """Yield a package's name as pip writes it."""
    return name.lower().replace("_", "-").replace(" ", "-")


def _joined(lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
    """The lines, with those that end in a backslash joined to the next ones under the first one's number."""
    start, parts = 0, list[str]()
    for number, text in lines:
        start = start if parts else number
        continues = text.rstrip().endswith("\\") and len(parts) < MAX_JOINED
        parts.append(text.rstrip()[:-1] if continues else text)
        if not continues:
            yield start, " ".join(parts)
            parts = []
    if parts:
        yield start, " ".join(parts)
