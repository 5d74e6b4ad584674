"""The catalogue as text: the page of one cause (`diagnose explain`), and the table of all (`diagnose rules page`)."""

from __future__ import annotations

from collections.abc import Iterator

from ..catalogue.load import Catalogue
from ..catalogue.rule import Cause, Rule
from ..catalogue.sentences import shell_command
from .language import Say, words
from .translation import ENGLISH, Translator


def cause_page(catalogue: Catalogue, cause: Cause, translator: Translator = ENGLISH) -> str:
    """Yield the page of a cause as plain text."""
    say = words(translator.language)
    rules = [r for r in catalogue.rules.values() if r.cause == cause.id]
    shown = translator.cause(cause)
    lines = [f"{cause.id}{say('colon')}{shown.title}", "", shown.means, ""]
    owner, restart = say(f"owner-{cause.owner}"), say(f"restart-{cause.restart}")
    lines.append(say("page-owner", owner=owner, restart=restart, blame=say(f"blame-{cause.blame}")))
    lines += ["", say("remedy"), *_steps(shown, say)]
    brought = ", ".join(sorted({e.cause for e in cause.explains})) or say("page-nothing")
    lines += ["", say("page-brings", causes=brought), "", say("page-messages", n=len(rules))]
    lines += [f"  {r.role:12} {translator.title(r)}" for r in rules]
    lines += [] if rules else [f"  {cause.findings_only or say('page-tables')}"]
    lines += ["", *cause.references] if cause.references else []
    return "\n".join(lines)


def _steps(cause: Cause, say: Say) -> Iterator[str]:
    for step in cause.remedy:
        yield f"  [{say(step.when)}] {step.text}" + (say("page-if", condition=step.condition) if step.condition else "")
        if command := _unfilled(step.command):
            yield f"      {command}"
    yield from (f"  [{say('collect')}] {item}" for item in cause.collect_next_time)


def catalogue_table(catalogue: Catalogue) -> str:
    """Yield the Markdown page of all causes, with their messages and first remedies."""
    rules = catalogue.rules.values()
    lines = [
        "# Catalogue",
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
        lines.append(f"| `{cause.id}` {_cell(cause.title)} | {_cell(cause.means)} | {_messages(own)} | {_first(cause)} |")
    lines += ["", "## Harmless and context", "", "| rule | what it says |", "| --- | --- |"]
    lines += [f"| `{r.id}` | {_cell(r.title)} |" for r in rules if r.cause is None]
    return "\n".join(lines) + "\n"


def _messages(rules: list[Rule]) -> str:
    return "<br>".join(_cell(f"{r.title} ({r.role})") for r in rules)


def _first(cause: Cause) -> str:
    """The first step that holds as a rule: where some messages of a cause ask for another, a condition names these."""
    steps = [r for r in cause.remedy if r.when == "now"]
    step = min(steps, key=lambda r: 0 if r.condition is None else 1 if "not" in r.condition else 2, default=None)
    if step is None:
        return ""
    command = _unfilled(step.command)
    return _cell(step.text) + (f" `{command.replace('|', chr(92) + '|')}`" if command else "")


def _unfilled(command: str | None) -> str:
    """The command as it stands where nothing is known of a job: `nodename=HOST`."""
    try:
        return shell_command(command, {}) if command else ""
    except ValueError:
        return command or ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
