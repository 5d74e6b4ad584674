"""A `Report` in, one self-contained HTML page out."""

from __future__ import annotations

from .report import Report


def render_html(report: Report, *, full: bool = False, lang: str = "en", redacted: str = "") -> str:
    """Yield the page."""
    raise NotImplementedError
