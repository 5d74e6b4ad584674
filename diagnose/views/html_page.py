"""A `Report` in, one self-contained HTML page out: it opens from disk and asks the network for nothing.

Log text reaches the page only escaped by Jinja, or as JSON whose `<` is escaped, which the script shows as text.
A content policy lets no script run but the page's own, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from ..report.language import words
from ..report.report import Report
from .lanes import lanes
from .rendering import lay_out_form
from .report_view import build_view
from .templating import TEMPLATES, lay_out
from .view import FULL, Limits, LineView

HTML_LIMITS = Limits(
    evidence=12, context=6, evidence_lines=60, line=2000, prose=2000, culprits=40, remedy=20, references=10,
    consequences=60, alternatives=20, survived=20, timeline=400, ranks=100, last_lines=60, collectives=200, stacks=40,
    frames=80, attempts=20, facts=200, gaps=30, inputs=200, command_lines=40,
)  # fmt: skip
# The page's script needs these words; the rest of the frame is in the template.
SCRIPT_WORDS = (
    "folded", "copied", "copy", "copy-markdown", "picture-none", "rank", "ranks", "last-step", "host", "legend-running",
    "legend-step", "legend-phase", "legend-waiting", "legend-root", "legend-error", "legend-teardown",
)  # fmt: skip
STATES = ("culprit", "failed", "finished", "silent", "terminated", "waiting", "alive")


def render_html(report: Report, *, full: bool = False, redacted: str = "") -> str:
    """Yield the page."""
    from markupsafe import Markup

    say = words(report.language)
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    texts = {key: say(key) for key in SCRIPT_WORDS}  # unfilled ("{n:,} ranks"): the script fills them
    texts |= {state: say(f"state-{state}") for state in STATES}
    markdown = lay_out_form(report, "markdown", full=False, redacted=redacted)
    return lay_out(
        build_view(report, FULL if full else HTML_LIMITS, redacted),
        say,
        "report.html.j2",
        css=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        data=Markup(_embedded({**lanes(report), "words": texts, "markdown": markdown})),
        pieces=_pieces,
    )


def _embedded(data: dict[str, Any]) -> str:
    """JSON that can be in a script element: nothing in it can end the element or open a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _pieces(line: LineView) -> list[tuple[str, bool]]:
    """Yield the text in pieces, each with whether it was captured."""
    pieces: list[tuple[str, bool]] = []
    done = 0
    for start, end in line.marks:
        pieces += [(line.text[done:start], False), (line.text[start:end], True)]
        done = end
    return [piece for piece in [*pieces, (line.text[done:], False)] if piece[0]]
