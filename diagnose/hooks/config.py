"""A user's defaults: `diagnose.toml`, or the `[tool.diagnose]` table of `pyproject.toml`, as one checked `Config`.

The nearest one from the working directory upwards counts, up to the top of the repository. Options of the command
line go before it. Paths in it are relative to its folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
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
    remember: bool | None = None  # write the fingerprint of each failure down
    ignored: tuple[str, ...] = ()  # what the file says and may not decide
    was_found: bool = False  # by looking for it; nobody named it

    @property
    def note(self) -> str:
        """One line that names a file that was found; empty where none is in use, or the user named it himself."""
        if not self.was_found:
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


def config_or_defaults(who: str) -> Config:
    """Yield the configuration; the defaults, and one line on stderr, where it is wrong: a job must not fail for that."""
    try:
        config = load_config()
        said = config.note
    except FileNotFoundError:  # the working folder was removed: there is none
        return Config()
    except Exception as error:
        config, said = Config(), f"{error}; going on with the defaults"
    if said:
        with suppress(OSError):
            os.write(2, f"{who}: {said}\n".encode("utf-8", "replace"))
    return config


def _distrusted(config: Config) -> Config:
    hook = config.hook
    said = {
        "redact": config.redact is False, "remember": config.remember, "templates": config.templates,
        "hook.output": hook.output, "hook.webhook": hook.webhook, "hook.shared": hook.shared,
    }  # fmt: skip
    kept = HookConfig(budget_s=hook.budget_s, hang_after_s=hook.hang_after_s)
    ignored = tuple(name for name, value in said.items() if value)
    trusted = replace(config, redact=config.redact or None, remember=None, templates=None, hook=kept)
    return replace(trusted, ignored=ignored, was_found=True)


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


def _values(table: Mapping[str, Any], keys: Mapping[str, Kind], path: Path, where: str) -> dict[str, Any]:
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
            found[name] = _value(keys[name], value, path.parent)
        except ValueError as error:
            raise UsageError(f"{path}: {where}{key} {error}") from error
    return found


def _value(kind: Kind, value: Any, folder: Path) -> Any:
    """Yield a value as its kind asks for it; paths from the file's folder. Raises `ValueError`: what it must be."""
    if kind == "paths":
        return tuple(_value("path", item, folder) for item in (value if isinstance(value, list) else [value]))
    if isinstance(kind, tuple):
        fits, wanted = value in kind, f"must be one of {', '.join(kind)}"
    else:
        types, wanted = _TYPES[kind]
        fits = isinstance(value, types) and (kind == "flag" or not isinstance(value, bool))
    if not fits or value == "" or (kind == "seconds" and value <= 0):
        raise ValueError(wanted)
    if kind == "seconds":
        return float(value)
    if kind not in ("path", "folder"):
        return value
    path = str(folder / os.path.expanduser(value))
    if kind == "folder" and not os.path.isdir(path):
        raise ValueError(f"is {path}, and no such folder is there")
    return path


Kind = str | tuple[str, ...]  # one of `_TYPES`, or the names to choose from
_TYPES: dict[str, tuple[Any, str]] = {
    "text": (str, "must be text"),
    "path": (str, "must be text"),
    "folder": (str, "must be text"),
    "flag": (bool, "must be true or false"),
    "seconds": ((int, float), "must be a number of seconds above 0"),
    "table": (dict, "must be a table"),
}
_KEYS: dict[str, Kind] = {
    "rules": "paths", "format": FORMATS, "redact": "flag", "tz": "text", "rank_from": "text", "lang": LANGUAGES,
    "templates": "folder", "remember": "flag", "hook": "table",
}  # fmt: skip
_HOOK_KEYS: dict[str, Kind] = {
    "output": "paths", "budget_s": "seconds", "hang_after_s": "seconds", "webhook": "text", "shared": "path",
}  # fmt: skip
_ALIASES = {"budget": "budget_s", "hang-after": "hang_after_s", "hang_after": "hang_after_s", "template": "templates"}
