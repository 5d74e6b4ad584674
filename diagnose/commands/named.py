"""The named commands: scan, facts, case, rules, explain, schema; and run and hook for their help."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Annotated, Optional

import typer

from ..errors import RuleError, UsageError
from ..report.written_files import open_named
from . import facts as cli_facts
from . import rules as cli_rules
from . import running as cli_run
from .cause_names import no_such_cause

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
CASE_SUFFIXES = (".tar.gz", ".tgz")
app.add_typer(cli_rules.app, name="rules")
app.command("facts")(cli_facts.facts)
cli_run.add_commands(app)


@app.callback()
def commands() -> None:
    """Name the root cause of a failed distributed training job; `diagnose PATH...` is the default command."""


@app.command()
def scan(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="logs, folders, archives")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="FILE.scan.json.gz")],
    rules: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="a folder of rules laid over the shipped ones")
    ] = None,
    budget: Annotated[Optional[float], typer.Option(metavar="SECONDS", help="stop reading after this long")] = None,
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


@app.command()
def case(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="logs, folders, archives")],
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


@app.command()
def schema(what: Annotated[str, typer.Argument(help="report")] = "report") -> int:
    """Print the JSON Schema of the report."""
    if what != "report":
        raise UsageError(f"schema {what}: only `report` has one here; see also `diagnose rules schema`")
    from ..report.report import schema as report_schema

    typer.echo(json.dumps(report_schema(), indent=2))
    return 0


@app.command()
def explain(
    cause: Annotated[str, typer.Argument(metavar="CAUSE", help="an id such as memory.cuda-oom")],
    lang: Annotated[Optional[str], typer.Option(metavar="LANG", help="en or zh (default: from the locale)")] = None,
) -> int:
    """Print the page of a cause: what it means, what it brings about, what to do."""
    from ..catalogue.load import load_rules, rule_folders
    from ..report.catalogue_page import cause_page
    from ..report.language import choose_language
    from ..report.translation import Translator

    language = choose_language(lang, os.environ)
    catalogue = load_rules()
    if cause not in catalogue.causes:
        if cause == "unknown":
            raise RuleError("unknown is the answer where no line names a cause; the report says what to collect")
        raise RuleError(no_such_cause(cause, catalogue.causes))
    translator = Translator(language, rule_folders())
    typer.echo(cause_page(catalogue, catalogue.causes[cause], translator))
    return 0
