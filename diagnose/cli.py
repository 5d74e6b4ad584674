"""The command line. Only this module (and its `cli_*` parts) prints."""

from __future__ import annotations

import sys

import typer

from . import cli_rules
from .errors import DiagnoseError

app = typer.Typer(no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False)
app.add_typer(cli_rules.app, name="rules")


@app.command()
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed  # noqa: PLC0415

    typer.echo(installed("diagnose-training"))


def main() -> None:
    """Run the command line; every error of ours is one line and its exit code."""
    try:
        app()
    except DiagnoseError as error:
        print(f"diagnose: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
