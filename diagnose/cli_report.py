"""`diagnose PATH...`: reads, decides, prints the report and writes it where asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from .errors import UsageError
from .report import Report

FORMATS = ("terminal", "markdown", "html", "json", "slack", "github", "junit")
SUFFIXES = {".md": "markdown", ".html": "html", ".htm": "html", ".json": "json", ".txt": "terminal", ".xml": "junit"}
PRIVATE = ("markdown", "html", "slack")  # forms that are pasted in public: privacy items go, secrets always do
EPILOG = "Commands: scan, facts, case, rules, explain, schema, run, hook. `diagnose COMMAND --help` tells more."
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command(epilog=EPILOG)
def report(  # noqa: PLR0913 - the command line is what it is
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH...", help="logs, folders, archives; - is standard input")
    ] = None,
    output: Annotated[
        list[Path] | None,
        typer.Option("-o", "--output", help="also write the report here; the suffix chooses the form"),
    ] = None,
    format: Annotated[str, typer.Option(help=f"form on standard output: {', '.join(FORMATS)}")] = "terminal",
    rules: Annotated[Optional[list[str]], typer.Option(help="a folder of rules laid over the shipped ones")] = None,  # noqa: UP045
    rank_from: Annotated[
        str | None, typer.Option(metavar="REGEX", help="its first group in a file's name is the rank")
    ] = None,
    tz: Annotated[
        str | None, typer.Option(metavar="ZONE", help="zone of clocks that print none (default UTC)")
    ] = None,
    exit_code: Annotated[Optional[int], typer.Option(metavar="N", help="the job's exit code, if you know it")] = None,  # noqa: UP045
    world_size: Annotated[Optional[int], typer.Option(metavar="N", help="how many ranks the job had")] = None,  # noqa: UP045
    since: Annotated[Optional[str], typer.Option(metavar="TIME", help="show only what happened after")] = None,  # noqa: UP045
    until: Annotated[Optional[str], typer.Option(metavar="TIME", help="show only what happened before")] = None,  # noqa: UP045
    rank: Annotated[Optional[int], typer.Option(metavar="N", help="show only what concerns this rank")] = None,  # noqa: UP045
    lang: Annotated[Optional[str], typer.Option(help="en or zh (default: from the locale)")] = None,  # noqa: UP045
    template: Annotated[Optional[Path], typer.Option(help="a Jinja template of your own for the report")] = None,  # noqa: UP045
    why: Annotated[
        str | None, typer.Option(metavar="CAUSE|rank N", help="why this cause lost, or what is known of a rank")
    ] = None,
    full: Annotated[bool, typer.Option(help="fold nothing")] = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="processes that read (default: by size and cores)")
    ] = None,
    engine: Annotated[str, typer.Option(help="local or ray")] = "local",
    budget: Annotated[Optional[float], typer.Option(metavar="SECONDS", help="stop reading after this long")] = None,  # noqa: UP045
    redact: Annotated[
        bool, typer.Option("--redact/--no-redact", help="take out secrets (and private data in forms to paste)")
    ] = True,
    exit_zero: Annotated[bool, typer.Option(help="leave with 0 whatever is found")] = False,
    quiet: Annotated[bool, typer.Option("-q", help="print nothing on standard output")] = False,
    verbose: Annotated[int, typer.Option("-v", count=True, help="say more on standard error")] = 0,
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> int:
    """Name the one root cause of a failed or hung distributed training job from its logs."""
    if version:
        return _version()
    _check(format, engine, output)
    lang = _language(lang)
    from .engine import diagnose  # noqa: PLC0415
    from .job import JobContext  # noqa: PLC0415

    inputs = _inputs(paths)
    context = JobContext(exit_code=exit_code, world_size=world_size)
    found = diagnose(
        *inputs, job=context, budget_s=budget, rules=rules or (), tz=tz, rank_from=rank_from, workers=workers,
        engine=engine, since=since, until=until, rank=rank, lang=lang,
    )  # fmt: skip
    show = _Shower(found, redact, full, lang, template)
    for path in output or []:
        _write(path, show.text(_form_of(path), 100, False))
    if why is not None:
        from .why import why as explain  # noqa: PLC0415

        print(explain(found, why))
    elif not quiet:
        sys.stdout.write(show.text(format, _width(), sys.stdout.isatty() and not os.environ.get("NO_COLOR")))
    return 0 if exit_zero or found.diagnosis is None else 1


def _version() -> int:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        print(f"diagnose {version('diagnose-training')}")
    except PackageNotFoundError:
        print("diagnose (not installed)")
    return 0


def _check(format: str, engine: str, output: list[Path] | None) -> None:
    if format not in FORMATS:
        raise UsageError(f"--format {format}: choose one of {', '.join(FORMATS)}")
    if engine not in ("local", "ray"):
        raise UsageError(f"--engine {engine}: choose local or ray")
    for path in output or []:
        _form_of(path)


def _language(lang: str | None) -> str:
    from .language import language_of  # noqa: PLC0415

    if lang is not None and lang not in ("en", "zh"):
        raise UsageError(f"--lang {lang}: choose en or zh")
    return lang or language_of(os.environ)


def _form_of(path: Path) -> str:
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"-o {path}: no form has this suffix; use one of {', '.join(SUFFIXES)}")
    return form


def _inputs(paths: list[str] | None) -> list[str]:
    if paths:
        return paths
    if sys.stdin is not None and not sys.stdin.isatty():
        return ["-"]
    raise UsageError("nothing to read: give a log file or a folder, or pipe text in (see `diagnose --help`)")


def _width() -> int:
    import shutil  # noqa: PLC0415

    return max(40, min(shutil.get_terminal_size((80, 24)).columns, 200))


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"-o {path}: {error.strerror or error}") from error
    print(f"diagnose: wrote {path}", file=sys.stderr)


class _Shower:
    """Renders one report in several forms; each form is redacted as it needs."""

    def __init__(self, report: Report, redact: bool, full: bool, lang: str, template: Path | None) -> None:
        self._report, self._redact, self._full, self._lang, self._template = report, redact, full, lang, template

    def text(self, form: str, width: int, color: bool) -> str:
        from .render import render  # noqa: PLC0415

        shown = self._report
        if self._redact:
            from .redaction import redact  # noqa: PLC0415

            shown, _ = redact(shown, privacy=form in PRIVATE)
        template = str(self._template) if self._template else None
        text = render(
            shown, form, width=width, color=color, full=self._full, lang=self._lang, template=template
        )
        return text if text.endswith("\n") else text + "\n"
