"""The commands beside a report: `scan`, `case`, `facts`, `schema` stop before one or hand over a part of it, `history` and
`diff` put runs beside runs."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..catalogue.load import load_rules
from ..errors import UsageError
from ..lines.rank_ranges import rank_ranges
from ..report.phrases import clip, printable
from .report import fault_of_writing

if TYPE_CHECKING:
    from ..report.report import Report

CASE_SUFFIXES = (".tar.gz", ".tgz")
CELL_WIDTH = 34
ROW = f"{{:<26}} {{:<{CELL_WIDTH}}} {{}}  {{}}"  # name, good, bad, place
DIFF_EXIT = 1  # as of `diff`: something differs


def scan(paths: list[str], *, output: Path, rules: list[str] | None = None, budget: float | None = None) -> int:
    """Read logs into a small portable file that `diagnose` takes as input elsewhere; secrets in its lines stay in it."""
    from ..engine import read
    from ..scan.scan import require_something, scan_to_json

    found = read(paths, load_rules(*(rules or [])), budget_s=budget)
    require_something(found, paths)
    data = scan_to_json(found).encode("utf-8", "replace")
    data = gzip.compress(data, mtime=0) if output.suffix == ".gz" else data
    return _write(output, data, f" ({len(found.sources)} sources)")


def case(paths: list[str], *, output: Path) -> int:
    """Pack a redacted, trimmed case to report a wrong verdict with."""
    from ..engine import read, tell
    from ..report.case_file import pack_case
    from ..scan.scan import require_log

    if not output.name.endswith(CASE_SUFFIXES):
        raise UsageError(f"-o {output}: a case is a {CASE_SUFFIXES[0]}")
    catalogue = load_rules()
    found = read(paths, catalogue)
    require_log(found, paths)
    packed = pack_case(found, tell(found, catalogue))
    return _write(output, packed, "; fill in truth.yaml and read the logs once before you send it")


def _write(output: Path, data: bytes, said: str) -> int:
    if fault := fault_of_writing(output, [data]):
        raise fault
    typer.echo(f"diagnose: wrote {output}{said}", err=True)
    return 0


def schema(what: str = "report") -> int:
    """Print the JSON Schema of the report."""
    if what != "report":
        raise UsageError(f"schema {what}: only `report` has one here; see also `diagnose rules schema`")
    from ..report.report import schema as report_schema

    typer.echo(json.dumps(report_schema(), indent=2))
    return 0


def facts(paths: list[str], *, rules: list[str] | None = None, as_json: bool = False) -> int:
    """Print what is known of the job: versions, sizes, time-outs, settings; and where ranks or files disagree."""
    from ..engine import read, tell
    from ..report.report import json_pieces, to_json
    from ..views.rendering import fill, shown

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
        page = fill("facts.txt.j2", {"ranks": rank_ranges, "line": _line}, known=known, notices=told["notices"])
        typer.echo(page, nl=False)
    return 0


def _line(text: str) -> str:
    """Log text must not act on the terminal; columns stay."""
    return printable(text).replace("\n", " ")


# --- runs beside runs -------------------------------------------------------------------------------------------------


def history(cause: str | None = None, *, forget: str | None = None, as_json: bool = False) -> int:
    """List the failures that `diagnose --remember` wrote down: job, cause, culprits, place in the code; no log text.

    The file is $XDG_STATE_HOME/diagnose/history.sqlite3, or what DIAGNOSE_HISTORY names.
    """
    from ..history import store

    if forget is not None:
        typer.echo(f"forgot {store.forget(forget)} of job {_line(forget)}")
        return 0
    found = store.failures(cause)
    if as_json:
        _echo_json([asdict(f) for f in found])
        return 0
    for f in found:
        who = ", ".join([*(f"rank {rank}" for rank in f.ranks[:4]), *f.hosts[:4]])
        words = (f.ended[:19] or f.remembered[:19], f"job {f.job}", f.cause, who, f.place)
        typer.echo(_line("  ".join(filter(None, words))))
    if not found and cause and (others := len(store.failures())):
        typer.echo(f"none of {others} failures remembered is of {cause}")
    elif not found:
        typer.echo(f"nothing remembered in {store.history_file()}; `diagnose --remember PATH...` writes a failure down")
    return 0


def diff(good: str, bad: str, *, rules: list[str] | None = None, budget: float | None = None, as_json: bool = False) -> int:
    """Show what differs between a good run and a failed one: outcome, world size, hosts, versions, settings, steps.

    Exits with 0 where nothing differs and 1 where something does.
    """
    from ..history.difference import differences, first_step_apart

    reports, steps = zip(*(_read(path, rules or [], budget) for path in (good, bad)), strict=True)
    found = [*differences(*reports), *first_step_apart(*steps)]
    if as_json:
        _echo_json([asdict(d) for d in found])
    else:
        cells = [(d.name, *(clip(text or "-", CELL_WIDTH) for text in _parting(d.good, d.bad)), d.bad_place) for d in found]
        rows = [_line(ROW.format(*row).rstrip()) for row in (("", "good", "bad", ""), *cells)]
        typer.echo("\n".join(rows) if found else "no difference found")
    return DIFF_EXIT if found else 0


def _parting(good: str, bad: str) -> tuple[str, str]:
    """Two long values from the word at which they part: two commands mostly begin alike."""
    same = takewhile(lambda words: words[0] == words[1], zip(good.split(" "), bad.split(" "), strict=False))
    at = sum(len(word) + 1 for word, _ in same)
    return (good, bad) if max(len(good), len(bad)) <= CELL_WIDTH or not at else (f"… {good[at:]}", f"… {bad[at:]}")


def _read(path: str, rules: list[str], budget: float | None) -> tuple[Report, dict[int, object]]:
    """The report on one run, without secrets, and its steps; of a written report there are none."""
    from ..engine import diagnose
    from ..history.difference import losses, written_report
    from ..report.redaction import redact
    from ..sources.bounds import Deadline

    if path.endswith(".json") and (written := written_report(path)) is not None:
        return written, {}
    report = diagnose(path, rules=rules, budget_s=budget)
    return redact(report, privacy=False)[0], dict(losses([path], load_rules(*rules), Deadline.after(budget)))


def _echo_json(rows: list[dict[str, object]]) -> None:
    from ..report.redaction import without_secrets

    plain = without_secrets({"rows": rows})["rows"]
    typer.echo(json.dumps(plain, indent=2, ensure_ascii=True))
