"""Files that say how a job was set up, as lines in, facts out: scripts, environment dumps, JSON and YAML.

They are recognised by content. JSON and YAML are read by key and line, not parsed: only flat `key: value` is wanted, a
broken or templated file still tells what it can, and every fact keeps its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lines.lazy_pattern import lazy
from .commands import command_facts, looks_like_command, variable_facts
from .fact_names import PACKAGES, Stated, stated_setting

NumberedLine = tuple[int, str]
MAX_JOINED = 400  # lines of one command

_PAIR = lazy(
    r"\s{0,80}[\[{(]?\s{0,8}[\"']?(?P<key>[A-Za-z][\w.\-]{1,80})[\"']?\s{0,4}[:=]\s{0,20}(?P<value>[^{\[\n#]{1,200})"
)
_VARIABLE = lazy(
    r"\s{0,20}(?:-\s{0,4})?(?:export\s{1,8}|declare -x\s{1,8}|#?SBATCH --export=)?(?P<name>[A-Z][A-Z0-9_]{2,80})"
    r"\s{0,2}=\s{0,2}(?P<value>[^\n;]{0,400})"
)
_SBATCH = lazy(r"#SBATCH\s{1,8}(?P<words>[^\n]{1,400})")
_PACKAGE = lazy(
    r"(?:\[(?:pip3?|conda)\] )?(?P<name>[A-Za-z][\w.\-]{1,60})(?:==|\s{1,60})"
    r"v?(?P<version>\d[\w.+!\-]{0,60})(?:\s[^\n]{0,200})?"
)
_ACCELERATE = frozenset(["compute_environment", "distributed_type", "num_machines", "machine_rank"])


def file_facts(lines: Sequence[NumberedLine], source: str) -> Iterator[Stated]:
    """Yield the facts that a configuration file, a launch script or an environment dump states."""
    if _is_model_config(lines):
        return  # describes the model; its `transformers_version` is that of whoever saved it
    for number, text in _joined(lines):
        sbatch = _SBATCH.match(text.strip())
        if sbatch:
            yield from command_facts(sbatch["words"], source, number)
        elif text.lstrip().startswith(("#", "//")):
            continue
        elif looks_like_command(text):
            yield from command_facts(text, source, number)
            yield Stated("command", " ".join(text.split())[:2000], source, number)
        else:
            yield from _line_facts(text, source, number)
    if any(text.split(":")[0].strip() in _ACCELERATE for _, text in lines):
        yield Stated("launcher", "accelerate", source, lines[0][0], 1)


def package_facts(lines: Sequence[NumberedLine], source: str) -> Iterator[Stated]:
    """Yield versions from the lines of `pip freeze`, `pip list`, `conda list` or the package part of `collect_env`."""
    for number, text in lines:
        match = _PACKAGE.fullmatch(text.strip())
        fact = PACKAGES.get(match["name"].lower().replace("_", "-")) if match else None
        if match and fact:
            yield Stated(fact, match["version"], source, number)


def _line_facts(text: str, source: str, number: int) -> Iterator[Stated]:
    variable = _VARIABLE.match(text)
    if variable:
        yield from variable_facts(variable["name"], variable["value"].strip(), source, number)
        return
    package = _PACKAGE.fullmatch(text.strip())
    if package and "==" in text:
        yield from package_facts([(number, text)], source)
        return
    pair = _PAIR.match(text)
    if pair:
        yield from stated_setting(pair["key"], pair["value"].strip().rstrip(",}])").strip(), source, number)


def _joined(lines: Sequence[NumberedLine]) -> Iterator[NumberedLine]:
    """The lines, with those that end in a backslash joined to the next ones under the first one's number."""
    start, parts = 0, list[str]()
    for number, text in lines:
        start = start if parts else number
        continues = text.rstrip().endswith("\\") and len(parts) < MAX_JOINED
        parts.append(text.rstrip()[:-1] if continues else text)
        if not continues:
            yield start, " ".join(parts) if len(parts) > 1 else parts[0]
            parts = []
    if parts:
        yield start, " ".join(parts)


def _is_model_config(lines: Sequence[NumberedLine]) -> bool:
    keys = {m["key"] for _, text in lines[:120] if (m := _PAIR.match(text))}
    return len(keys & {"architectures", "model_type", "hidden_size", "vocab_size", "num_hidden_layers"}) >= 3
