"""The command line as typer sees it, and the commands that read logs: `scan`, `facts`, `case`, `schema`.

`diagnose PATH...` is a command without a name, taken where the first word is no other command's.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ..advice.fact_names import Value
from ..advice.fact_store import Facts, Known
from ..advice.statement import Notice
from ..errors import DiagnoseError, UsageError
from ..lines.rank_ranges import rank_ranges
from ..report.printable import printable
from ..report.redaction import redact_text
from ..report.report import json_text
from ..report.written_files import open_named
from ..views import FORMATS
from . import agents, catalogue, jobs, report, runs, watch
from .options import OTHER, HookOptions, ReportOptions, RunOptions, command, files

DEFAULT = "PATH..."  # no word that a shell would hand over as it is, and what the usage line calls it
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
EXAMPLES = """\
\b
Examples:
  diagnose logs/ -o report.html             read a folder, and write a report to open in a browser
  kubectl logs train-0 | diagnose           read what is piped in
  diagnose run -- torchrun train.py         run a job, and diagnose it when it fails

\b
Exit codes:
  0 healthy or recovered · 1 failed or hung · 2 wrong usage, or no line of a log to read
  3 unfinished: no cause found · 130 interrupted; --exit-zero makes 1 and 3 a 0"""
CASE_SUFFIXES = (".tar.gz", ".tgz")
NAME_WIDTH, VALUE_WIDTH = 26, 40
MAX_VALUES = 8  # different values of one fact that are shown
Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="logs, folders, archives", autocompletion=files)]
Rules = Annotated[
    list[str] | None,
    typer.Option(metavar="DIR", help="a folder of rules laid over the shipped ones", autocompletion=files),
]


class _Grouped(TyperCommand):
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


class _Commands(TyperGroup):
    """All commands; words that begin with none of them are those of the default command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before its words; help on it is help on all."""
        if args and not (args[0] in self.commands or args[0].endswith("-completion")):
            asks_help = any(word in ("-h", "--help") for word in args) and not ctx.resilient_parsing
            args = ["--help"] if asks_help else [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options of the default command in their groups."""
        self.format_commands(ctx, formatter)
        self.commands[DEFAULT].format_options(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Yield commands and files, or the default command's options."""
        default = self.commands[DEFAULT]
        if incomplete.startswith("-"):
            return [*default.shell_complete(ctx, incomplete), *super().shell_complete(ctx, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *default.params[0].shell_complete(ctx, incomplete)]


app = typer.Typer(
    cls=_Commands, rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=HELP, epilog=EXAMPLES,
    help=ReportOptions.__doc__, subcommand_metavar="[COMMAND] [PATH]...", options_metavar="[OPTIONS]",
)  # fmt: skip
app.command(DEFAULT, hidden=True, cls=_Grouped, context_settings=HELP, epilog=EXAMPLES)(
    command(ReportOptions, report.run)
)
_RAW = {"allow_interspersed_args": False, **HELP}  # from the job's first word on nothing is an option of ours
app.command(
    "run", cls=_Grouped, context_settings=_RAW, epilog=jobs.RUN_EXAMPLES, short_help="Run a job; diagnose it when it fails."
)(command(RunOptions, jobs.run))
app.command(
    "hook", cls=_Grouped, context_settings=HELP, epilog=jobs.HOOK_EXAMPLES,
    short_help="Report from an epilog, trap, sidecar or CI step; exits 0.",
)(command(HookOptions, jobs.hook))  # fmt: skip
app.command("explain", context_settings=HELP, short_help="Print the page of a cause, code or message.")(catalogue.explain)
app.command("mcp", context_settings=HELP, short_help="Serve an assistant (Model Context Protocol).")(agents.mcp)
app.command(
    "watch", cls=_Grouped, context_settings=HELP, epilog=watch.EXAMPLES, short_help="Follow a running job's logs."
)(command(watch.WatchOptions, watch.watch))
app.command("history", context_settings=HELP, short_help="List the failures that --remember wrote down.")(runs.history)
app.command("diff", context_settings=HELP, short_help="Compare a failed run with a good one.")(runs.diff)
app.add_typer(
    catalogue.app, name="rules", context_settings=HELP, short_help="List, show, test and write rules."
)


@app.callback()
def _nothing() -> None:
    """Take no options of its own."""


def typed(words: Sequence[str]) -> int:
    """Run the command line as typer reads it; yield the exit code. Raises `UsageError` in one line."""
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


@app.command(context_settings=HELP, short_help="Read logs into a small file to diagnose elsewhere.")
def scan(
    paths: Paths,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="FILE.scan.json.gz")],
    rules: Rules = None,
    budget: Annotated[float | None, typer.Option(metavar="SECONDS", help="stop reading after this long")] = None,
) -> int:
    """Read logs into a small portable file that `diagnose` takes as input elsewhere; secrets in its lines stay in it."""
    from ..catalogue.load import load_rules
    from ..engine import check_budget
    from ..scan.logs_read import require_something
    from ..scan.reading import Deadline, read_all
    from ..scan.scan import scan_to_json
    from ..scan.scanner import ScanRules

    check_budget(budget)
    found = read_all(paths, ScanRules(load_rules(*(rules or []))), Deadline.after(budget))
    require_something(found, paths)
    data = scan_to_json(found).encode("utf-8", "replace")
    try:
        with open(output, "wb", opener=open_named) as file:
            file.write(gzip.compress(data, mtime=0) if output.suffix == ".gz" else data)
    except OSError as error:
        raise UsageError(f"-o {output}: {error.strerror or error}") from error
    typer.echo(f"diagnose: wrote {output} ({len(found.sources)} sources)", err=True)
    return 0


@app.command(context_settings=HELP, short_help="Pack a case to report a wrong verdict with.")
def case(
    paths: Paths,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="CASE.tar.gz")],
) -> int:
    """Pack a redacted, trimmed case to report a wrong verdict with."""
    from ..catalogue.load import load_rules
    from ..engine import reduce
    from ..report.account import account
    from ..report.case_file import pack_case
    from ..scan.logs_read import require_log
    from ..scan.reading import Deadline, read_all
    from ..scan.scanner import ScanRules

    if not output.name.endswith(CASE_SUFFIXES):
        raise UsageError(f"-o {output}: a case is a {CASE_SUFFIXES[0]}")
    catalogue = load_rules()
    found = read_all(paths, ScanRules(catalogue), Deadline.after(None))
    require_log(found, paths)
    report = account(reduce(found, catalogue), catalogue, found)
    try:
        with open(output, "wb", opener=open_named) as file:
            file.write(pack_case(found, report))
    except OSError as error:
        raise UsageError(f"-o {output}: {error.strerror or error}") from error
    typer.echo(f"diagnose: wrote {output}; fill in truth.yaml and read the logs once before you send it", err=True)
    return 0


@app.command(context_settings=HELP)
def schema(what: Annotated[str, typer.Argument(help="report")] = "report") -> int:
    """Print the JSON Schema of the report."""
    if what != "report":
        raise UsageError(f"schema {what}: only `report` has one here; see also `diagnose rules schema`")
    from ..report.report import schema as report_schema

    typer.echo(json.dumps(report_schema(), indent=2))
    return 0


@app.command(context_settings=HELP, short_help="Print versions, sizes, settings of the job.")
def facts(
    paths: Paths,
    rules: Rules = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> int:
    """Print what is known of the job: versions, sizes, time-outs, settings; and where ranks or files disagree."""
    found = facts_in(paths, rules or ())
    typer.echo(to_json(found) if as_json else to_text(found), nl=False)
    return 0


def facts_in(paths: Sequence[str], rules: Sequence[str] = ()) -> Facts:
    """Yield the facts of everything in `paths`. Raises `DiagnoseError`."""
    from ..advice.facts import read_facts
    from ..advice.known_bugs import settle_known_bugs
    from ..advice.resources import idle_notices
    from ..catalogue.load import load_rules
    from ..job.event_reader import EventReader
    from ..job.job import build_job
    from ..scan.reading import Deadline, read_all
    from ..scan.scanner import ScanRules

    catalogue = load_rules(*rules)
    scan = read_all(list(paths), ScanRules(catalogue), Deadline())
    reader = EventReader(catalogue)
    job = build_job([reader.read(s) for s in scan.sources.values() if s.skipped is None and s.kind != "recorder"])
    found = read_facts(job)
    notices = (*found.notices, *idle_notices(found), *settle_known_bugs(job, found, catalogue))
    return Facts(found.known, found.packages, notices)


def to_text(found: Facts) -> str:
    """Yield the facts as lines: name, value, where; then the notices."""
    lines = [line for name in found.known for line in _lines(name, found.all(name)[:MAX_VALUES])]
    if not lines:
        lines = ["no facts found"]
    for notice in _notices(found):
        lines += ["", f"{notice.topic}: {_public(notice.text)}"]
        lines += [f"  $ {step.command}" for step in notice.remedy if step.command]
    return "\n".join(printable(line).replace("\n", " ") for line in lines) + "\n"


def to_json(found: Facts) -> str:
    """Yield the facts and notices as one JSON object; the same facts give the same text."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [{"value": _public(k.value), "source": _public(k.place), "ranks": list(k.ranks)} for k in known]
        for name, known in found.known.items()
    }
    notices = [{"topic": n.topic, "text": _public(n.text)} for n in _notices(found)]
    return json_text({"facts": rows, "notices": notices})


def _notices(found: Facts) -> tuple[Notice, ...]:
    from ..catalogue.load import load_rules

    texts = load_rules().sentences if found.notices else {}
    return tuple(n.told(lambda said: said.filled(texts)) for n in found.notices)


def _lines(name: str, values: Sequence[Known]) -> list[str]:
    shown = []
    for number, known in enumerate(values):
        label = name if number == 0 else ""
        text = str(_public(known.value))
        value = text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"
        who = _who(known, len(values) > 1)
        shown.append(f"{label:<{NAME_WIDTH}} {value:<{VALUE_WIDTH}} {_public(known.place)}{who}".rstrip())
    return shown


def _who(known: Known, differs: bool) -> str:
    return f"  ranks {rank_ranges(known.ranks)}" if differs and known.ranks else ""


def _public(value: Value) -> Value:
    """Without secrets, since a launch command may hold a token; and without numbers that JSON lacks."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return redact_text(value, privacy=False) if isinstance(value, str) else value
