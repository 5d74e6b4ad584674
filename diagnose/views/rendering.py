"""A `Report` in, text of one form out, without secrets: Jinja templates of ours or the user's (docs/templates.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..catalogue.load import Catalogue
from ..catalogue.lookup import causes_of
from ..catalogue.sentences import KEPT_TEMPLATES
from ..errors import UsageError
from ..lines.lazy_pattern import lazy
from ..report.phrases import Say, clip, known, one_line, words
from ..report.report import Report, dumps, to_json
from . import FORMATS, escapes
from .evidence import EvidenceView
from .folding import Limits, filled, limits_of
from .report_view import View, build_view

if TYPE_CHECKING:
    from jinja2 import Environment

# Forms that end up in public, a CI run's log and its test results too: private items go, secrets always do.
PASTED = ("markdown", "html", "slack", "github", "junit")
UNKNOWN = "unknown"  # the answer where no line names a cause
MARKED = ("markdown", "slack")  # forms in which blank lines are the frame's
SUFFIXES = {
    ".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html", ".json": "json", ".xml": "junit",
    ".txt": "terminal",
}  # fmt: skip
TEMPLATES_OF = {"markdown": "report.md.j2", **{form: f"report.{form}.j2" for form in ("slack", "github", "junit")}}
MOST_LINES = 99  # of a Markdown page: what goes into a ticket is read without scrolling
# No line of a log is empty or begins with `<` behind its gutter, so this touches only the frame.
_BLANK_LINES = re.compile(r"\n{3,}")
RANK = lazy(r"rank\s*(\d+)$", re.IGNORECASE)
_AROUND_FOLDS = re.compile(r"(?<!\n)\n+(?=</details>)|(?<=</details>)\n+(?=<details>)")


def render(  # noqa: PLR0913  (one keyword per thing a user can choose)
    report: Report,
    format: str = "terminal",
    *,
    width: int = 80,
    color: bool = False,
    full: bool = False,
    lang: str | None = None,
    template: str | Path | None = None,
    redact: bool = True,
) -> str:
    """Yield the report in one form; `redact=False` leaves secrets in it. Raises `UsageError`, as for another language."""
    if lang is not None and lang != report.language:
        raise UsageError(f"lang={lang}: this report is in {report.language}; make it with diagnose(..., lang={lang!r})")
    report, redacted = shown(report, format, redact=redact, template=template)
    if template is not None:
        view = build_view(report, limits_of("normal", full=full), redacted)
        return lay_out_with(template, view, words(report.language), to_json(report))
    if format == "json":
        return dumps(report)
    if format == "terminal":
        from .terminal import render_terminal

        return render_terminal(report, width=width, color=color, full=full, redacted=redacted)
    if format == "html":
        from .html_page import render_html

        return render_html(report, full=full, redacted=redacted)
    if format not in TEMPLATES_OF:
        raise UsageError(f"no form is called {format!r}; there are {', '.join(FORMATS)}")
    return lay_out_form(report, format, full=full, redacted=redacted)


def shown(report: Report, form: str, *, redact: bool, template: str | Path | None = None) -> tuple[Report, str]:
    """Yield the report as this form may show it, and what was replaced; whose page a template makes is not known."""
    if not redact:
        return report, ""
    from ..report import redaction

    return redaction.redact(report, privacy=form in PASTED or template is not None)


def lay_out_form(report: Report, form: str, *, full: bool, redacted: str) -> str:
    """Yield a report, redacted already, in a form that one of our templates lays out."""
    page = _page(report, form, limits_of(form, full=full and form in MARKED), redacted)
    is_long = form == "markdown" and not full and page.count("\n") > MOST_LINES
    return _page(report, form, limits_of("tight"), redacted) if is_long else page


def _page(report: Report, form: str, limits: Limits, redacted: str) -> str:
    view = build_view(report, limits, redacted)
    page = fill(TEMPLATES_OF[form], view=view, say=words(report.language), report=report)
    if form in MARKED:
        page = _AROUND_FOLDS.sub("\n", _BLANK_LINES.sub("\n\n", page))
        page = "\n".join(line.rstrip() for line in page.strip().split("\n"))
    return page.strip("\n") + "\n"


def why(report: Report, question: str, catalogue: Catalogue) -> str:
    """Yield why a cause lost, named as `explain` takes it, or why `rank 5` is the culprit or not. Raises `RuleError`."""
    rank, say = RANK.match(question.strip()), words(report.language)
    cause = question if rank or question == UNKNOWN else causes_of(question, catalogue)[0]
    asked = {"cause": cause, "rank": int(rank[1]) if rank else None, "view": build_view(report, limits_of("normal"))}
    page = fill("why.txt.j2", {}, known=known, say=say, report=report, **asked)
    lines = [line for line in page.split("\n") if line.strip()]
    return "\n".join(lines) or one_line(say("why-unsaid", cause=cause))


NO_FILTERS: Mapping[str, Callable[..., Any]] = MappingProxyType({})
TEMPLATES = Path(__file__).parent / "templates"
HTML_SUFFIXES = (".html", ".htm", ".html.j2", ".htm.j2", ".xml", ".xml.j2")


def fill(template: str, filters: Mapping[str, Callable[..., Any]] = NO_FILTERS, **values: object) -> str:
    """Yield one of our own templates filled; it may need filters of its own."""
    environment = _environment(TEMPLATES)
    environment.filters.update(filters)
    return environment.get_template(template).render(values)


def junit_without_verdict(name: str, why: str) -> str:
    """Yield one test case in error: who asked for a verdict and got none must not see a test pass."""
    return fill("no-verdict.junit.j2", name=name, why=why)


def lay_out_with(template: str | Path, view: View, say: Say, data: Mapping[str, Any]) -> str:
    """Yield the view in a user's template, which gets the whole report as `report` too."""
    from jinja2 import TemplateError

    path = Path(template)
    if not path.is_file():
        raise UsageError(f"{path}: no such template")
    try:
        return _environment(path.parent).get_template(path.name).render(view=view, say=say, report=data)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        line = getattr(error, "lineno", None)
        raise UsageError(f"{path}{f':{line}' if line else ''}: {error}") from error


def block(e: EvidenceView, say: Say) -> str:
    """Yield the lines of a proof with their numbers, `>` before the lines that prove it."""
    numbers = [len(str(line.number)) for line in e.lines if line.number is not None]
    width = max(numbers, default=0)
    rows = []
    for i, line in enumerate(e.lines):
        number = "" if line.number is None else str(line.number)
        gutter = f"{number:>{width}} | " if width else ""
        rows.append(f"{'>' if line.is_hit else ' '} {gutter}{line.text}".rstrip())
        if i == e.gap_after:
            rows.append("  " + say("more-lines", n=e.left_out))
    return "\n".join(rows)


OF_FORMS = [f for f in vars(escapes).values() if getattr(f, "__module__", "") == escapes.__name__]
FILTERS: tuple[Callable[..., Any], ...] = (*OF_FORMS, block, filled, clip, one_line)


@lru_cache(maxsize=4)  # compiling our templates takes longer than filling them
def _environment(folder: Path) -> Environment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader([str(folder), str(TEMPLATES)]),
        autoescape=lambda name: bool(name) and str(name).endswith(HTML_SUFFIXES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        bytecode_cache=KEPT_TEMPLATES if folder == TEMPLATES else None,
    )
    environment.filters.update((f.__name__, f) for f in FILTERS)
    environment.filters["cell"] = escapes.md  # a `|` would end a cell: it is escaped everywhere
    # a form that does not show it does not wait for it
    environment.globals["version"] = lambda: import_module("diagnose").__version__
    return environment
