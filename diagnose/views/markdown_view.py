"""A `Report` in, Markdown (for GitHub, a ticket) or Slack text out, under 100 lines however many ranks there are."""

from __future__ import annotations

import re

from ..report import Report
from ..words.language import words
from .limits import FULL, LEVELS, Limits
from .report_view import build_view
from .templating import lay_out

MOST_LINES = 99
# A Slack message is cut at 40,000 characters, and nobody reads a tenth of it.
SLACK_LIMITS = Limits(2, 1, 5, 600, 400, 4, 5, 1, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 6)
# No line of a log is empty or begins with `<` behind its gutter, so this touches only the frame.
_BLANK_LINES = re.compile(r"\n{3,}")
_AROUND_FOLDS = re.compile(r"\n+(?=</details>)|(?<=</details>)\n+(?=<details>)")


def render_markdown(report: Report, *, full: bool = False, lang: str = "en", redacted: str = "") -> str:
    """Yield the report as Markdown; `full` lifts every limit."""
    say = words(lang)
    page = ""
    for limits in (FULL,) if full else LEVELS:
        view = build_view(report, say, limits, language=lang, redacted=redacted)
        page = _tidy(lay_out(view, say, "report.md.j2"))
        if page.count("\n") <= MOST_LINES:
            break
    return page


def render_slack(report: Report, *, full: bool = False, lang: str = "en", redacted: str = "") -> str:
    """Yield the report as Slack's mrkdwn, without tables and folds."""
    say = words(lang)
    view = build_view(report, say, FULL if full else SLACK_LIMITS, language=lang, redacted=redacted)
    return _tidy(lay_out(view, say, "report.slack.j2"))


def _tidy(page: str) -> str:
    page = _AROUND_FOLDS.sub("\n", _BLANK_LINES.sub("\n\n", page))
    return "\n".join(line.rstrip() for line in page.strip().split("\n")) + "\n"
