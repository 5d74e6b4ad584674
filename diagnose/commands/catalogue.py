"""The catalogue on the command line: `diagnose explain`, and `diagnose rules …` to look at it, test it, add to it."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import typer

from ..catalogue.load import SHIPPED, Catalogue, load_rules
from ..catalogue.lookup import causes_of
from ..errors import RuleError, UsageError


def explain(what: list[str], *, lang: str | None = None, rules: list[str] | None = None) -> int:
    """Print the page of a cause, found by its id, a code, or a message: what it means, what it brings about, what to do."""
    from ..catalogue.load import rule_folders
    from ..report.phrases import choose_language
    from ..report.translation import Translator
    from ..views.catalogue_page import cause_page

    language, text = choose_language(lang, os.environ), " ".join(what)
    found = load_rules(*rules or ())
    named, *others = causes_of(text, found)
    typer.echo(cause_page(found, found.causes[named], Translator(language, rule_folders(*rules or ()))))
    if others:
        typer.echo(f"\nsee also: {', '.join(others)}")
    return 0


def list_rules(what: str | None = None, *, rules: list[str] | None = None) -> None:
    """List rules: id, role, number of forms; a count at the end."""
    catalogue = load_rules(*(rules or []))
    shown = [r for r in catalogue.rules.values() if what is None or r.id.startswith(what)]
    for rule in shown:
        typer.echo(f"{rule.id}  {rule.role}  {len(rule.forms)}")
    rows = sum(len(t.rows) for t in catalogue.tables.values())
    typer.echo(f"{len(shown)} rules over {len(catalogue.causes)} causes; {rows} rows in {len(catalogue.tables)} tables")


def show_rules(rule_id: str) -> None:
    """Print a rule's file."""
    path = SHIPPED / (rule_id.replace(".", "/", 1) + ".yaml")
    if not path.is_file():
        catalogue = load_rules()
        if rule_id in catalogue.causes:
            raise RuleError(f"{rule_id} is a cause; see `diagnose explain {rule_id}` and `diagnose rules list {rule_id}`")
        near = get_close_matches(rule_id, catalogue.rules, 1)
        raise RuleError(f"no rule {rule_id}" + (f"; did you mean {near[0]}?" if near else "; see `diagnose rules list`"))
    typer.echo(path.read_text().rstrip())


def test_rules(
    folder: Path | None = None, *, only: str | None = None, literals: Path | None = None, everything: bool = False
) -> int:
    """Prove every rule against its own examples and counter-examples; with a folder of your own, those in it."""
    from ..catalogue.load import lay_over

    folders = [folder] if folder else []
    if literals is not None:
        from ..catalogue.checks import literal_costs

        for row in literal_costs(load_rules(*folders), literals):
            typer.echo(row)
        return 0
    if folder is not None:
        whole, own = lay_over(load_rules(), folder)
        mine = tuple(name for name in own if name.startswith(only or ""))
        if not mine:
            raise RuleError(f"{folder}: no rule in it" + (f" whose id begins with {only}" if only else ""))
        faulty = _tell_faults(whole, mine, folders, f"{folder}: ")
        if faulty or not everything:
            return int(faulty)  # at once: what they do to the shipped ones takes fifty times as long to prove
    whole = load_rules(*folders, fresh=True)
    if only and not any(rule.startswith(only) for rule in whole.rules):
        raise RuleError(f"--only {only}: no rule begins so; see `diagnose rules list`")
    return 1 if _tell_faults(whole, only, folders) else 0


def _tell_faults(whole: Catalogue, only: str | tuple[str, ...] | None, folders: list[Path], who: str = "") -> bool:
    """Print the faults and what was tested; yield whether there are any."""
    from ..catalogue.checks import check_catalogue
    from ..catalogue.load import rule_folders

    part = whole
    if isinstance(only, tuple):
        tested = {name: rule for name, rule in whole.rules.items() if name in only}
        causes = {name: cause for name, cause in whole.causes.items() if name in only}
        part = replace(whole, rules=tested, causes=causes, key=f"{whole.key}-part")
    faults = list(check_catalogue(whole, only, rule_folders(*folders), part))
    examples = sum(len(f.examples) for r in part.rules.values() for f in r.forms)
    said = f"{len(part.rules)} rules, {len(part.causes)} causes, {examples} examples: {len(faults)} "
    typer.echo("\n".join([*faults, f"{who}{said}{'fault' if len(faults) == 1 else 'faults'}"]))
    return bool(faults)


def new_rules(rule_id: str, *, folder: Path = Path("rules")) -> None:
    """Write a rule file to fill in."""
    if not re.fullmatch(r"[a-z0-9-]+\.[a-z0-9-]+/[a-z0-9-]+", rule_id):
        raise UsageError(f"{rule_id}: an id has the form layer.cause/what-it-says, in lower case with hyphens")
    path = folder / (rule_id.replace(".", "/", 1) + ".yaml")
    if path.exists():
        raise UsageError(f"{path} is there already")
    written, cause = [path], path.with_name("cause.yaml")
    is_of_a_cause = not rule_id.startswith(("harmless.", "context."))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((SHIPPED / "new-rule.template").read_text())
        if is_of_a_cause and rule_id.partition("/")[0] not in load_rules().causes and not cause.exists():
            cause.write_text((SHIPPED / "new-cause.template").read_text())  # a cause of one's own
            written.append(cause)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    typer.echo(f"wrote {' and '.join(map(str, written))}; fill in, then run: diagnose rules test {folder}")


def schema_rules() -> None:
    """Print the JSON Schema of a rule file, for editors that check YAML."""
    import json

    import pydantic

    from ..catalogue.rule import Rule

    schema = pydantic.TypeAdapter(Rule).json_schema()
    for name in ("id", "cause"):
        schema["properties"].pop(name, None)  # they come from the path
    schema["$defs"]["Form"]["properties"].pop("is_timed")  # as does this
    typer.echo(json.dumps(schema, indent=2))


def page_rules() -> None:
    """Print the catalogue as a Markdown page."""
    from ..views.catalogue_page import catalogue_table

    typer.echo(catalogue_table(load_rules()), nl=False)
