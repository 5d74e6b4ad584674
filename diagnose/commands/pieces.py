"""The commands that stop before a report, or hand over a part of one: `scan`, `case`, `facts`, `schema`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import UsageError
from ..lines.rank_ranges import rank_ranges
from ..report.printable import printable
from .options import files

CASE_SUFFIXES = (".tar.gz", ".tgz")
NAME_WIDTH, VALUE_WIDTH = 26, 40
MAX_VALUES = 8  # different values of one fact that are shown
Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="logs, folders, archives", autocompletion=files)]
Rules = Annotated[
    list[str] | None,
    typer.Option(metavar="DIR", help="a folder of rules laid over the shipped ones", autocompletion=files),
]
Rows = dict[str, list[dict[str, Any]]]


def scan(
    paths: Paths,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="FILE.scan.json.gz")],
    rules: Rules = None,
    budget: Annotated[float | None, typer.Option(metavar="SECONDS", help="stop reading after this long")] = None,
) -> int:
    """Read logs into a small portable file that `diagnose` takes as input elsewhere; secrets in its lines stay in it."""
    from ..catalogue.load import load_rules
    from ..engine import check_budget
    from ..scan.reading import Deadline, read_all
    from ..scan.scan import require_something, scan_to_json
    from ..scan.scanner import ScanRules

    check_budget(budget)
    found = read_all(paths, ScanRules(load_rules(*(rules or []))), Deadline.after(budget))
    require_something(found, paths)
    data = scan_to_json(found).encode("utf-8", "replace")
    _write(output, gzip.compress(data, mtime=0) if output.suffix == ".gz" else data, f" ({len(found.sources)} sources)")
    return 0


def case(
    paths: Paths,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="CASE.tar.gz")],
) -> int:
    """Pack a redacted, trimmed case to report a wrong verdict with."""
    from ..catalogue.load import load_rules
    from ..engine import read, tell
    from ..report.case_file import pack_case
    from ..scan.scan import require_log

    if not output.name.endswith(CASE_SUFFIXES):
        raise UsageError(f"-o {output}: a case is a {CASE_SUFFIXES[0]}")
    catalogue = load_rules()
    found = read(paths, catalogue)
    require_log(found, paths)
    packed = pack_case(found, tell(found, catalogue))
    _write(output, packed, "; fill in truth.yaml and read the logs once before you send it")
    return 0


def _write(output: Path, data: bytes, said: str) -> None:
    from ..report.written_files import open_named

    try:
        with open(output, "wb", opener=open_named) as file:
            file.write(data)
    except OSError as error:
        raise UsageError(f"-o {output}: {error.strerror or error}") from error
    typer.echo(f"diagnose: wrote {output}{said}", err=True)


def schema(what: Annotated[str, typer.Argument(help="report")] = "report") -> int:
    """Print the JSON Schema of the report."""
    if what != "report":
        raise UsageError(f"schema {what}: only `report` has one here; see also `diagnose rules schema`")
    from ..report.report import schema as report_schema

    typer.echo(json.dumps(report_schema(), indent=2))
    return 0


def facts(
    paths: Paths,
    rules: Rules = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
) -> int:
    """Print what is known of the job: versions, sizes, time-outs, settings; and where ranks or files disagree."""
    from ..catalogue.load import load_rules
    from ..engine import read, tell
    from ..report.report import json_pieces, to_json
    from ..views.rendering import shown

    catalogue = load_rules(*(rules or ()))
    told = to_json(shown(tell(read(paths, catalogue), catalogue), "json", redact=True)[0])
    known = {
        name: [{key: row[key] for key in ("value", "source", "ranks")} for row in (fact, *fact["others"])]
        for name, fact in told["facts"].items()
    }
    if as_json:
        notices = [{"topic": notice["topic"], "text": notice["text"]} for notice in told["notices"]]
        typer.echo("".join(json_pieces({"facts": known, "notices": notices})), nl=False)
    else:
        typer.echo("\n".join(printable(line).replace("\n", " ") for line in _lines(known, told["notices"])))
    return 0


def _lines(known: Rows, notices: list[dict[str, Any]]) -> list[str]:
    """Yield the facts, each as name, value, where; then the notices."""
    lines = [] if known else ["no facts found"]
    for name, rows in known.items():
        for number, row in enumerate(rows[:MAX_VALUES]):
            text = str(row["value"])
            value = text if len(text) <= VALUE_WIDTH else text[: VALUE_WIDTH - 1] + "…"
            who = f"  ranks {rank_ranges(row['ranks'])}" if len(rows) > 1 and row["ranks"] else ""
            label = name if number == 0 else ""
            lines.append(f"{label:<{NAME_WIDTH}} {value:<{VALUE_WIDTH}} {row['source']}{who}".rstrip())
    for notice in notices:
        lines += ["", f"{notice['topic']}: {notice['text']}"]
        lines += [f"  $ {step['command']}" for step in notice["remedy"] if step["command"]]
    return lines
