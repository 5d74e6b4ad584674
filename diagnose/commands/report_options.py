"""The options of `diagnose PATH...`, for typer; `reporting` does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ..views import FORMATS
from .reporting import Options, run

EPILOG = (
    "Leaves with 0: healthy or recovered; 1: failed or hung; 2: wrong usage, or no line of a log to read; 3: unfinished, "
    "no cause found; 130: interrupted.\n\n"
    "Commands: scan, facts, case, rules, explain, schema, run, hook. `diagnose COMMAND --help` tells more. "
    "`diagnose --show-completion bash` (or zsh, fish) prints what lets the shell complete them."
)
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def report(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="logs, folders, archives; - is standard input")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", metavar="FILE", help="also write the report here; the suffix chooses the form"),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(metavar="FORM", help=f"form on standard output: {', '.join(FORMATS)} (default terminal)"),
    ] = None,
    rules: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="a folder of rules laid over the shipped ones")
    ] = None,
    rank_from: Annotated[
        str | None, typer.Option(metavar="REGEX", help="its first group in a file's name is the rank")
    ] = None,
    tz: Annotated[str | None, typer.Option(metavar="ZONE", help="zone of clocks that print none (default UTC)")] = None,
    exit_code: Annotated[Optional[int], typer.Option(metavar="N", help="the job's exit code, if you know it")] = None,
    world_size: Annotated[Optional[int], typer.Option(metavar="N", help="how many ranks the job had")] = None,
    since: Annotated[Optional[str], typer.Option(metavar="TIME", help="show only what happened after")] = None,
    until: Annotated[Optional[str], typer.Option(metavar="TIME", help="show only what happened before")] = None,
    rank: Annotated[Optional[int], typer.Option(metavar="N", help="show only what concerns this rank")] = None,
    lang: Annotated[Optional[str], typer.Option(metavar="LANG", help="en or zh (default: from the locale)")] = None,
    template: Annotated[
        Path | None, typer.Option(metavar="FILE", help="a Jinja template of your own for the report")
    ] = None,
    why: Annotated[
        str | None, typer.Option(metavar="CAUSE|rank N", help="why this cause lost, or what is known of a rank")
    ] = None,
    full: Annotated[bool, typer.Option(help="fold nothing")] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="processes that read (default: by size and cores)")
    ] = None,
    engine: Annotated[str, typer.Option(metavar="NAME", help="local, or ray: read on a Ray cluster")] = "local",
    address: Annotated[
        Optional[str], typer.Option(metavar="HOST:PORT", help="the Ray cluster (default: the one of this machine)")
    ] = None,
    on_every_node: Annotated[
        Optional[list[str]], typer.Option(metavar="PATH", help="with ray: read this on each node, where it lies")
    ] = None,
    budget: Annotated[Optional[float], typer.Option(metavar="SECONDS", help="stop reading after this long")] = None,
    redact: Annotated[
        Optional[bool], typer.Option("--redact/--no-redact", help="take out secrets (and private data in forms to paste)")
    ] = None,
    exit_zero: Annotated[bool, typer.Option(help="leave with 0 whatever the verdict; an error is still 2")] = False,
    quiet: Annotated[bool, typer.Option("-q", help="print nothing on standard output")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", help="say on standard error how each input was taken, and how long it took")
    ] = False,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> int:
    """Name the one root cause of a failed or hung distributed training job from its logs."""
    return run(Options(**locals()))
