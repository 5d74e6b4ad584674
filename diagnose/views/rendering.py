"""A `Report` and the name of a form in, text out. A report is redacted before it comes here (`redaction`)."""

from __future__ import annotations

from pathlib import Path

from ..errors import UsageError
from ..report.report import Report, dumps, to_json
from . import FORMATS

PASTED = ("markdown", "html", "slack")  # forms that end up in public: private items go, secrets always do
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
    redacted: str = "",
) -> str:
    """Yield the report in one form; `redacted` says what was replaced in it (`redaction.describe`)."""
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


def _from_template(report: Report, template: str | Path, *, full: bool, lang: str, redacted: str) -> str:
    from ..report.language import words
    from .limits import FULL, NORMAL
    from .report_view import build_view
    from .templating import lay_out_with

    say = words(lang)
    view = build_view(report, say, FULL if full else NORMAL, language=lang, redacted=redacted)
    return lay_out_with(template, view, say, to_json(report))
