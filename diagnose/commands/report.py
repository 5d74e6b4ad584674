"""What `diagnose PATH...` does once its options are known: reads, decides, prints the report, writes it where asked."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from shutil import get_terminal_size

from ..catalogue.load import load_rules
from ..catalogue.sentences import size
from ..errors import DiagnoseError, UsageError
from ..hooks.config import load_config, template_for
from ..job.job import JobContext
from ..lines.rank_ranges import named_ranks
from ..report.phrases import choose_language, one_line
from ..report.redaction import without_secrets
from ..report.report import Report, json_pieces, to_json
from ..report.written_files import drop_output, open_named
from ..views import FORMATS
from ..views.rendering import PASTED, SUFFIXES, junit_without_verdict, render, shown, why
from .options import COLORS, ReportOptions

# What `diagnose PATH...` leaves with; 2 is an error (nothing readable, wrong usage), 130 an interruption.
EXIT_CODES = {"healthy": 0, "recovered": 0, "failed": 1, "hung": 1, "unfinished": 3}
PASSED_ON = ("rules", "tz", "rank_from", "workers", "engine", "address", "on_every_node", "since", "until", "rank")
STDOUT = Path("-")
# Terminals that show a link as such; others would show its address as rubbish.
LINKING = ("FORCE_HYPERLINK", "VTE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "TERM_PROGRAM")
_STYLE_OR_WORD = re.compile(r"\x1b\[[\d;]*m|[^\s\x1b]{1,300}:\d{1,9}\b")


def run(given: ReportOptions) -> int:
    """Report as the options say; yield the exit code."""
    if given.version:
        from .. import __version__

        print(f"diagnose {__version__}")
        return 0
    _add_configured(given)
    _check(given)
    lang = choose_language(given.lang, os.environ)
    try:
        found = _diagnose(given, lang)
    except UsageError as error:  # said of the option, though a file gave it
        name, _, rest = str(error).partition(" ")
        if name not in given.configured:
            raise
        raise UsageError(f"{given.configured[name]}: {name[2:]} {rest}") from error
    except DiagnoseError as error:
        _tell_junit(given, str(error))
        raise
    if given.remember:
        from ..history.store import remembered

        try:
            found = remembered(found, given.paths, given.rules)
        except UsageError as error:  # a history that cannot be used costs a line, not the report
            print(f"diagnose: {error}", file=sys.stderr)
    try:
        finish(found, given)
    except BrokenPipeError:  # `diagnose logs | head`: who reads no further has the same verdict
        drop_output()
    return 0 if given.exit_zero else EXIT_CODES[found.outcome]


def finish(found: Report, given: ReportOptions) -> None:
    """Write the report where it was asked for, print it, and then say what was written."""
    faults = {x: fault_of_writing(x, _pieces(found, given, _form_of(x))) for x in given.output if x != STDOUT}
    if given.verbose:
        _say_what_was_read(_shown(found, given))
    if given.why is not None:
        print(why(_shown(found, given), given.why, load_rules(*given.rules)))
    elif not given.quiet or STDOUT in given.output:
        width = max(40, min(get_terminal_size((80, 24)).columns, 200))
        sys.stdout.writelines(_pieces(found, given, str(given.format), width, _has_colors(given.color)))
    sys.stdout.flush()
    for path in (path for path, fault in faults.items() if fault is None):
        print(f"diagnose: wrote {path}", file=sys.stderr)
    if fault := next(filter(None, faults.values()), None):
        raise fault  # after the verdict: it has been worked for


def _tell_junit(given: ReportOptions, why: str) -> None:
    """Let the JUnit form fail where there is no verdict: a file that is missing, or left from before, fails nothing."""
    text = junit_without_verdict("no verdict", without_secrets(one_line(why), privacy="junit" in PASTED))
    for path in given.output:
        if path != STDOUT and _form_of(path) == "junit":
            print(f"diagnose: {fault_of_writing(path, [text]) or f'wrote {path}'}", file=sys.stderr)
    if given.format == "junit" and not given.quiet:
        sys.stdout.write(text)


def _has_colors(when: str) -> bool:
    """Whether the reader is a terminal that shows colors, and who sits there wants them."""
    if when != "auto" or os.environ.get("NO_COLOR"):
        return when == "always"
    forced = os.environ.get("FORCE_COLOR", "0") not in ("", "0")
    return forced or (sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _diagnose(given: ReportOptions, lang: str) -> Report:
    from ..engine import diagnose

    line = None
    if not given.quiet and sys.stderr.isatty():
        from .progress_line import ProgressLine

        line = ProgressLine(paths=[p for p in given.paths if p != "-"] if given.engine == "local" else ())
    context = JobContext(exit_code=given.exit_code, world_size=given.world_size)
    passed = {name: getattr(given, name) for name in PASSED_ON}
    try:
        return diagnose(*_inputs(given), job=context, budget_s=given.budget, progress=line, lang=lang, **passed)
    finally:
        if line:
            line.finish()


def _say_what_was_read(report: Report) -> None:
    """`-v`: each input with what it was taken for, or why it was not read; then how much there was and how long it took."""
    for row in report.inputs:
        lines = f", {row.lines:,} lines" if row.lines else ""
        said = f"not read: {row.skipped}" if row.skipped else f"{row.kind}, {size(row.bytes)}{lines}"
        ranks = f", {named_ranks(row.ranks)}" if row.ranks else ""
        print(f"diagnose: {one_line(f'{row.file}: {said}{ranks}')}", file=sys.stderr)
    seconds, events = report.stats.seconds or 0.0, report.stats.events
    print(f"diagnose: {size(report.stats.bytes)}, {events:,} events, {seconds:.2f} s", file=sys.stderr)


def _add_configured(given: ReportOptions) -> None:
    """Fill in what the command line left open from `diagnose.toml` or `[tool.diagnose]`."""
    config = load_config()
    if config.note and not given.quiet:
        print(f"diagnose: {one_line(config.note)}", file=sys.stderr)
    given.rules = [*config.rules, *given.rules]
    given.redact = given.redact if given.redact is not None else config.redact is not False
    for name in ("format", "lang", "tz", "rank_from"):
        if not getattr(given, name) and (theirs := getattr(config, name)):
            setattr(given, name, theirs)
            given.configured[f"--{name.replace('_', '-')}"] = str(config.path)
    given.format = SUFFIXES.get(f".{given.format}", given.format or "terminal")  # `md` is what the files are called
    given.templates = config.templates
    given.remember = given.remember or config.remember


def _check(given: ReportOptions) -> None:
    for name, value, choices in (("format", given.format, FORMATS), ("color", given.color, COLORS)):
        if value not in choices:
            raise UsageError(f"--{name} {value}: choose one of {', '.join(choices)}")
    if given.engine != "ray" and (given.address or given.on_every_node):
        raise UsageError(f"{'--address' if given.address else '--on-every-node'} needs --engine ray")
    if given.rank is not None and given.rank < 0:
        raise UsageError(f"--rank {given.rank}: ranks count from 0")
    for path in given.output:
        if path != STDOUT:
            _form_of(path)


def _form_of(path: Path) -> str:
    form = SUFFIXES.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"-o {path}: no form has this suffix; use one of {', '.join(SUFFIXES)}")
    return form


def _inputs(given: ReportOptions) -> list[str]:
    if given.paths or given.on_every_node:
        return given.paths
    if sys.stdin is not None and not sys.stdin.isatty():
        return ["-"]
    raise UsageError("nothing to read: give a log file or a folder, or pipe text in (see `diagnose --help`)")


def fault_of_writing(path: Path, pieces: Iterable[str | bytes]) -> UsageError | None:
    """Write what `-o` names; yield why that could not be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb", opener=open_named) as file:
            file.writelines(x.encode() if isinstance(x, str) else x for x in pieces)
    except FileExistsError:  # what should be its folder is a file
        return UsageError(f"-o {path}: Not a directory")
    except OSError as error:
        return UsageError(f"-o {path}: {error.strerror or error}")
    return None


def _linked(text: str, read: Iterable[str]) -> str:
    """Yield the text with each `path:line` of a file that was read as a link, where the terminal shows links."""
    if not any(os.environ.get(name) for name in LINKING) or os.environ.get("TERM_PROGRAM") == "Apple_Terminal":
        return text
    ends: dict[str, set[str]] = {}  # a path from any of its folders on -> the files that end so
    for name in filter(os.path.isfile, read):  # no part of an archive
        parts = name.split("/")
        for n in range(len(parts)):
            ends.setdefault("/".join(parts[n:]), set()).add(name)

    def link(match: re.Match[str]) -> str:
        found = list(ends.get(match[0].rpartition(":")[0], ()))
        if match[0].startswith("\x1b") or len(found) != 1:
            return match[0]
        return f"\x1b]8;;{Path(found[0]).absolute().as_uri()}\x1b\\{match[0]}\x1b]8;;\x1b\\"

    return _STYLE_OR_WORD.sub(link, text)


def _pieces(found: Report, given: ReportOptions, form: str, width: int = 100, color: bool = False) -> Iterable[str]:
    """Yield the text of a form, in pieces where it may be large; each form is redacted as it needs."""
    suffix = next((suffix for suffix, name in SUFFIXES.items() if name == form), None)  # Slack and GitHub have none
    template = given.template or (template_for(given.templates, suffix) if suffix else None)
    if form == "json" and template is None:
        return json_pieces(to_json(_shown(found, given, form)))
    text = render(found, form, width=width, color=color, full=given.full, template=template, redact=bool(given.redact))
    text = _linked(text, [row.file for row in found.inputs]) if color and form == "terminal" else text
    return (text, "" if text.endswith("\n") else "\n")


def _shown(found: Report, given: ReportOptions, form: str = "terminal") -> Report:
    return shown(found, form, redact=bool(given.redact))[0]
