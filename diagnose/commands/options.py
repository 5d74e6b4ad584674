"""The options of `diagnose PATH...`, `run` and `hook`, declared once as the fields of records, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from glob import escape, glob
from pathlib import Path
from typing import Any, TypeVar, cast

from ..hooks.config import LANGUAGES
from ..views import FORMATS

HELP = Path(__file__).with_name("help.yaml")
COLORS = ("auto", "always", "never")
CHOICES = {"colors": COLORS, "engines": ("local", "ray"), "forms": FORMATS, "languages": LANGUAGES}
T = TypeVar("T")
Row = tuple[str, Any, Any, bool]  # name, type, default, whether it is an option


def option(*names: str, default: Any = None, **about: Any) -> Any:
    """Yield a field that is an option of the command line; `help.yaml` has its texts, and what completion offers.
    `default=list`: it may be given several times; without names it takes the words that belong to no option. `read`: how
    the text is read, which raises ValueError."""
    start: dict[str, Any] = {"default_factory": list} if default is list else {"default": default}
    return field(metadata={"names": names, **about}, **start)


def read_plainly(kind: type[T], typed: Sequence[str]) -> T | None:
    """Yield the options of a plain call, nothing in it wrong or asked for; None: typer has to look. Typer and what it
    brings double the memory that stays beside a job, and half the time that a small log takes."""
    of: Any = kind
    known = {name: f for f in fields(of) for names in f.metadata.get("names", ()) for name in names.split("/")}
    own = next(f for f in fields(of) if f.metadata.get("names") == ())
    given: dict[str, Any] = {own.name: []}
    rest = list(typed)
    while rest:
        word, equals, value = rest.pop(0).partition("=")
        if word == "--" or not word.startswith("-") or word == "-":
            given[own.name] += rest if word == "--" else [word + equals + value]
            if word == "--" or own.metadata.get("is_rest"):
                given[own.name] += [] if word == "--" else rest
                break
            continue
        found = known.get(word)
        is_flag = found is not None and "bool" in found.type
        if found is None or (is_flag and equals) or (not is_flag and not equals and (not rest or rest[0].startswith("-"))):
            return None
        if is_flag:
            given[found.name] = not word.startswith("--no-")
            continue
        try:
            value = _reader(found)(value if equals else rest.pop(0))
        except ValueError:
            return None
        given[found.name] = [*given.get(found.name, ()), value] if "list" in found.type else value
    return kind(**given)


def _reader(of: Field[Any]) -> Callable[[str], Any]:
    by_type: list[tuple[str, Callable[[str], Any]]] = [("int", int), ("float", float), ("Path", Path)]
    return of.metadata.get("read") or next((read for name, read in by_type if name in str(of.type)), str)


def command(kind: type[T], work: Callable[[T], int]) -> Callable[..., int]:
    """Yield the function that typer makes a command of: the record's fields are its options."""
    from typing import get_type_hints

    def call(**given: Any) -> int:
        return work(kind(**{name: value for name, value in given.items() if value is not None}))

    types, of = get_type_hints(kind), cast(Any, kind)
    own = [f for f in fields(of) if "names" in f.metadata]
    rows = [(f.name, types[f.name], None if f.default is MISSING else f.default, bool(f.metadata["names"])) for f in own]
    return _with_texts(call, kind.__name__, rows, {f.name: f.metadata for f in own})


def described(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    """Yield the function with the signature that typer reads: its words come first, and its options behind the `*`."""
    from inspect import signature

    given = signature(work, eval_str=True).parameters.values()
    rows = [(p.name, p.annotation, ... if p.default is p.empty else p.default, p.kind is p.KEYWORD_ONLY) for p in given]
    return _with_texts(work, name, rows, {})


def _with_texts(call: Callable[..., Any], name: str, rows: Sequence[Row], more: Mapping[str, Any]) -> Callable[..., Any]:
    """Give a function the words and options of `rows`, with their texts."""
    from inspect import Parameter, Signature

    from ..lines.cache import tables

    texts = tables(HELP)["options"][name]
    call.__signature__ = Signature([  # type: ignore[attr-defined]
        Parameter(of, Parameter.KEYWORD_ONLY, annotation=kind,
                  default=_typers(default, is_option, {"names": (), **more.get(of, {}), **texts[of]}))
        for of, kind, default, is_option in rows
    ])  # fmt: skip
    return call


def _typers(default: Any, is_option: bool, about: dict[str, Any]) -> Any:
    import typer

    about.pop("is_rest", None)
    names, read = about.pop("names"), about.pop("read", None)
    about |= {"rich_help_panel": about.pop("group", None), "parser": seconds if read == "seconds" else read}
    about["autocompletion"] = _offered(about.pop("values", None))
    return typer.Option(default, *names, show_default=False, **about) if is_option else typer.Argument(default, **about)


# --- what a shell offers, and lengths --------------------------------------------------------------------------------


def files(incomplete: str) -> list[str]:
    """Yield the files and folders that begin so; folders with a slash."""
    found = sorted(glob(escape(os.path.expanduser(incomplete)) + "*"))
    return [f"{path}/" if os.path.isdir(path) else path for path in found]


def _offered(values: str | list[str] | None) -> Callable[[str], list[str]] | None:
    """What completion asks: for files, ids of `causes` or `rules`, or names, as `help.yaml` says."""
    from ..catalogue.load import load_rules

    if values is None or values == "files":
        return files if values else None
    names = CHOICES.get(values) if isinstance(values, str) else values
    return lambda incomplete: [x for x in names or getattr(load_rules(), str(values)) if x.startswith(incomplete)]


def seconds(text: str) -> float:
    """Read `90`, `90s`, `15m`, `1.5h` as seconds above 0."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:].lower())
    try:
        value = float(text[:-1] if unit else text) * (unit or 1.0)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise ValueError(f"{text!r} is no length of time above 0; write 90, 90s, 15m or 1.5h")
    return value


# --- the options --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class ReportOptions:
    """What `diagnose PATH...` takes."""

    paths: list[str] = option(default=list)
    output: list[Path] = option("-o", "--output", default=list)
    format: str | None = option("--format")
    full: bool = option("--full", default=False)
    lang: str | None = option("--lang")
    color: str = option("--color", default="auto")
    template: Path | None = option("--template")
    redact: bool | None = option("--redact/--no-redact")
    quiet: bool = option("-q", "--quiet", default=False)
    verbose: bool = option("-v", "--verbose", default=False)
    why: str | None = option("--why")
    since: str | None = option("--since")
    until: str | None = option("--until")
    rank: int | None = option("--rank")
    exit_code: int | None = option("--exit-code")
    world_size: int | None = option("--world-size")
    rank_from: str | None = option("--rank-from")
    tz: str | None = option("--tz")
    rules: list[str] = option("--rules", default=list)
    budget: float | None = option("--budget", read=seconds)
    workers: int | None = option("--workers")
    engine: str = option("--engine", default="local")
    address: str | None = option("--address")
    on_every_node: list[str] = option("--on-every-node", default=list)
    remember: bool = option("--remember", default=False)
    exit_zero: bool = option("--exit-zero", default=False)
    version: bool = option("-V", "--version", default=False)
    templates: str | None = None  # from the configuration: a folder of templates
    configured: dict[str, str] = field(default_factory=dict)  # options checked later that a file gave, and that file


@dataclass(slots=True)
class _Hooked:
    output: list[str] = option("-o", "--output", default=list)
    budget: float | None = option("--budget", read=seconds)
    webhook: str | None = option("--webhook")
    shared: str | None = option("--shared")
    nodes: int | None = option("--nodes")
    no_redact: bool = option("--no-redact", default=False)


@dataclass(slots=True)
class RunOptions(_Hooked):
    """What `diagnose run` takes."""

    command: list[str] = option(default=list, is_rest=True)
    logs: list[str] = option("--logs", default=list)
    hang_after: float | None = option("--hang-after", read=seconds)
    stacks: bool = option("--stacks", default=False)
    keep: str | None = option("--keep")
    keep_mib: float | None = option("--keep-mib")


@dataclass(slots=True)
class HookOptions(_Hooked):
    """What `diagnose hook` takes."""

    paths: list[str] = option(default=list)
    exit_code: int | None = option("--exit-code")
    always: bool = option("--always", default=False)
    node: str | None = option("--node")
    job: str | None = option("--job")
    world_size: int | None = option("--world-size")
    stacks: list[int] = option("--stacks", default=list)
    rules: list[str] = option("--rules", default=list)
    tz: str | None = option("--tz")
    rank_from: str | None = option("--rank-from")
