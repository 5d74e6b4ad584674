"""The options of `diagnose PATH...`, `run` and `hook`, declared as the fields of records; typer makes commands of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from glob import escape, glob
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand

from ..errors import DiagnoseError, UsageError
from ..hooks.config import DEFAULT_BUDGET_S, LANGUAGES
from ..views import FORMATS

HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
COLORS = ("auto", "always", "never")
ENGINES = ("local", "ray")
_READING, _JOB, _SHOWN, _FORM, OTHER = "Reading", "The job", "What is shown", "Form", "Other"
_WRITTEN = "write the report here; .md .html .json .txt .xml"
_BUDGET = f"the most that a report may take (default {DEFAULT_BUDGET_S:g} s)"
_WEBHOOK = "post the report (Slack-compatible); better by DIAGNOSE_WEBHOOK"
_UNREDACTED = "leave secrets and private data in the report"
T = TypeVar("T")
Completion = Callable[[str], list[str]]  # what was typed of a value -> what it may become


def option(*names: str, default: Any = None, values: Sequence[str] | Completion = (), **about: Any) -> Any:
    """Yield a field that is an option; `default=list`: it may be given several times, `read`: how its text is read."""
    is_list = default is list
    made = typer.Option(None if is_list else default, *names, show_default=False, **_typers(values, **about))
    start: dict[str, Any] = {"default_factory": list} if is_list else {"default": default}
    return field(metadata={"typer": made}, **start)


def words(values: Sequence[str] | Completion = (), **about: Any) -> Any:
    """Yield a field for the words that belong to no option."""
    return field(default_factory=list, metadata={"typer": typer.Argument(None, **_typers(values, **about))})


def _typers(values: Sequence[str] | Completion, group: str | None = None, read: Any = None, **about: Any) -> dict[str, Any]:
    offer = values if callable(values) else lambda incomplete: [v for v in values if v.startswith(incomplete)]
    return {"autocompletion": offer if values else None, "rich_help_panel": group, "parser": read, **about}


def command(kind: type[T], work: Callable[[T], int]) -> Callable[..., int]:
    """Yield the function that typer makes a command of: the record's fields are its options."""
    import inspect
    from typing import get_type_hints

    def call(**given: Any) -> int:
        return work(kind(**{name: value for name, value in given.items() if value is not None}))

    types = get_type_hints(kind)
    named: Any = [f for f in fields(kind) if "typer" in f.metadata]  # type: ignore[arg-type]
    call.__doc__ = kind.__doc__
    call.__signature__ = inspect.Signature([  # type: ignore[attr-defined]
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.metadata["typer"], annotation=types[f.name])
        for f in named
    ])  # fmt: skip
    return call


class Grouped(TyperCommand):
    """A command whose help lists its options in groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for each group."""
        rows: dict[str, list[Any]] = {}
        rest = OTHER if any(getattr(param, "rich_help_panel", None) for param in self.params) else "Options"
        for param in [*self.get_params(ctx), *(ctx.command.params if ctx.command is not self else [])]:
            if param.param_type_name == "argument":
                rows.setdefault("Arguments", []).append((param.metavar, param.help))
            elif row := param.get_help_record(ctx):
                rows.setdefault(getattr(param, "rich_help_panel", None) or rest, []).append(row)
        for heading, found in rows.items():
            with formatter.section(heading):
                formatter.write_dl(found)


def typed(app: typer.Typer, words: Sequence[str]) -> int:
    """Run the commands of `app` as typer reads the words; yield the exit code. Raises `UsageError` in one line."""
    main: Any = typer.main.get_command(app)
    try:
        result = main.main(args=list(words), prog_name="diagnose", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not typer's own wording of a usage error
            raise
        said = error.format_message().rstrip(".").replace("Value error, ", "")  # typer's name for what a reader raised
        if said.startswith("Usage: "):  # a command without arguments: what is said is its help
            print(said)
            return DiagnoseError.exit_code
        raise UsageError(_hint(said, words, main.commands)) from None
    return result if isinstance(result, int) else 0


def _hint(said: str, words: Sequence[str], commands: Iterable[str]) -> str:
    """The wording of a usage error with what to do: `--json` is what other tools call `--format json`."""
    own = f"{words[0]} " if words and words[0] in commands else ""
    form = next((form for form in FORMATS if said.startswith(f"No such option: --{form}")), None)
    if form and not own:
        return f"No such option: --{form}; did you mean --format {form}?"
    return f"{said} (see `diagnose {own}--help`)"


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


def mebibytes(text: str) -> float:
    """Read a size above 0."""
    value = float(text)
    if not 0 < value <= 1 << 20:
        raise ValueError(f"{text!r} is no number of MiB above 0")
    return value


# --- the options --------------------------------------------------------------------------------------------------
# fmt: off


@dataclass(slots=True)
class ReportOptions:
    """Name the one root cause of a failed or hung distributed training job from its logs."""

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
        help="take out secrets (and private data in forms to paste)")
    quiet: bool = option("-q", "--quiet", default=False, group=_FORM, help="print nothing on standard output")
    verbose: bool = option("-v", "--verbose", default=False, group=_FORM,
        help="say on standard error how each input was taken, and how long it took")
    why: str | None = option("--why", metavar="CAUSE|rank N", values=causes, group=_SHOWN,
        help="why this cause lost, or what is known of a rank")
    since: str | None = option("--since", metavar="TIME", group=_SHOWN,
        help="only what happened after: 17:34:52, 2026-11-20T17:34:52, '10 minutes ago'")
    until: str | None = option("--until", metavar="TIME", group=_SHOWN, help="only what happened before")
    rank: int | None = option("--rank", metavar="N", group=_SHOWN, help="only what concerns this rank")
    exit_code: int | None = option("--exit-code", metavar="N", group=_JOB, help="the job's exit code, if you know it")
    world_size: int | None = option("--world-size", metavar="N", group=_JOB, help="how many ranks the job had")
    rank_from: str | None = option("--rank-from", metavar="REGEX", group=_JOB,
        help="its first group in a file's name is the rank")
    tz: str | None = option("--tz", metavar="ZONE", group=_JOB, help="zone of clocks that print none (default UTC)")
    rules: list[str] = option("--rules", default=list, metavar="DIR", values=files, group=_READING,
        help="a folder of rules laid over the shipped ones")
    budget: float | None = option("--budget", metavar="SECONDS", group=_READING, help="stop reading after this long")
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
class RunOptions:
    """Run a job, pass everything through, and name the root cause when it fails.

    stdin, stdout, stderr, signals, the terminal and the exit code pass through untouched; the job is never killed, slowed
    or replaced by what diagnose does. While the job runs, a bounded copy of its output is kept in a temporary folder
    (48 MiB at most for each stream), and the logs that the launcher's own flags name (--log-dir, --output-filename, -o of
    srun) are remembered. When the job fails, is ended by a signal, or stays silent for --hang-after, the report is written
    and its summary is printed on standard error, within --budget.
    """

    command: list[str] = words(metavar="-- COMMAND...", help="the job and its arguments, never looked at")
    output: list[str] = option("-o", "--output", default=list, metavar="FILE", values=files, help=_WRITTEN)
    logs: list[str] = option("--logs", default=list, metavar="PATH", values=files,
        help="more logs of the job: a file, folder or glob")
    hang_after: float | None = option("--hang-after", metavar="TIME", read=seconds,
        help="report when nothing is printed for so long (900, 15m, 1h)")
    stacks: bool = option("--stacks", default=False,
        help="then also take the stacks of the job's Python processes, by py-spy")
    budget: float | None = option("--budget", metavar="TIME", read=seconds, help=_BUDGET)
    keep: str | None = option("--keep", metavar="DIR", values=files,
        help="keep the copy of the output here, also when the job succeeds")
    keep_mib: float | None = option("--keep-mib", metavar="N", read=mebibytes, help="size of the copy's tail (default 32)")
    webhook: str | None = option("--webhook", metavar="URL", help=_WEBHOOK)
    shared: str | None = option("--shared", metavar="DIR", values=files,
        help="where the nodes of one job leave their scans; one of them reports for all")
    nodes: int | None = option("--nodes", metavar="N", help="how many nodes the job has (default: from the launcher)")
    no_redact: bool = option("--no-redact", default=False, help=_UNREDACTED)


@dataclass(slots=True)
class HookOptions:
    """Report on a job from where its failure is noticed (epilog, trap, sidecar, CI step), and never make it worse.

    Exits 0 whatever happens, within --budget. With --exit-code 0 it does nothing. Without PATH it reads what Slurm's
    environment names. Of several nodes each leaves its scan in --shared DIR, and one of them reports for all.
    """

    paths: list[str] = words(metavar="PATH...", values=files, help="logs, folders, archives, globs")
    output: list[str] = option("-o", "--output", default=list, metavar="FILE", values=files, help=_WRITTEN)
    exit_code: int | None = option("--exit-code", metavar="N",
        help="the job's exit code; above 128 as a shell's $? means a signal")
    always: bool = option("--always", default=False, help="report on a success too")
    budget: float | None = option("--budget", metavar="TIME", read=seconds, help=_BUDGET)
    webhook: str | None = option("--webhook", metavar="URL", help=_WEBHOOK)
    shared: str | None = option("--shared", metavar="DIR", values=files,
        help="where the nodes of one job leave their scans")
    nodes: int | None = option("--nodes", metavar="N", help="how many nodes the job has")
    node: str | None = option("--node", metavar="NAME", help="this node's name")
    job: str | None = option("--job", metavar="NAME",
        help="the job's name and attempt in --shared (default: from the environment)")
    world_size: int | None = option("--world-size", metavar="N", help="how many ranks the job had")
    stacks: list[int] = option("--stacks", default=list, metavar="PID", help="take stacks of the processes below this one")
    rules: list[str] = option("--rules", default=list, metavar="DIR", values=files,
        help="a folder of rules laid over the shipped ones")
    tz: str | None = option("--tz", metavar="ZONE", help="zone of clocks that print none")
    rank_from: str | None = option("--rank-from", metavar="REGEX", help="its first group in a file's name is the rank")
    no_redact: bool = option("--no-redact", default=False, help=_UNREDACTED)
