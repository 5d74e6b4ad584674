"""`diagnose run` and `diagnose hook` as typer sees them, for help and completion; the words go on untouched.

`cli.main` calls both before typer is imported: `run` stays in memory as long as the job, and `hook` has to exit 0
whatever is wrong.
"""

from __future__ import annotations

import typer

_RAW = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def add_commands(app: typer.Typer) -> None:
    """Adds both commands to the command line."""
    app.command("run", context_settings=_RAW, help="Run a job, pass everything through, diagnose when it fails.")(run)
    app.command("hook", context_settings=_RAW, help="Report from an epilog, trap, sidecar or CI step; exits 0.")(hook)


def run(context: typer.Context) -> None:
    """Run a job, pass everything through, diagnose when it fails."""
    from ..run.command import main

    raise typer.Exit(main(context.args))


def hook(context: typer.Context) -> None:
    """Report from an epilog, trap, sidecar or CI step; exits 0."""
    from ..hooks.command import main

    raise typer.Exit(main(context.args))
