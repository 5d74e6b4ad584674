"""`diagnose rules …` and `diagnose explain`: look at the catalogue, test it, add to it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from .catalogue import Catalogue, load_rules
from .errors import RuleError

app = typer.Typer(no_args_is_help=True, help="Look at the catalogue of messages and causes, test it, add to it.")


@app.command("list")
def list_rules(
    what: Annotated[Optional[str], typer.Argument(help="only ids that start so")] = None,  # noqa: UP045 - typer on 3.10
    rules: Annotated[Optional[list[str]], typer.Option(help="a folder laid over the shipped rules")] = None,  # noqa: UP045
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
    from .catalogue import SHIPPED  # noqa: PLC0415

    path = SHIPPED / (rule_id.replace(".", "/", 1) + ".yaml")
    if not path.is_file():
        near = _near(rule_id, load_rules())
        raise RuleError(f"no rule {rule_id}" + (f"; did you mean {near}?" if near else "; see `diagnose rules list`"))
    typer.echo(path.read_text().rstrip())


def _near(rule_id: str, catalogue: Catalogue) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415

    return next(iter(get_close_matches(rule_id, catalogue.rules, 1)), None)


@app.command("test")
def test_rules(
    folder: Annotated[Optional[Path], typer.Argument(help="your own rules, laid over the shipped ones")] = None,  # noqa: UP045
    only: Annotated[Optional[str], typer.Option(help="only ids that start so")] = None,  # noqa: UP045
) -> None:
    """Prove every rule against its own examples and counter-examples."""
    from .firing import fire  # noqa: PLC0415
    from .rule_checks import check_catalogue  # noqa: PLC0415

    catalogue = load_rules(*([folder] if folder else []), fresh=True)
    faults = list(check_catalogue(catalogue, fire, only))
    for fault in faults:
        typer.echo(fault)
    examples = sum(len(f.examples) for r in catalogue.rules.values() for f in r.forms)
    typer.echo(
        f"{len(catalogue.rules)} rules, {len(catalogue.causes)} causes, {examples} examples: {len(faults)} faults"
    )
    if faults:
        raise typer.Exit(1)
