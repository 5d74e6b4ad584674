"""A folder of YAML in, a checked `Catalogue` out; compiled once into a safe JSON cache so that a run parses no YAML.

Layout (contract): `rules/<layer>/<cause>/cause.yaml` a cause, `…/<what-it-says>.yaml` a rule, `…/*.table.yaml` a table;
`rules/harmless/<topic>/…` and `rules/context/<topic>/…` hold rules that name no cause; `rules/sentences.yaml` holds what
questions and advice say.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import RuleError
from ..lines.cache import built, read_own, write_own
from .compiled import Catalogue, from_bytes, to_bytes
from .rule import Cause, Rule, Said, Table

__all__ = ["Catalogue", "load_rules"]

CACHE_VERSION = 12  # raise when what is read from the same files changes
JUST_NOW_NS = 2 * 10**9
CAUSELESS = ("harmless", "context")  # top folders whose rules name no cause
SHIPPED = next(  # inside the wheel; beside the package in a checkout
    (p for p in (Path(__file__).parents[1] / "rules", Path(__file__).parents[2] / "rules") if p.is_dir()),
    Path(__file__).parents[1] / "rules",
)


def load_rules(*extra: str | os.PathLike[str], fresh: bool = False) -> Catalogue:
    """Yield the shipped catalogue with the folders in `extra` (and `DIAGNOSE_RULES`) laid over it, in that order.

    `fresh` reads the YAML even where a compiled cache exists, and then keeps examples. Raises `RuleError`.
    """
    folders = rule_folders(*extra)
    for folder in folders:
        if not folder.is_dir():
            raise RuleError(f"{folder}: no such folder of rules")
    base = None if fresh else _shipped()
    paths = [(x, path) for x in folders[base is not None :] for path in _yaml_files(x)]  # a `Path` takes longer to make
    if base is not None and not paths:
        return base
    state = None if fresh else _state((path for _, path in paths), base.key if base else "")
    if state and (kept := _kept(state)):
        return kept
    catalogue = _parse([(folder, Path(path), Path(path).read_bytes()) for folder, path in paths], base)
    if state:
        write_own(f"catalogue-{state}.json", to_bytes(catalogue))
    return catalogue


@lru_cache(maxsize=1)
def _shipped() -> Catalogue | None:
    """The catalogue that came compiled with the wheel; the rules that lie beside it there are its source, to read."""
    data = built("catalogue.json")
    return from_bytes(data) if data else None


def lay_over(base: Catalogue, folder: Path) -> tuple[Catalogue, tuple[str, ...]]:
    """Yield a catalogue with one more folder over it, and the ids that the folder holds, these with their examples."""
    if not folder.is_dir():
        raise RuleError(f"{folder}: no such folder of rules")
    files = [(folder, path, path.read_bytes()) for path in map(Path, _yaml_files(folder))]
    whole = _parse(files, base)
    own = [".".join(path.relative_to(folder).parts[:2]) for _, path, _ in files if path.name == "cause.yaml"]
    return whole, (*own, *(name for name, rule in whole.rules.items() if rule is not base.rules.get(name)))


def rule_folders(*extra: str | os.PathLike[str]) -> list[Path]:
    """Yield the folders that make the catalogue, the shipped one first; later ones win."""
    named = os.environ.get("DIAGNOSE_RULES", "").split(os.pathsep)
    return [SHIPPED, *(Path(p) for p in named if p), *map(Path, extra)]


def _yaml_files(folder: Path) -> Iterator[str]:
    for root, dirs, names in os.walk(folder):
        dirs.sort()
        for name in sorted(names):
            # Translations are read by `translation`, when asked for.
            if name.endswith(".yaml") and not name.endswith(".zh.yaml") and not name.startswith("."):
                yield f"{root}{os.sep}{name}"


# --- compiled cache ---------------------------------------------------------------------------------------------

_LATEST: dict[str, Catalogue] = {}  # what this process read last: one that diagnoses job after job reads it once


def _state(paths: Iterable[str], base: str) -> str | None:
    """What the file system says of the files: while it says the same, they need not be read.

    None where one was changed just now: a second change within the clock's step would not show.
    """
    digest = hashlib.sha256(f"{CACHE_VERSION} {base}".encode())
    latest_ns = 0
    for path in paths:
        status = os.stat(path)
        latest_ns = max(latest_ns, status.st_ctime_ns, status.st_mtime_ns)
        digest.update(f"{path}\0{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}\0".encode())
    return digest.hexdigest()[:24] if time.time_ns() - latest_ns > JUST_NOW_NS else None


def _kept(state: str) -> Catalogue | None:
    if latest := _LATEST.get(state):
        return latest
    data = read_own(f"catalogue-{state}.json")
    if (catalogue := from_bytes(data) if data else None) is not None:
        _LATEST.clear()
        _LATEST[state] = catalogue
    return catalogue


def _key(files: Sequence[tuple[Path, Path, bytes]]) -> str:
    """The catalogue's content as a hash, independent of where it lies."""
    digest = hashlib.sha256(str(CACHE_VERSION).encode())
    for folder, path, data in files:
        digest.update(b"%b\0%d\0%b" % (str(path.relative_to(folder)).encode(), len(data), data))
    return digest.hexdigest()[:24]


# --- YAML -> values ---------------------------------------------------------------------------------------------


def _parse(files: Sequence[tuple[Path, Path, bytes]], base: Catalogue | None = None) -> Catalogue:
    key = f"{base.key}-{_key(files)}" if base else _key(files)
    rules: dict[str, Rule] = dict(base.rules) if base else {}
    causes: dict[str, Cause] = dict(base.causes) if base else {}
    tables: dict[str, Table] = dict(base.tables) if base else {}
    sentences: dict[str, Said] = {}
    homes: dict[str, Path] = {}
    for folder, path, data in files:
        parts = path.relative_to(folder).with_suffix("").parts
        loaded = load_yaml(path, data)
        if path.name.endswith(".table.yaml"):
            tables["/".join((*parts[:-1], path.name))] = check(Table, loaded, path)
            continue
        if parts == ("sentences",):
            sentences |= check(dict[str, Said], loaded, path)
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
            rules[rule.id] = rule if folder == SHIPPED else _of_a_user(rule, path)
            homes[rule.id] = path
    homeless = next((name for name, rule in rules.items() if rule.cause is not None and rule.cause not in causes), None)
    if homeless is not None:
        raise RuleError(f"{homes[homeless]}: {rules[homeless].cause} has no cause.yaml; write one beside it")
    said = (base.sentences if base else {}) | {name: {"en": x.en, "zh": x.zh} for name, x in sorted(sentences.items())}
    return Catalogue(dict(sorted(rules.items())), dict(sorted(causes.items())), dict(sorted(tables.items())), said, key)


def _of_a_user(rule: Rule, path: Path) -> Rule:
    """Yield the rule, to be asked under a time limit. Raises `RuleError` for a pattern that the matcher could not use."""
    import regex

    for pattern in (p for form in rule.forms for p in (form.pattern, form.prefix) if p is not None):
        try:
            regex.compile(pattern)
        except (regex.error, RecursionError, OverflowError) as error:
            raise RuleError(f"{path}: not a pattern that can be used: {pattern[:60]}: {error}") from error
    return replace(rule, forms=tuple([replace(form, is_timed=True) for form in rule.forms]))


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


_ADAPTERS: dict[Any, Any] = {}


def check(kind: Any, loaded: dict[str, Any], path: Path) -> Any:
    """Have pydantic check `loaded` against the dataclass `kind`; one line names the file and the key that is wrong."""
    import pydantic

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = pydantic.TypeAdapter(kind)
    try:
        return _ADAPTERS[kind].validate_python(loaded)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"]) or getattr(kind, "__name__", "")
        raise RuleError(f"{path}: {where}: {first['msg']}") from error
