"""The options of `diagnose PATH...`, `run` and `hook`, declared once as the fields of records, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from glob import escape, glob
from pathlib import Path
from typing import Any, TypeVar, cast

from ..hooks.config import DEFAULT_BUDGET_S, LANGUAGES
from ..views import FORMATS

COLORS = ("auto", "always", "never")
ENGINES = ("local", "ray")
_READING, _JOB, _SHOWN, _FORM, OTHER = "Reading", "The job", "What is shown", "Form", "Other"
T = TypeVar("T")


def option(*names: str, default: Any = None, **about: Any) -> Any:
    """Yield a field that is an option of the command line; `default=list`: it may be given several times.

    `about`: typer's `help` and `metavar`; `group`, a heading in the help; `values`, what completion offers; `read`, how
    the text is read, which raises ValueError.
    """
    start: dict[str, Any] = {"default_factory": list} if default is list else {"default": default}
    return field(metadata={"names": names, **about}, **start)


def words(**about: Any) -> Any:
    """Yield a field for the words that belong to no option."""
    return option(default=list, **about)


def read_plainly(kind: type[T], typed: Sequence[str]) -> T | None:
    """Yield the options of a plain call, nothing in it wrong or asked for; None: typer has to look.

    Typer and what it brings double the memory that stays beside a job, and half the time that a small log takes.
    """
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
        if found is None or (not equals and "bool" not in found.type and (not rest or rest[0].startswith("-"))):
            return None
        if "bool" in found.type:
            if equals:
                return None
            given[found.name] = not word.startswith("--no-")
            continue
        try:
            value = _reader(found)(value if equals else rest.pop(0))
        except ValueError:
            return None
        given[found.name] = [*given.get(found.name, ()), value] if "list" in found.type else value
    return kind(**given)


def _reader(of: Field[Any]) -> Callable[[str], Any]:
    by_type = next((read for name, read in (("int", int), ("float", float)) if name in str(of.type)), str)
    return of.metadata.get("read") or by_type


def command(kind: type[T], work: Callable[[T], int]) -> Callable[..., int]:
    """Yield the function that typer makes a command of: the record's fields are its options."""
    import inspect
    from typing import get_type_hints

    def call(**given: Any) -> int:
        return work(kind(**{name: value for name, value in given.items() if value is not None}))

    types, of = get_type_hints(kind), cast(Any, kind)
    call.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=_typers(f), annotation=types[f.name])
        for f in fields(of) if "names" in f.metadata
    ])  # fmt: skip
    return call


def _typers(of: Field[Any]) -> Any:
    import typer

    about = dict(of.metadata)
    names, values = about.pop("names"), about.pop("values", ())
    about.pop("is_rest", None)
    if callable(values):
        about["autocompletion"] = values
    elif values:
        about["autocompletion"] = lambda incomplete: [value for value in values if value.startswith(incomplete)]
    about |= {"rich_help_panel": about.pop("group", None), "parser": about.pop("read", None)}
    if not names:
        return typer.Argument(None, **about)
    return typer.Option(None if of.default is MISSING else of.default, *names, show_default=False, **about)


# --- what a shell offers, and lengths --------------------------------------------------------------------------------


def files(incomplete: str) -> list[str]:
    """Yield the files and folders that begin so; folders with a slash."""
    found = sorted(glob(escape(os.path.expanduser(incomplete)) + "*"))
    return [f"{path}/" if os.path.isdir(path) else path for path in found]


def causes(incomplete: str) -> list[str]:
    """Yield the causes whose ids begin so."""
    from ..catalogue.load import load_rules

    return [cause for cause in load_rules().causes if cause.startswith(incomplete)]


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
# fmt: off
RULES = {"default": list, "metavar": "DIR", "values": files, "help": "a folder of rules laid over the shipped ones"}


@dataclass(slots=True)
class ReportOptions:
    """What `diagnose PATH...` takes."""

    paths: list[str] = words(metavar="PATH...", values=files, help="logs, folders, archives, globs; - is standard input")
    output: list[Path] = option("-o", "--output", default=list, metavar="FILE", read=Path, values=files, group=_FORM,
        help="also write the report here; the suffix chooses the form (.md .html .json .xml .txt); - is standard output")
    format: str | None = option("--format", metavar="FORM", values=FORMATS, group=_FORM,
        help=f"form on standard output: {', '.join(FORMATS)} (default terminal)")
    full: bool = option("--full", default=False, group=_FORM, help="fold nothing")
    lang: str | None = option("--lang", metavar="LANG", values=LANGUAGES, group=_FORM,
        help="en or zh (default: from the locale)")
    color: str = option("--color", default="auto", metavar="WHEN", values=COLORS, group=_FORM,
        help="auto, always or never; auto minds NO_COLOR and FORCE_COLOR")
    template: Path | None = option("--template", metavar="FILE", read=Path, values=files, group=_FORM,
        help="a Jinja template of your own for the report")
    redact: bool | None = option("--redact/--no-redact", group=_FORM,
        help="take out secrets, and private data in forms to paste (the default)")
    quiet: bool = option("-q", "--quiet", default=False, group=_FORM, help="print nothing on standard output")
    verbose: bool = option("-v", "--verbose", default=False, group=_FORM,
        help="say on standard error how each input was taken, and how long it took")
    why: str | None = option("--why", metavar="CAUSE|rank N", values=causes, group=_SHOWN,
        help="why this cause (an id, a code, a message) lost, or this rank is not at fault")
    since: str | None = option("--since", metavar="TIME", group=_SHOWN,
        help="only what happened after: 17:34:52, 2026-11-20T17:34:52, '10 minutes ago'")
    until: str | None = option("--until", metavar="TIME", group=_SHOWN, help="only what happened before")
    rank: int | None = option("--rank", metavar="N", group=_SHOWN, help="only what concerns this rank")
    exit_code: int | None = option("--exit-code", metavar="N", group=_JOB, help="the job's exit code, if you know it")
    world_size: int | None = option("--world-size", metavar="N", group=_JOB, help="how many ranks the job had")
    rank_from: str | None = option("--rank-from", metavar="REGEX", group=_JOB,
        help="its first group in a file's name is the rank")
    tz: str | None = option("--tz", metavar="ZONE", group=_JOB, help="zone of clocks that print none (default UTC)")
    rules: list[str] = option("--rules", group=_READING, **RULES)
    budget: float | None = option("--budget", metavar="TIME", read=seconds, group=_READING,
        help="stop reading after this long (90, 15m, 1h)")
    workers: int | None = option("--workers", metavar="N", group=_READING,
        help="processes that read (default: by size and cores)")
    engine: str = option("--engine", default="local", metavar="NAME", values=ENGINES, group=_READING,
        help="local, or ray: read on a Ray cluster")
    address: str | None = option("--address", metavar="HOST:PORT", group=_READING,
        help="the Ray cluster (default: the one of this machine)")
    on_every_node: list[str] = option("--on-every-node", default=list, metavar="PATH", group=_READING,
        help="with ray: read this on each node, where it lies")
    remember: bool = option("--remember", default=False, group=OTHER,
        help="write the failure's fingerprint down, and name earlier jobs that failed like this (see `diagnose history`)")
    exit_zero: bool = option("--exit-zero", default=False, group=OTHER,
        help="leave with 0 whatever the verdict; an error is still 2")
    version: bool = option("-V", "--version", default=False, group=OTHER, help="print the version")
    templates: str | None = None  # from the configuration: a folder of templates
    configured: dict[str, str] = field(default_factory=dict)  # options checked later that a file gave, and that file


@dataclass(slots=True)
class _Hooked:
    output: list[str] = option("-o", "--output", default=list, metavar="FILE", values=files,
        help="write the report here; .md .html .json .txt .xml")
    budget: float | None = option("--budget", metavar="TIME", read=seconds,
        help=f"the most that a report may take (default {DEFAULT_BUDGET_S:g} s)")
    webhook: str | None = option("--webhook", metavar="URL",
        help="post the report (Slack-compatible); better by DIAGNOSE_WEBHOOK")
    shared: str | None = option("--shared", metavar="DIR", values=files,
        help="where the nodes of one job leave their scans; one of them reports for all")
    nodes: int | None = option("--nodes", metavar="N", help="how many nodes the job has (default: from the launcher)")
    no_redact: bool = option("--no-redact", default=False, help="leave secrets and private data in the report")


@dataclass(slots=True)
class RunOptions(_Hooked):
    """What `diagnose run` takes."""

    command: list[str] = words(metavar="-- COMMAND...", is_rest=True, help="the job and its arguments, never looked at")
    logs: list[str] = option("--logs", default=list, metavar="PATH", values=files,
        help="more logs of the job: a file, folder or glob")
    hang_after: float | None = option("--hang-after", metavar="TIME", read=seconds,
        help="report when nothing is printed for so long (900, 15m, 1h)")
    stacks: bool = option("--stacks", default=False,
        help="then also take the stacks of the job's Python processes, by py-spy")
    keep: str | None = option("--keep", metavar="DIR", values=files,
        help="keep the copy of the output here, also when the job succeeds")
    keep_mib: float | None = option("--keep-mib", metavar="N", help="size of the copy's tail (default 32)")


@dataclass(slots=True)
class HookOptions(_Hooked):
    """What `diagnose hook` takes."""

    paths: list[str] = words(metavar="PATH...", values=files, help="logs, folders, archives, globs")
    exit_code: int | None = option("--exit-code", metavar="N",
        help="the job's exit code; above 128 as a shell's $? means a signal")
    always: bool = option("--always", default=False, help="report on a success too")
    node: str | None = option("--node", metavar="NAME", help="this node's name")
    job: str | None = option("--job", metavar="NAME",
        help="the job's name and attempt in --shared (default: from the environment)")
    world_size: int | None = option("--world-size", metavar="N", help="how many ranks the job had")
    stacks: list[int] = option("--stacks", default=list, metavar="PID", help="take stacks of the processes below this one")
    rules: list[str] = option("--rules", **RULES)
    tz: str | None = option("--tz", metavar="ZONE", help="zone of clocks that print none")
    rank_from: str | None = option("--rank-from", metavar="REGEX", help="its first group in a file's name is the rank")
