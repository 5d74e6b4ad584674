"""Runs beside runs on the command line: `diagnose history` and `diagnose diff`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from .options import causes, files
from .pieces import Rules

if TYPE_CHECKING:
    from ..history.difference import Difference
    from ..history.store import Failure
    from ..report.report import Report

VALUE_WIDTH = 34
ROW = f"{{:<26}} {{:<{VALUE_WIDTH}}} {{}}  {{}}"  # name, good, bad, place
DIFF_EXIT = 1  # as of `diff`: something differs


def history(
    cause: Annotated[str | None, typer.Argument(help="only causes that begin so", autocompletion=causes)] = None,
    forget: Annotated[str | None, typer.Option(metavar="JOB", help="drop what is remembered of a job")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON array")] = False,
) -> int:
    """List the failures that `diagnose --remember` wrote down: job, cause, culprits, place in the code; no log text.

    The file is $XDG_STATE_HOME/diagnose/history.sqlite3, or what DIAGNOSE_HISTORY names.
    """
    from ..history import store

    if forget is not None:
        typer.echo(f"forgot {store.forget(forget)} of job {_line(forget)}")
        return 0
    found = store.failures(cause)
    if as_json:
        _echo_json([{"job": f.job, "remembered": f.remembered, **asdict(f.found)} for f in found])
        return 0
    for failure in found:
        typer.echo(_line(_told(failure)))
    if not found:
        typer.echo(f"nothing remembered in {store.history_file()}; `diagnose --remember PATH...` writes a failure down")
    return 0


def _told(failure: Failure) -> str:
    found = failure.found
    who = ", ".join([*(f"rank {rank}" for rank in found.ranks[:4]), *found.hosts[:4]])
    words = (found.ended[:19] or failure.remembered[:19], f"job {failure.job}", found.cause, who, found.place)
    return "  ".join(word for word in words if word)


def diff(
    good: Annotated[str, typer.Argument(metavar="GOOD", help="logs or report.json of a good run", autocompletion=files)],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="logs or report.json of a failed one", autocompletion=files)],
    rules: Rules = None,
    budget: Annotated[float | None, typer.Option(metavar="SECONDS", help="stop reading each after this long")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON array")] = False,
) -> int:
    """Show what differs between a good run and a failed one: outcome, world size, hosts, versions, settings, steps.

    Exits with 0 where nothing differs and 1 where something does.
    """
    from ..history.difference import differences, first_step_apart

    reports, steps = zip(*(_read(path, rules or [], budget) for path in (good, bad)), strict=True)
    found = [*differences(*reports), *first_step_apart(*steps)]
    if as_json:
        _echo_json([asdict(d) for d in found])
    else:
        typer.echo("\n".join(map(_line, _rows(found))) if found else "no difference found")
    return DIFF_EXIT if found else 0


def _read(path: str, rules: list[str], budget: float | None) -> tuple[Report, dict[int, object]]:
    """The report on one run, without secrets, and its steps; of a written report there are none."""
    from ..catalogue.load import load_rules
    from ..engine import diagnose
    from ..history.difference import losses, written_report
    from ..report.redaction import redact
    from ..sources.bounds import Deadline

    if path.endswith(".json") and (written := written_report(path)) is not None:
        return written, {}
    report = diagnose(path, rules=rules, budget_s=budget)
    return redact(report, privacy=False)[0], dict(losses([path], load_rules(*rules), Deadline.after(budget)))


def _rows(found: list[Difference]) -> list[str]:
    heading = ROW.format("", "good", "bad", "").rstrip()
    return [heading, *(ROW.format(d.name, _cell(d.good), _cell(d.bad), d.bad_place).rstrip() for d in found)]


def _cell(text: str) -> str:
    text = text or "-"
    return text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"


def _line(text: str) -> str:
    """Log text must not act on the terminal; columns stay."""
    from ..report.printable import printable

    return printable(text).replace("\n", " ")


def _echo_json(rows: list[dict[str, object]]) -> None:
    import json

    from ..report.redaction import redact_plain

    plain = redact_plain({"rows": rows})["rows"]
    typer.echo(json.dumps(plain, indent=2, ensure_ascii=True))
