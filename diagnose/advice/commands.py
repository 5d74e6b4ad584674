"""Launch commands in, facts out: which launcher, which framework, and what its flags ask for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from ..lines.lazy_pattern import lazy
from .fact_names import Stated, stated_setting, typed, variable_fact

MAX_WORDS = 2000
MAX_TEXT = 32 * 1024
_ASSIGNMENT = lazy(r"(?:export\s{1,8}|env\s{1,8})?(?P<name>[A-Z][A-Z0-9_]{1,80})=(?P<value>[^\n]{0,400})")

# A word of the command -> launcher; the first row that matches: `srun … torchrun …` is launched by torchrun.
LAUNCHERS: tuple[tuple[str, str], ...] = (
    (r"\btorchrun\b|torch\.distributed\.(?:run|launch)\b", "torchrun"),
    (r"\baccelerate(?:-launch|\s{1,4}launch)\b|accelerate\.commands\.launch", "accelerate"),
    (r"\bdeepspeed\b(?:\.launcher)?\s|deepspeed\.launcher", "deepspeed"),
    (r"\bmpirun\b|\bmpiexec\b", "mpirun"),
    (r"\bray\s{1,4}job\s{1,4}submit\b", "ray"),
    (r"\bhorovodrun\b", "horovod"),
    (r"\bsrun\b", "srun"),
)
# A word of the command or of a path in a traceback -> framework; the more special ones first: OpenRLHF uses DeepSpeed.
FRAMEWORKS: tuple[tuple[str, str], ...] = (
    (r"\bopenrlhf\b", "openrlhf"),
    (r"\bopen[_-]r1\b", "open-r1"),
    (r"(?:^|[/\s.])verl[/.]", "verl"),
    (r"\bllama-?factory(?:-cli)?\b", "llamafactory"),
    (r"\baxolotl\b", "axolotl"),
    (r"(?:^|[/\s])trl[/.]|\btrl\s{1,4}(?:sft|dpo|grpo|kto|rloo)\b", "trl"),
    (r"\bgpt-?neox\b|neox_args", "gpt-neox"),
    (r"\bpretrain_(?:gpt|llama|bert|t5)\w{0,20}\.py\b|(?:^|[/\s])megatron[/.]", "megatron"),
    (r"\bnemo[/.]", "nemo"),
    (r"\btorchtitan\b", "torchtitan"),
    (r"(?:^|[/\s])(?:pytorch_)?lightning[/.]", "lightning"),
    (r"(?:^|[/\s])transformers/|\btransformers\.trainer\b", "transformers"),
    (r"(?:^|[/\s])deepspeed/", "deepspeed"),
    (r"(?:^|[/\s])accelerate/", "accelerate"),
)
# The trainer of TRL that a script or a file of a traceback is about.
_TRAINERS = "sft|dpo|grpo|orpo|cpo|kto|ppo|rloo"
_TRAINER = lazy(rf"\btrl\s{{1,4}}(?P<word>{_TRAINERS})\b|(?:^|[/\s])(?P<file>{_TRAINERS})(?:_trainer)?\.py\b")
_LAUNCHERS = [(lazy(p), name) for p, name in LAUNCHERS]
_FRAMEWORKS = [(lazy(p, re.IGNORECASE), name) for p, name in FRAMEWORKS]
_COMMAND = lazy(
    r"(?:\S{0,200}/)?(?:torchrun|accelerate|deepspeed|srun|mpirun|mpiexec|ray|horovodrun|python[\d.]{0,5}|llamafactory-cli|trl|vllm)\s"
)
_WRAPPERS = frozenset(["nohup", "exec", "time", "sudo", "env", "numactl", "stdbuf", "timeout"])


def looks_like_command(text: str) -> bool:
    """Whether a line of a script starts a program that this reads: variables and wrappers in front are skipped."""
    words = text.strip().split(None, 12)
    while words and ("=" in words[0].partition("/")[0] or words[0] in _WRAPPERS):
        words = words[1:]
    return bool(words) and _COMMAND.match(" ".join(words) + " ") is not None


def launcher_of(text: str) -> str | None:
    """Name the launcher in a command."""
    return next((name for pattern, name in _LAUNCHERS if pattern.search(text[:MAX_TEXT] + " ")), None)


def framework_of(text: str) -> str | None:
    """Name the framework that a command or a path belongs to."""
    return next((name for pattern, name in _FRAMEWORKS if pattern.search(text[:MAX_TEXT])), None)


def trainer_of(text: str) -> str | None:
    """Name TRL's trainer in a command or path: `trl/scripts/orpo.py`, `trl sft --…`, `trl/trainer/cpo_trainer.py`."""
    match = _TRAINER.search(text[:MAX_TEXT])
    return (match["word"] or match["file"]) if match else None


def command_facts(text: str, source: str, line: int | None, surety: int = 2) -> Iterator[Stated]:
    """Yield what a launch command states: launcher, framework, sizes, time-outs, variables set in front of it."""
    text = text[:MAX_TEXT]
    launcher, framework = launcher_of(text), framework_of(text)
    if launcher:
        yield Stated("launcher", launcher, source, line, surety)
    if framework:
        yield Stated("framework", framework, source, line, surety)
    trainer = trainer_of(text)
    if trainer:
        yield Stated("trainer", trainer, source, line, surety)
    words = split_words(text)
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match:
            yield from variable_facts(match["name"], match["value"], source, line, surety)
    for key, value in flags(words):
        yield from stated_setting(key, value, source, line, surety)


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
                value = "true" if not follower or (follower.startswith("-") and not _is_number(follower)) else follower
            yield key, value
        elif "=" in word and not word.startswith("-") and _HYDRA.fullmatch(word.partition("=")[0]):
            key, _, value = word.partition("=")
            yield key.lstrip("+"), value


_HYDRA = lazy(r"\+{0,2}[a-z][\w]{0,60}(?:\.[\w]{1,60}){1,8}")


def _is_number(text: str) -> bool:
    return isinstance(typed(text), (int, float))


def variable_facts(name: str, text: str, source: str, line: int | None, surety: int = 2) -> Iterator[Stated]:
    """Yield the fact that an environment variable states; variables that are not looked at yield nothing."""
    fact, value = variable_fact(name), typed(text)
    if fact is not None and value is not None:
        yield Stated(fact, str(value) if fact in _TEXTS else value, source, line, surety)


_TEXTS = frozenset(["cuda_visible_devices", "socket_ifname", "gloo_ifname", "cuda_alloc_conf"])
