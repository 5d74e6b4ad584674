"""A `Report` in, Markdown (for GitHub, a ticket) or Slack text out, under 100 lines however many ranks there are."""

from __future__ import annotations

import re

from ..report.language import words
from ..report.report import Report
from .limits import FULL, LEVELS, Limits
from .report_view import build_view
from .templating import lay_out

MOST_LINES = 99
# A Slack message is cut at 40,000 characters, and nobody reads a tenth of it.
SLACK_LIMITS = Limits(
    evidence=2, context=1, evidence_lines=5, prose=400, culprits=4, remedy=5, references=1, consequences=4, alternatives=2,
    survived=1, timeline=0, ranks=0, collectives=0, stacks=0, frames=0, attempts=0, facts=0, gaps=3, inputs=0,
    command_lines=6,
)  # fmt: skip
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
