"""The catalogue as text: the page of one cause (`diagnose explain`), and the table of all (`docs/catalogue.md`)."""

from __future__ import annotations

from .catalogue import Catalogue
from .rule import Cause, Rule


def cause_page(catalogue: Catalogue, cause: Cause) -> str:
    """Yield the page of a cause as plain text."""
    rules = [r for r in catalogue.rules.values() if r.cause == cause.id]
    lines = [f"{cause.id}: {cause.title}", "", cause.means, ""]
    lines.append(f"Owner: {cause.owner}. Does a plain restart help: {cause.restart}. At fault can be: {_blame(cause)}.")
    lines += ["", "What to do"]
    for step in cause.remedy:
        lines.append(f"  [{step.when}] {step.text}" + (f"  (if {step.condition})" if step.condition else ""))
        lines += [f"      {step.command}"] if step.command else []
    lines += [f"  [collect] {item}" for item in cause.collect_next_time]
    lines += ["", "What it brings about: " + (", ".join(sorted({e.cause for e in cause.explains})) or "nothing known")]
    lines += ["", f"Messages ({len(rules)})"]
    lines += [f"  {r.role:12} {r.title}" for r in rules] or [f"  none: {cause.findings_only or 'found by tables'}"]
    lines += ["", *cause.references] if cause.references else []
    return "\n".join(lines)


def _blame(cause: Cause) -> str:
    return {"rank": "a rank", "host": "a host", "none": "no rank"}[cause.blame]


def catalogue_table(catalogue: Catalogue) -> str:
    """Yield the Markdown page of all causes, with their messages and first remedies."""
    rules = catalogue.rules.values()
    lines = [
        "# Catalogue",
        "",
        "Written by `diagnose rules page`; a test keeps it current.",
        "",
        f"{len(catalogue.rules)} rules over {len(catalogue.causes)} causes, and "
        f"{sum(len(t.rows) for t in catalogue.tables.values())} rows in {len(catalogue.tables)} tables.",
        "",
    ]
    layer = ""
    for cause in catalogue.causes.values():
        if cause.id.partition(".")[0] != layer:
            layer = cause.id.partition(".")[0]
            lines += [
                f"## {layer}",
                "",
                "| cause | what it means | messages | first thing to do |",
                "| --- | --- | --- | --- |",
            ]
        own = [r for r in rules if r.cause == cause.id]
        lines.append(
            f"| `{cause.id}` {_cell(cause.title)} | {_cell(cause.means)} | {_messages(own)} | {_first(cause)} |"
        )
    lines += ["", "## Harmless and context", "", "| rule | what it says |", "| --- | --- |"]
    lines += [f"| `{r.id}` | {_cell(r.title)} |" for r in rules if r.cause is None]
    return "\n".join(lines) + "\n"


def _messages(rules: list[Rule]) -> str:
    return "<br>".join(_cell(f"{r.title} ({r.role})") for r in rules)


def _first(cause: Cause) -> str:
    step = next((r for r in cause.remedy if r.when == "now"), None)
    return (
        ""
        if step is None
        else _cell(step.text) + (f" `{step.command.replace('|', chr(92) + '|')}`" if step.command else "")
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
