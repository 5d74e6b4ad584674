"""A `Report` and the name of a form in, text out, without secrets unless the caller wants them."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError
from ..report.report import Report, dumps, to_json
from . import FORMATS

# Forms that end up in public, a CI run's log and its test results too: private items go, secrets always do.
PASTED = ("markdown", "html", "slack", "github", "junit")
SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".xml": "junit",
    ".txt": "terminal",
}


def render(  # noqa: PLR0913  (one keyword per thing a user can choose)
    report: Report,
    format: str = "terminal",
    *,
    width: int = 80,
    color: bool = False,
    full: bool = False,
    lang: str = "en",
    template: str | Path | None = None,
    redact: bool = True,
) -> str:
    """Yield the report in one form; `redact=False` leaves secrets and private items in it."""
    report, redacted = shown(report, format, redact=redact, template=template)
    if template is not None:
        return _from_template(report, template, full=full, lang=lang, redacted=redacted)
    if format == "json":
        return dumps(report)
    if format == "terminal":
        from .terminal import render_terminal

        return render_terminal(report, width=width, color=color, full=full, lang=lang, redacted=redacted)
    if format in ("markdown", "slack"):
        from .markdown_view import render_markdown, render_slack

        make = render_markdown if format == "markdown" else render_slack
        return make(report, full=full, lang=lang, redacted=redacted)
    if format == "html":
        from .html_view import render_html

        return render_html(report, full=full, lang=lang, redacted=redacted)
    if format in ("github", "junit"):
        from .annotations import render_github, render_junit

        return (render_github if format == "github" else render_junit)(report, lang=lang, redacted=redacted)
    raise UsageError(f"no form is called {format!r}; there are {', '.join(FORMATS)}")


def shown(report: Report, form: str, *, redact: bool, template: str | Path | None = None) -> tuple[Report, str]:
    """Yield the report as this form may show it, and what was replaced; whose page a template makes is not known."""
    if not redact:
        return report, ""
    from ..report import redaction

    report, counts = redaction.redact(report, privacy=form in PASTED or template is not None)
    return report, redaction.describe(counts)


def _from_template(report: Report, template: str | Path, *, full: bool, lang: str, redacted: str) -> str:
    from ..report.language import words
    from .limits import FULL, NORMAL
    from .report_view import build_view
    from .templating import lay_out_with

    say = words(lang)
    view = build_view(report, say, FULL if full else NORMAL, language=lang, redacted=redacted)
    return lay_out_with(template, view, say, to_json(report))
