"""What `diagnose PATH...` does once its options are known: reads, decides, prints the report, writes it where asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import DiagnoseError, UsageError
from ..report.language import choose_language
from ..report.report import Report, json_pieces, to_json
from ..report.written_files import open_named
from ..views import FORMATS
from ..views.rendering import PASTED, SUFFIXES, render, shown

# What `diagnose PATH...` leaves with; 2 is an error (nothing readable, wrong usage), 130 an interruption.
EXIT_CODES = {"healthy": 0, "recovered": 0, "failed": 1, "hung": 1, "unfinished": 3}


@dataclass(slots=True)
class Options:
    """The options of the command, by their names there."""

    paths: list[str] | None = None
    output: list[Path] | None = None
    format: str | None = None  # terminal, where no configuration says otherwise
    rules: list[str] | None = None
    rank_from: str | None = None
    tz: str | None = None
    exit_code: int | None = None
    world_size: int | None = None
    since: str | None = None
    until: str | None = None
    rank: int | None = None
    lang: str | None = None
    template: Path | None = None
    why: str | None = None
    full: bool = False
    workers: int | None = None
    engine: str = "local"
    address: str | None = None
    on_every_node: list[str] | None = None
    budget: float | None = None
    redact: bool | None = None
    exit_zero: bool = False
    quiet: bool = False
    verbose: bool = False
    version: bool = False
    templates: str | None = None  # from the configuration: a folder of templates
    configured: dict[str, str] = field(default_factory=dict)  # options checked later that a file gave, and that file


def run(given: Options) -> int:
    """Report as the options say; yield the exit code."""
    if given.version:
        return _version()
    _add_configured(given)
    _check(given)
    lang = choose_language(given.lang, os.environ)
    try:
        found = _diagnose(given, lang)
    except UsageError as error:  # said of the option, though a file gave it
        option, _, rest = str(error).partition(" ")
        if option not in given.configured:
            raise
        raise UsageError(f"{given.configured[option]}: {option[2:]} {rest}") from error
    except DiagnoseError as error:
        _tell_junit(given, str(error))
        raise
    show = _Shower(found, given)
    unwritten = [fault for path in given.output or [] if (fault := _write(path, show.pieces(_form_of(path), 100, False)))]
    if given.verbose:
        _say_what_was_read(show.shown("terminal"))
    if given.why is not None:
        from ..report.why import why

        print(why(show.shown("terminal"), _known(given.why, given.rules or [])))
    elif not given.quiet:
        sys.stdout.writelines(show.pieces(str(given.format), _width(), _has_colors()))
    if unwritten:
        sys.stdout.flush()
        raise UsageError(unwritten[0])  # after the verdict: it has been worked for
    return 0 if given.exit_zero else EXIT_CODES[found.outcome]


def _tell_junit(given: Options, why: str) -> None:
    """Let the JUnit form fail where there is no verdict: a file that is missing, or left from before, fails nothing."""
    from ..report.printable import one_line
    from ..report.redaction import redact_text
    from ..views.junit_text import junit_without_verdict

    text = junit_without_verdict("no verdict", redact_text(one_line(why), privacy="junit" in PASTED))
    for path in given.output or []:
        if _form_of(path) == "junit" and (fault := _write(path, [text])):
            print(f"diagnose: {fault}", file=sys.stderr)
    if given.format == "junit" and not given.quiet:
        sys.stdout.write(text)


def _has_colors() -> bool:
    """Whether the reader is a terminal that shows colours, and who sits there wants them."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _known(question: str, rules: list[str]) -> str:
    """Raise `UsageError` where the question has the form of a cause, and there is none of that name."""
    from ..catalogue.load import load_rules
    from .cause_names import no_such_cause

    if "." in question and question not in (causes := load_rules(*rules).causes):
        raise UsageError(f"--why {question}: {no_such_cause(question, causes)}")
    return question


def _diagnose(given: Options, lang: str) -> Report:
    from ..engine import diagnose
    from ..job.job import JobContext

    line = None
    if not given.quiet and (given.engine == "ray" or sys.stderr.isatty()):
        from ..scan.progress_line import ProgressLine

        line = ProgressLine(paths=[p for p in given.paths or [] if p != "-"] if given.engine == "local" else ())
    try:
        return diagnose(
            *_inputs(given),
            job=JobContext(exit_code=given.exit_code, world_size=given.world_size),
            budget_s=given.budget,
            rules=given.rules or (),
            tz=given.tz,
            rank_from=given.rank_from,
            workers=given.workers,
            engine=given.engine,
            address=given.address,
            on_every_node=given.on_every_node or (),
            progress=line,
            since=given.since,
            until=given.until,
            rank=given.rank,
            lang=lang,
        )
    finally:
        if line:
            line.finish()


def _say_what_was_read(report: Report) -> None:
    """`-v`: each input with what it was taken for, or why it was not read; then how much there was and how long it took."""
    from ..lines.rank_ranges import rank_ranges
    from ..report.phrases import byte_size
    from ..report.printable import one_line

    for row in report.inputs:
        lines = f", {row.lines:,} lines" if row.lines else ""
        said = f"not read: {row.skipped}" if row.skipped else f"{row.kind}, {byte_size(row.bytes)}{lines}"
        ranks = f", rank{'s' if len(row.ranks) > 1 else ''} {rank_ranges(row.ranks)}" if row.ranks else ""
        print(f"diagnose: {one_line(f'{row.file}: {said}{ranks}')}", file=sys.stderr)
    seconds, events = report.stats.seconds or 0.0, report.stats.events
    print(f"diagnose: {byte_size(report.stats.bytes)}, {events:,} events, {seconds:.2f} s", file=sys.stderr)


def _add_configured(given: Options) -> None:
    """Fill in what the command line left open from `diagnose.toml` or `[tool.diagnose]`."""
    from ..hooks.config import load_config
    from ..report.printable import one_line

    config = load_config()
    if config.note and not given.quiet:
        print(f"diagnose: {one_line(config.note)}", file=sys.stderr)
    given.rules = [*config.rules, *(given.rules or [])]
    given.format = given.format or config.format or "terminal"
    given.redact = given.redact if given.redact is not None else config.redact is not False
    for option, mine, theirs in (("--tz", given.tz, config.tz), ("--rank-from", given.rank_from, config.rank_from)):
        if theirs and not mine:
            given.configured[option] = str(config.path)
    given.tz = given.tz or config.tz
    given.rank_from = given.rank_from or config.rank_from
    given.lang = given.lang or config.lang
    given.templates = config.templates


def _version() -> int:
    from importlib.metadata import PackageNotFoundError, version

    try:
        print(f"diagnose {version('diagnose-training')}")
    except PackageNotFoundError:
        print("diagnose (not installed)")
    return 0


def _check(given: Options) -> None:
    if given.format not in FORMATS:
        raise UsageError(f"--format {given.format}: choose one of {', '.join(FORMATS)}")
    if given.engine not in ("local", "ray"):
        raise UsageError(f"--engine {given.engine}: choose local or ray")
    if given.engine != "ray" and (given.address or given.on_every_node):
        raise UsageError(f"{'--address' if given.address else '--on-every-node'} needs --engine ray")
    if given.rank is not None and given.rank < 0:
        raise UsageError(f"--rank {given.rank}: ranks count from 0")
    for path in given.output or []:
        _form_of(path)


def _form_of(path: Path) -> str:
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"-o {path}: no form has this suffix; use one of {', '.join(SUFFIXES)}")
    return form


def _inputs(given: Options) -> list[str]:
    if given.paths or given.on_every_node:
        return given.paths or []
    if sys.stdin is not None and not sys.stdin.isatty():
        return ["-"]
    raise UsageError("nothing to read: give a log file or a folder, or pipe text in (see `diagnose --help`)")


def _width() -> int:
    import shutil

    return max(40, min(shutil.get_terminal_size((80, 24)).columns, 200))


def _write(path: Path, pieces: Iterable[str]) -> str | None:
    """Write one output; yield what was wrong."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8", opener=open_named) as file:
            file.writelines(pieces)
    except FileExistsError:  # what should be its folder is a file
        return f"-o {path}: Not a directory"
    except OSError as error:
        return f"-o {path}: {error.strerror or error}"
    print(f"diagnose: wrote {path}", file=sys.stderr)
    return None


class _Shower:
    """Renders one report in several forms; each form is redacted as it needs."""

    def __init__(self, report: Report, given: Options) -> None:
        self._report, self._given = report, given

    def pieces(self, form: str, width: int, color: bool) -> Iterable[str]:
        """Yield the text of a form, in pieces where it may be large."""
        template = self._template(form)
        if form == "json" and template is None:
            return json_pieces(to_json(self.shown(form)))
        text = render(
            self._report,
            form,
            width=width,
            color=color,
            full=self._given.full,
            template=template,
            redact=bool(self._given.redact),
        )
        return (text, "" if text.endswith("\n") else "\n")

    def shown(self, form: str) -> Report:
        """Yield the report as this form may show it."""
        return shown(self._report, form, redact=bool(self._given.redact))[0]

    def _template(self, form: str) -> str | None:
        """`--template` first, then a template of this form's suffix in the configured folder."""
        if self._given.template:
            return str(self._given.template)
        from ..hooks.config import template_for

        suffix = next((s for s, name in SUFFIXES.items() if name == form), None)  # Slack's and GitHub's have none
        return template_for(self._given.templates, suffix) if suffix else None
