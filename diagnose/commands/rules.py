"""`diagnose rules …`: look at the catalogue, test it, add to it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Optional

import typer

from ..catalogue.load import Catalogue, load_rules
from ..errors import RuleError, UsageError

app = typer.Typer(no_args_is_help=True, help="Look at the catalogue of messages and causes, test it, add to it.")


@app.command("list")
def list_rules(
    what: Annotated[Optional[str], typer.Argument(help="only ids that start so")] = None,
    rules: Annotated[Optional[list[str]], typer.Option(metavar="DIR", help="a folder laid over the shipped rules")] = None,
) -> None:
    """List rules: id, role, number of forms; a count at the end."""
    catalogue = load_rules(*(rules or []))
    shown = [r for r in catalogue.rules.values() if what is None or r.id.startswith(what)]
    for rule in shown:
        typer.echo(f"{rule.id}  {rule.role}  {len(rule.forms)}")
    rows = sum(len(t.rows) for t in catalogue.tables.values())
    typer.echo(f"{len(shown)} rules over {len(catalogue.causes)} causes; {rows} rows in {len(catalogue.tables)} tables")


@app.command("show")
def show_rule(rule_id: Annotated[str, typer.Argument(help="a rule's id")]) -> None:
    """Print a rule's file."""
    from ..catalogue.load import SHIPPED

    path = SHIPPED / (rule_id.replace(".", "/", 1) + ".yaml")
    if not path.is_file():
        catalogue = load_rules()
        if rule_id in catalogue.causes:
            raise RuleError(f"{rule_id} is a cause; see `diagnose explain {rule_id}` and `diagnose rules list {rule_id}`")
        near = _near(rule_id, catalogue)
        raise RuleError(f"no rule {rule_id}" + (f"; did you mean {near}?" if near else "; see `diagnose rules list`"))
    typer.echo(path.read_text().rstrip())


def _near(rule_id: str, catalogue: Catalogue) -> str | None:
    from difflib import get_close_matches

    return next(iter(get_close_matches(rule_id, catalogue.rules, 1)), None)


@app.command("test")
def test_rules(
    folder: Annotated[Optional[Path], typer.Argument(help="your own rules, laid over the shipped ones")] = None,
    only: Annotated[Optional[str], typer.Option(metavar="ID", help="only ids that start so")] = None,
    literals: Annotated[
        Optional[Path], typer.Option(metavar="DIR", help="ordinary logs: how often each literal stands there, and for what")
    ] = None,
) -> None:
    """Prove every rule against its own examples and counter-examples."""
    if literals is not None:
        from ..catalogue.literal_costs import literal_costs

        for row in literal_costs(load_rules(*([folder] if folder else [])), literals):
            typer.echo(row)
        return
    from ..catalogue.checks import check_catalogue
    from ..catalogue.firing import fire
    from ..catalogue.load import rule_folders

    mine = [folder] if folder else []
    catalogue = load_rules(*mine, fresh=True)
    if only and not any(rule.startswith(only) for rule in catalogue.rules):
        raise RuleError(f"--only {only}: no rule begins so; see `diagnose rules list`")
    faults = list(check_catalogue(catalogue, fire, only, rule_folders(*mine)))
    for fault in faults:
        typer.echo(fault)
    examples = sum(len(f.examples) for r in catalogue.rules.values() for f in r.forms)
    typer.echo(
        f"{len(catalogue.rules)} rules, {len(catalogue.causes)} causes, {examples} examples: "
        f"{len(faults)} {'fault' if len(faults) == 1 else 'faults'}"
    )
    if faults:
        raise typer.Exit(1)


SCAFFOLD = """\
title: what the message says, in one line
role: symptom            # cause | symptom | confirmation | context | harmless
match: line              # line | block | traceback | stack | exit
why: What the line proves, and what it does not.
forms:
  - since: library 1.0
    literals: [words that are in every such message]
    pattern: '^words that are in every such message (?P<value>\\d+)'
    examples:
      - text: words that are in every such message 7
        fields: {value: 7}
fields: {value: int}
says: The value was {{ value }}.
references:
  - https://example.org/where-the-message-is-printed
counter_examples:
  - text: we wrote about words that are in every such message
    because: prose about the message
"""


@app.command("new")
def new_rule(
    rule_id: Annotated[str, typer.Argument(help="layer.cause/what-it-says")],
    folder: Annotated[Path, typer.Option(metavar="DIR", help="the folder of rules to write into")] = Path("rules"),
) -> None:
    """Write a rule file to fill in."""
    if not re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+/[a-z0-9-]+", rule_id):
        raise UsageError(f"{rule_id}: an id has the form layer.cause/what-it-says, in lower case with hyphens")
    path = folder / (rule_id.replace(".", "/", 1) + ".yaml")
    if path.exists():
        raise UsageError(f"{path} is there already")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCAFFOLD)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    typer.echo(f"wrote {path}; fill it in, then run: diagnose rules test {folder}")


@app.command("schema")
def rule_schema() -> None:
    """Print the JSON Schema of a rule file, for editors that check YAML."""
    import json

    import pydantic

    from ..catalogue.rule import Rule

    schema = pydantic.TypeAdapter(Rule).json_schema()
    for name in ("id", "cause"):
        schema["properties"].pop(name, None)  # they come from the path
    typer.echo(json.dumps(schema, indent=2))


@app.command("page")
def page() -> None:
    """Print the catalogue as a Markdown page."""
    from ..report.catalogue_page import catalogue_table

    typer.echo(catalogue_table(load_rules()), nl=False)
