"""A folder of YAML in, a checked `Catalogue` out; compiled once into a safe JSON cache so that a run parses no YAML.

Layout (contract): `rules/<layer>/<cause>/cause.yaml` a cause, `…/<what-it-says>.yaml` a rule, `…/*.table.yaml` a table;
`rules/harmless/<topic>/…` and `rules/context/<topic>/…` hold rules that name no cause.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .errors import RuleError
from .rule import Cause, Explains, Form, Remedy, Rule, Table, TableRef

CACHE_VERSION = 5  # raise when the classes in `rule` change
CAUSELESS = ("harmless", "context")  # top folders whose rules name no cause
SHIPPED = next(  # inside the wheel; beside the package in a checkout
    (p for p in (Path(__file__).parent / "rules", Path(__file__).parent.parent / "rules") if p.is_dir()),
    Path(__file__).parent / "rules",
)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All rules, causes and tables by id, sorted. `key` names this exact content."""

    rules: dict[str, Rule]
    causes: dict[str, Cause]
    tables: dict[str, Table]
    key: str

    def explains(self, cause: str, other: str) -> tuple[Explains, ...]:
        """Yield how `cause` reaches `other` (empty: it does not explain it)."""
        mine = self.causes.get(cause)
        if mine is None or cause == other:
            return ()
        layer = other.partition(".")[0] + ".*"
        return tuple(e for e in mine.explains if e.cause in (other, layer))


def load_rules(*extra: str | os.PathLike[str], fresh: bool = False) -> Catalogue:
    """Yield the shipped catalogue with the folders in `extra` (and `DIAGNOSE_RULES`) laid over it, in that order.

    `fresh` reads the YAML even where a compiled cache exists, and then keeps examples. Raises `RuleError`.
    """
    folders = rule_folders(*extra)
    for folder in folders:
        if not folder.is_dir():
            raise RuleError(f"{folder}: no such folder of rules")
    files = [(folder, path, path.read_bytes()) for folder in folders for path in _yaml_files(folder)]
    key = _key(files)
    if not fresh and (cached := _read_cache(key)):
        return cached
    catalogue = _parse(files, key)
    if not fresh:
        _write_cache(catalogue)
    return catalogue


def rule_folders(*extra: str | os.PathLike[str]) -> list[Path]:
    """Yield the folders that make the catalogue, the shipped one first; later ones win."""
    named = os.environ.get("DIAGNOSE_RULES", "").split(os.pathsep)
    return [SHIPPED, *(Path(p) for p in named if p), *map(Path, extra)]


def _yaml_files(folder: Path) -> Iterator[Path]:
    for root, dirs, names in os.walk(folder):
        dirs.sort()
        for name in sorted(names):
            # Translations are read by `translation`, when asked for.
            if name.endswith(".yaml") and not name.endswith(".zh.yaml") and not name.startswith("."):
                yield Path(root, name)


def _key(files: Sequence[tuple[Path, Path, bytes]]) -> str:
    """The catalogue's content as a hash, independent of where it lies."""
    digest = hashlib.sha256(str(CACHE_VERSION).encode())
    for folder, path, data in files:
        digest.update(b"%b\0%d\0%b" % (str(path.relative_to(folder)).encode(), len(data), data))
    return digest.hexdigest()[:24]


# --- YAML -> values ---------------------------------------------------------------------------------------------


def _parse(files: Sequence[tuple[Path, Path, bytes]], key: str) -> Catalogue:
    rules: dict[str, Rule] = {}
    causes: dict[str, Cause] = {}
    tables: dict[str, Table] = {}
    for folder, path, data in files:
        parts = path.relative_to(folder).with_suffix("").parts
        loaded = load_yaml(path, data)
        if path.name.endswith(".table.yaml"):
            tables["/".join((*parts[:-1], path.name))] = check(Table, loaded, path)
            continue
        if len(parts) != 3:
            raise RuleError(f"{path}: a rule lies in <layer>/<cause>/<what-it-says>.yaml")
        home = ".".join(parts[:2])
        if parts[2] == "cause":
            causes[home] = replace(check(Cause, _rename_if(loaded), path), id=home)
            continue
        cause = None if parts[0] in CAUSELESS else home
        rule = replace(check(Rule, loaded, path), id=f"{home}/{parts[2]}", cause=cause)
        if rule.disable:
            rules.pop(rule.id, None)
        else:
            rules[rule.id] = rule
    return Catalogue(dict(sorted(rules.items())), dict(sorted(causes.items())), dict(sorted(tables.items())), key)


def load_yaml(path: Path, data: bytes) -> dict[str, Any]:
    """Yield the mapping that a file holds. Raises `RuleError`."""
    import yaml

    try:
        loaded = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise RuleError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(loaded, dict):
        raise RuleError(f"{path}: expected a mapping of keys")
    return loaded


def _rename_if(loaded: dict[str, Any]) -> dict[str, Any]:
    """`if` is the word for authors, and YAML 1.1 reads a bare yes or no as a truth value."""
    if isinstance(loaded.get("restart"), bool):
        loaded["restart"] = "yes" if loaded["restart"] else "no"
    for remedy in loaded.get("remedy") or []:
        if isinstance(remedy, dict) and "if" in remedy:
            remedy["condition"] = remedy.pop("if")
    return loaded


_ADAPTERS: dict[type, Any] = {}


def check(kind: type[Any], loaded: dict[str, Any], path: Path) -> Any:
    """Have pydantic check `loaded` against the dataclass `kind`; one line names the file and the key that is wrong."""
    import pydantic

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = pydantic.TypeAdapter(kind)
    try:
        return _ADAPTERS[kind].validate_python(loaded)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"]) or kind.__name__
        raise RuleError(f"{path}: {where}: {first['msg']}") from error


# --- compiled cache ---------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """The user's cache folder for `diagnose`; it need not exist or be writable."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base, "diagnose")


def _read_cache(key: str) -> Catalogue | None:
    try:
        raw = json.loads((cache_folder() / f"catalogue-{key}.json").read_bytes())
        return Catalogue(
            {r["id"]: _thaw_rule(r) for r in raw["rules"]},
            {c["id"]: _thaw_cause(c) for c in raw["causes"]},
            {k: Table(**t) for k, t in raw["tables"].items()},
            key,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None  # absent, unreadable or damaged: it is rebuilt


def _thaw_rule(raw: dict[str, Any]) -> Rule:
    forms = tuple(Form(**{**f, "literals": tuple(f["literals"])}) for f in raw["forms"])
    table = TableRef(**raw["table"]) if raw["table"] else None
    return Rule(**{**raw, "forms": forms, "table": table, "references": tuple(raw["references"])})


def _thaw_cause(raw: dict[str, Any]) -> Cause:
    lists = {k: tuple(raw[k]) for k in ("collect_next_time", "references")}
    remedy = tuple(Remedy(**r) for r in raw["remedy"])
    return Cause(**{**raw, **lists, "remedy": remedy, "explains": tuple(Explains(**e) for e in raw["explains"])})


def _write_cache(catalogue: Catalogue) -> None:
    slim = [
        replace(r, forms=tuple(replace(f, examples=()) for f in r.forms), counter_examples=())
        for r in catalogue.rules.values()
    ]
    content = {
        "rules": [asdict(r) for r in slim],
        "causes": [asdict(c) for c in catalogue.causes.values()],
        "tables": {k: asdict(t) for k, t in catalogue.tables.items()},
    }
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f"catalogue-{catalogue.key}.{os.getpid()}.tmp"
        scratch.write_text(json.dumps(content))
        scratch.replace(folder / f"catalogue-{catalogue.key}.json")
    except OSError:
        pass  # a read-only home costs a rebuild, never the run
