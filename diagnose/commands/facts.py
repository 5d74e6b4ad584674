"""`diagnose facts PATH...`: what the logs and the files beside them say about the job, each value with its line."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Annotated, Any

import typer

from ..advice.fact_names import Value
from ..advice.fact_store import Facts, Known
from ..advice.statement import Notice
from ..lines.rank_ranges import rank_ranges
from ..report.printable import printable
from ..report.redaction import redact_text
from ..report.report import json_text

NAME_WIDTH = 26
VALUE_WIDTH = 40
MAX_VALUES = 8  # different values of one fact that are shown


def facts(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="logs, configuration files, folders, archives")],
    rules: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="a folder of rules laid over the shipped ones")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> int:
    """Print what is known of the job: versions, sizes, time-outs, settings; and where ranks or files disagree."""
    found = facts_in(paths, rules or ())
    typer.echo(to_json(found) if as_json else to_text(found), nl=False)
    return 0


def facts_in(paths: Sequence[str], rules: Sequence[str] = ()) -> Facts:
    """Yield the facts of everything in `paths`. Raises `DiagnoseError`."""
    from ..advice.facts import read_facts
    from ..advice.known_bugs import settle_known_bugs
    from ..advice.resources import idle_notices
    from ..catalogue.load import load_rules
    from ..job.event_reader import EventReader
    from ..job.job import build_job
    from ..scan.reading import Deadline, read_all
    from ..scan.scanner import ScanRules

    catalogue = load_rules(*rules)
    scan = read_all(list(paths), ScanRules(catalogue), Deadline())
    reader = EventReader(catalogue)
    job = build_job([reader.read(s) for s in scan.sources.values() if s.skipped is None and s.kind != "recorder"])
    found = read_facts(job)
    notices = (*found.notices, *idle_notices(found), *settle_known_bugs(job, found, catalogue))
    return Facts(found.known, found.packages, notices)


def to_text(found: Facts) -> str:
    """Yield the facts as lines: name, value, where; then the notices."""
    lines = [line for name in found.known for line in _lines(name, found.all(name)[:MAX_VALUES])]
    if not lines:
        lines = ["no facts found"]
    for notice in _notices(found):
        lines += ["", f"{notice.topic}: {_public(notice.text)}"]
        lines += [f"  $ {step.command}" for step in notice.remedy if step.command]
    return "\n".join(printable(line).replace("\n", " ") for line in lines) + "\n"


def to_json(found: Facts) -> str:
    """Yield the facts and notices as one JSON object; the same facts give the same text."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [{"value": _public(k.value), "source": _public(k.place), "ranks": list(k.ranks)} for k in known]
        for name, known in found.known.items()
    }
    notices = [{"topic": n.topic, "text": _public(n.text)} for n in _notices(found)]
    return json_text({"facts": rows, "notices": notices})


def _notices(found: Facts) -> tuple[Notice, ...]:
    from ..catalogue.load import load_rules

    texts = load_rules().sentences if found.notices else {}
    return tuple(n.told(lambda said: said.filled(texts)) for n in found.notices)


def _lines(name: str, values: Sequence[Known]) -> list[str]:
    shown = []
    for number, known in enumerate(values):
        label = name if number == 0 else ""
        text = str(_public(known.value))
        value = text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"
        who = _who(known, len(values) > 1)
        shown.append(f"{label:<{NAME_WIDTH}} {value:<{VALUE_WIDTH}} {_public(known.place)}{who}".rstrip())
    return shown


def _who(known: Known, differs: bool) -> str:
    return f"  ranks {rank_ranges(known.ranks)}" if differs and known.ranks else ""


def _public(value: Value) -> Value:
    """Without secrets, since a launch command may hold a token; and without numbers that JSON lacks."""
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return redact_text(value, privacy=False) if isinstance(value, str) else value
