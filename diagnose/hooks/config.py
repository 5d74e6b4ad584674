"""A user's defaults: `diagnose.toml`, or the `[tool.diagnose]` table of `pyproject.toml`, as one checked `Config`.

The nearest one from the working directory upwards counts, up to the top of the repository. Options of the command
line go before it. Paths in it are relative to its folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..lines.record import record
from ..views import FORMATS

LANGUAGES = ("en", "zh")
DEFAULT_BUDGET_S = 30.0  # what a node's clean-up can spare: Slurm and Kubernetes kill 30 s after they ask
_OWN_FILE = "diagnose.toml"
_PROJECT_FILE = "pyproject.toml"


@record
class HookConfig:
    """Defaults of `diagnose run`, `diagnose hook` and `diagnose.hook`."""

    output: tuple[str, ...] = ()
    budget_s: float = DEFAULT_BUDGET_S
    hang_after_s: float | None = None
    webhook: str | None = None  # an address, or `$NAME` of the variable that holds it, since it is a secret
    shared: str | None = None  # the folder where the nodes of one job leave their scans


@record
class Config:
    """Defaults for every command; None where the file does not say."""

    path: str | None = None
    rules: tuple[str, ...] = ()
    format: str | None = None
    redact: bool | None = None
    tz: str | None = None
    rank_from: str | None = None
    lang: str | None = None
    templates: str | None = None  # a folder whose files replace the shipped ones of the same name
    hook: HookConfig = field(default_factory=HookConfig)
    ignored: tuple[str, ...] = ()  # what the file says and may not decide

    @property
    def note(self) -> str:
        """One line that names the file; empty where none is in use."""
        if self.path is None:
            return ""
        refused = f"; {', '.join(self.ignored)} counts only in a file that DIAGNOSE_CONFIG names" if self.ignored else ""
        return f"settings from {self.path}{refused}"


def load_config(start: str | os.PathLike[str] = ".") -> Config:
    """Reads the nearest configuration at or above `start`; an empty one where there is none.

    Raises UsageError that names the file and the key when something in it is wrong. `DIAGNOSE_CONFIG` names a file
    outright; one that was only found may have come with a stranger's logs, so it cannot show more, send or write.
    """
    named = os.environ.get("DIAGNOSE_CONFIG")
    if named:
        return _read(Path(named))
    for folder in _upwards(Path(start).absolute()):
        for name in (_OWN_FILE, _PROJECT_FILE):
            if (folder / name).is_file():
                config = _read(folder / name)
                if config.path is not None:
                    return _distrusted(config)
    return Config()


def _distrusted(config: Config) -> Config:
    hook = config.hook
    said = {
        "redact": config.redact is False, "templates": config.templates, "hook.output": hook.output,
        "hook.webhook": hook.webhook, "hook.shared": hook.shared,
    }  # fmt: skip
    kept = HookConfig(budget_s=hook.budget_s, hang_after_s=hook.hang_after_s)
    ignored = tuple(name for name, value in said.items() if value)
    return replace(config, redact=config.redact or None, templates=None, hook=kept, ignored=ignored)


def template_for(folder: str | None, suffix: str) -> str | None:
    """The user's own template for an output with this suffix: `report.md.j2` in the template folder; None for ours."""
    if folder is None:
        return None
    path = os.path.join(folder, f"report{suffix.lower()}.j2")
    return path if os.path.isfile(path) else None


def _upwards(start: Path) -> list[Path]:
    folders = []
    for folder in (start, *start.parents):
        folders.append(folder)
        if (folder / ".git").exists():
            break
    return folders


def _parsed(text: str, path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        try:
            import tomli as tomllib  # type: ignore[import-not-found]
        except ImportError:
            raise UsageError(f"{path} needs Python 3.11, or the package tomli") from None
    return dict(tomllib.loads(text))


def _read(path: Path) -> Config:
    try:
        text = path.read_text(encoding="utf-8")
        if path.name == _PROJECT_FILE and "diagnose" not in text:
            return Config()  # most projects have one, few name us in it, and to load the parser takes longer than this
        table = _parsed(text, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        if path.name == _PROJECT_FILE:
            return Config()  # another tool's business
        raise UsageError(f"{path} is not TOML: {error}") from error
    if path.name == _PROJECT_FILE:
        table = table.get("tool", {}).get("diagnose")
        if table is None:
            return Config()
    return _check(table, path)


def _check(table: Mapping[str, Any], path: Path) -> Config:
    values = _values(table, _KEYS, path, "")
    hook = _values(values.pop("hook", {}), _HOOK_KEYS, path, "hook.")
    return Config(path=str(path), hook=HookConfig(**hook), **values)


def _values(table: Mapping[str, Any], keys: Mapping[str, Reader], path: Path, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        name = _ALIASES.get(key, key.replace("-", "_"))
        if name not in keys:
            from difflib import get_close_matches

            known = {name.removesuffix("_s").replace("_", "-") for name in keys}  # as the documents write them
            near = get_close_matches(name.replace("_", "-"), known, 1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"
            raise UsageError(f"{path}: unknown key {where}{key}; {hint}")
        try:
            found[name] = keys[name](value, path.parent)
        except ValueError as error:
            raise UsageError(f"{path}: {where}{key} {error}") from error
    return found


Reader = Callable[[Any, Path], Any]


def _text(value: Any, _folder: Path) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be text")
    return value


def _flag(value: Any, _folder: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _seconds(value: Any, _folder: Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ValueError("must be a number of seconds above 0")
    return float(value)


def _path(value: Any, folder: Path) -> str:
    return str(folder / os.path.expanduser(_text(value, folder)))


def _folder(value: Any, folder: Path) -> str:
    path = _path(value, folder)
    if not os.path.isdir(path):
        raise ValueError(f"is {path}, and no such folder is there")
    return path


def _paths(value: Any, folder: Path) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    return tuple(_path(item, folder) for item in listed)


def _table(value: Any, _folder: Path) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("must be a table")
    return value


def _one_of(names: tuple[str, ...]) -> Reader:
    def read(value: Any, _folder: Path) -> str:
        if value not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return str(value)

    return read


_KEYS: dict[str, Reader] = {
    "rules": _paths,
    "format": _one_of(FORMATS),
    "redact": _flag,
    "tz": _text,
    "rank_from": _text,
    "lang": _one_of(LANGUAGES),
    "templates": _folder,
    "hook": _table,
}
_HOOK_KEYS: dict[str, Reader] = {
    "output": _paths,
    "budget_s": _seconds,
    "hang_after_s": _seconds,
    "webhook": _text,
    "shared": _path,
}
_ALIASES = {"budget": "budget_s", "hang-after": "hang_after_s", "hang_after": "hang_after_s", "template": "templates"}
