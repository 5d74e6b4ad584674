"""A user's defaults: `diagnose.toml`, or the `[tool.diagnose]` table of `pyproject.toml`, as one checked `Config`.

The nearest one from the working directory upwards counts, up to the top of the repository. Options of the command
line go before it. Paths in it are relative to its folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..lines.record import record
from ..views import FORMATS

LANGUAGES = ("en", "zh")
DEFAULT_BUDGET_S = 30.0  # what a node's clean-up can spare: Slurm and Kubernetes kill 30 s after they ask
_OWN_FILE = "diagnose.toml"
_PROJECT_FILE = "pyproject.toml"


Kind = str | tuple[str, ...]  # text, path, paths, folder, one of `_KINDS`, or the names to choose from
_KINDS: dict[str, tuple[Any, str]] = {
    "flag": (bool, "must be true or false"),
    "seconds": ((int, float), "must be a number of seconds above 0"),
}


def _set_by(key: str, kind: Kind, default: Any = None, *, own: bool = False) -> Any:
    """A field, and by which key the file sets it; `own`: only one that the user names, since it shows, sends or writes."""
    return field(default=default, metadata={"key": key, "kind": kind, "own": own})


@record
class Config:
    """Defaults for every command; None where the file does not say."""

    path: str | None = None
    rules: tuple[str, ...] = _set_by("rules", "paths", ())
    format: str | None = _set_by("format", FORMATS)
    redact: bool | None = _set_by("redact", "flag", own=True)
    tz: str | None = _set_by("tz", "text")
    rank_from: str | None = _set_by("rank-from", "text")
    lang: str | None = _set_by("lang", LANGUAGES)
    templates: str | None = _set_by("templates", "folder", own=True)  # its files replace the shipped ones of the same name
    budget_s: float = _set_by("hook.budget", "seconds", DEFAULT_BUDGET_S)
    hang_after_s: float | None = _set_by("hook.hang-after", "seconds")
    output: tuple[str, ...] = _set_by("hook.output", "paths", (), own=True)
    webhook: str | None = _set_by("hook.webhook", "text", own=True)  # or `$NAME` of the variable that holds this secret
    shared: str | None = _set_by("hook.shared", "path", own=True)  # the folder where the nodes of one job leave their scans
    remember: bool = _set_by("remember", "flag", False, own=True)  # each failure, for `diagnose history`
    note: str = ""  # one line that names a file that was found, and what in it is not obeyed


_KEYS = {f.metadata["key"]: f for f in fields(Config) if f.metadata}


def load_config(start: str | os.PathLike[str] = ".") -> Config:
    """Reads the nearest configuration at or above `start`; an empty one where there is none.

    Raises UsageError that names the file and the key when something in it is wrong. `DIAGNOSE_CONFIG` names a file
    outright; one that was only found may have come with a stranger's logs, so it cannot show more, send or write.
    """
    if named := os.environ.get("DIAGNOSE_CONFIG"):
        return _read(Path(named)) or Config()
    try:
        here = Path(start).absolute()
    except FileNotFoundError:  # the working folder was removed: there is none
        return Config()
    for folder in (here, *here.parents):
        for name in (_OWN_FILE, _PROJECT_FILE):
            if (folder / name).is_file() and (config := _read(folder / name)):
                return _distrusted(config)
        if (folder / ".git").exists():
            break
    return Config()


def config_or_defaults(who: str) -> Config:
    """Yield the configuration; the defaults, and one line on stderr, where it is wrong: a job must not fail for that."""
    try:
        config = load_config()
        said = config.note
    except Exception as error:
        config, said = Config(), f"{error}; going on with the defaults"
    if said:
        say(who, said)
    return config


def say(who: str, text: str) -> None:
    """Write one line to the real stderr, whatever `sys.stderr` was replaced by."""
    with suppress(OSError):
        os.write(2, f"{who}: {text}\n".encode("utf-8", "replace"))


def _distrusted(config: Config) -> Config:
    """The configuration without what only a file that the user names may set."""
    own = [
        f for f in _KEYS.values() if f.metadata["own"] and getattr(config, f.name) not in (f.default, f.name == "redact")
    ]
    refused = f"; only a file that DIAGNOSE_CONFIG names can set {', '.join(f.metadata['key'] for f in own)}" if own else ""
    kept: dict[str, Any] = {f.name: f.default for f in own}
    return replace(config, note=f"settings from {config.path}{refused}", **kept)


def template_for(folder: str | None, suffix: str) -> str | None:
    """The user's own template for an output with this suffix: `report.md.j2` in the template folder; None for ours."""
    path = os.path.join(folder or "", f"report{suffix.lower()}.j2")
    return path if folder and os.path.isfile(path) else None


def _read(path: Path) -> Config | None:
    """Yield what the file says; None where it is a project's and does not name us."""
    is_ours = path.name != _PROJECT_FILE
    try:
        text = path.read_text(encoding="utf-8")
        if not is_ours and "diagnose" not in text:
            return None  # most projects have one, few name us in it, and to load the parser takes longer than this
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib  # type: ignore[import-not-found]
        table = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        if not is_ours:
            return None  # another tool's business
        raise UsageError(f"{path} is not TOML: {error}") from error
    own = table if is_ours else table.get("tool", {}).get("diagnose")
    return None if own is None else Config(path=str(path), **dict(_values(own, path)))


def _values(table: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the fields of `Config` that a table sets, checked. Raises `UsageError`."""
    hook = table.get("hook", {})
    if not isinstance(hook, dict):
        raise UsageError(f"{path}: hook must be a table")
    own = {key: value for key, value in table.items() if key != "hook"}
    for key, value in {**own, **{f"hook.{key}": value for key, value in hook.items()}}.items():
        if (found := _KEYS.get(key.replace("_", "-"))) is None:
            raise UsageError(f"{path}: unknown key {key}; {_hint(key.replace('_', '-'))}")
        try:
            yield found.name, _checked(found.metadata["kind"], value, path.parent.absolute())
        except ValueError as error:
            raise UsageError(f"{path}: {key} {error}") from error


def _hint(name: str) -> str:
    from difflib import get_close_matches

    where = "hook." if name.startswith("hook.") else ""
    known = [key.removeprefix(where) for key in ("hook", *_KEYS) if key.startswith("hook.") == bool(where)]
    near = get_close_matches(name.removeprefix(where), known, 1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(sorted(known))}"


def _checked(kind: Kind, value: Any, folder: Path) -> Any:
    """Yield a value as its kind asks for it; paths from the file's folder. Raises `ValueError`: what it must be."""
    if kind == "paths":
        return tuple(_checked("path", item, folder) for item in (value if isinstance(value, list) else [value]))
    if isinstance(kind, tuple):
        fits, wanted = value in kind, f"must be one of {', '.join(kind)}"
    else:
        types, wanted = _KINDS.get(kind, (str, "must be text"))
        fits = isinstance(value, types) and (kind == "flag" or not isinstance(value, bool))
    if not fits or value == "" or (kind == "seconds" and value <= 0):
        raise ValueError(wanted)
    if kind not in ("path", "folder"):
        return float(value) if kind == "seconds" else value
    path = str(folder / os.path.expanduser(value))
    if kind == "folder" and not os.path.isdir(path):
        raise ValueError(f"is {path}, and no such folder is there")
    return path
