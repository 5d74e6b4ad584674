"""Says how much of the known message formats the rules recognise: `python -m benchmarks.coverage`.

In: the tables under `messages/`, one line a wording, grouped into the rows and sections they came in. Out: for each
section its rows, how many of them a rule recognises in every wording, and those left out with the reason; and for each
Python library the share of a sample of what it raises that a narrower rule than the catch-all knows. Status 1 when a row is
neither, or a share falls below its floor.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.messages import nccl, sources, stack, torch
from benchmarks.messages.nccl_files import FILES
from benchmarks.messages.raised import RAISED
from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.lookup import fire
from diagnose.catalogue.rule import Rule

TABLES = {"torch": torch.TABLE, "nccl": nccl.TABLE, "stack": stack.TABLE, "source": sources.TABLE}
LEFT_OUT, ANOTHER_WORDING = "X", "+"
QUIET = ("context", "harmless")  # a row that asks for one of these roles is content with any rule
CATCH_ALL = "process.exception/uncaught-exception"
FLOOR = 0.75  # of a sample of thirty; what is missed are mostly mistakes of the caller, which the catch-all names well
WARNING = "gpu-07:41217:41388 [3] {file}:120 NCCL WARN words that no release of today has"


@dataclass(frozen=True, slots=True)
class Wording:
    """One text, and the cause (or layer, or role) that a rule should see in it; '' is any that is not harmless."""

    wanted: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """What means one thing: a row of a table. `left_out` says why no rule is wanted."""

    section: str
    wordings: tuple[Wording, ...]
    left_out: str = ""


def read_rows(name: str) -> list[Row]:
    """Yield the rows of one table, in order."""
    rows: list[Row] = []
    section = ""
    for line in TABLES[name].strip().splitlines():
        if line.startswith("# "):
            section = line[2:]
            continue
        kind, wanted, text = line.split("|", 2)
        wording = Wording(wanted, text.replace("\\n", "\n").replace("\\t", "\t"))
        if kind == ANOTHER_WORDING:
            rows[-1] = replace(rows[-1], wordings=(*rows[-1].wordings, wording))
        else:
            rows.append(Row(section, (wording,), wanted if kind == LEFT_OUT else ""))
    return rows


def unheard(catalogue: Catalogue, row: Row) -> list[str]:
    """Yield those texts of a row in which no rule hears what it should."""
    if row.left_out:
        return []
    return [w.text for w in row.wordings if not any(_sees(w, r, fields) for r, fields in fire(catalogue, w.text))]


def _sees(wording: Wording, rule: Rule, fields: dict[str, Any]) -> bool:
    cause, role = fields.get("cause") or rule.cause or "", fields.get("role") or rule.role
    if wording.wanted in QUIET:
        return True
    return role not in QUIET and f"{cause}.".startswith(f"{wording.wanted}." if wording.wanted else "")


def files_unheard(catalogue: Catalogue) -> list[str]:
    """Yield those whose warnings no rule hears where the words are new."""
    return [f for f in FILES.split() if not fire(catalogue, WARNING.format(file=f))]


def raised_by() -> dict[str, list[str]]:
    """Yield for each source what it raises, as tracebacks."""
    found: dict[str, list[str]] = {}
    for line in RAISED.strip().splitlines():
        if line.startswith("# "):
            texts = found.setdefault(line[2:], [])
            continue
        kind, file, function, message = line.split("|", 3)
        code = "assert ok, message" if kind == "AssertionError" else f"raise {kind}("
        frame = f'  File "/opt/venv/lib/python3.11/site-packages/{file}", line 7, in {function}'
        texts.append("\n".join((frame, f"    {code}", f"{kind}: {message}".replace("\\n", "\n"))))
    return found


def is_known(catalogue: Catalogue, text: str) -> bool:
    """Whether a narrower rule than the catch-all names its cause."""
    return any(r.id != CATCH_ALL and _sees(Wording("", text), r, fields) for r, fields in fire(catalogue, text))


def _report(catalogue: Catalogue) -> Iterator[str]:
    for name in TABLES:
        rows = read_rows(name)
        for section in dict.fromkeys(row.section for row in rows):
            own = [row for row in rows if row.section == section]
            heard = [row for row in own if not row.left_out and not unheard(catalogue, row)]
            wordings = sum(len(row.wordings) for row in own)
            wanted = sum(not row.left_out for row in own)
            share = 100 * len(heard) // max(wanted, 1)
            yield f"{name:6} {section:42} {len(heard):3} of {wanted:3} rows ({share:3} %), {wordings:3} wordings"
            yield from (f"         left out: {r.wordings[0].text[:70]!r}: {r.left_out}" for r in own if r.left_out)
            yield from (f"         NO RULE: {text[:100]!r}" for row in own for text in unheard(catalogue, row))
    for source, texts in raised_by().items():
        known = [text for text in texts if is_known(catalogue, text)]
        low = "  NO RULE for too many" if len(known) < FLOOR * len(texts) else ""
        yield f"raised {source:42} {len(known):3} of {len(texts):3} rows ({100 * len(known) // len(texts):3} %){low}"
        yield from (f"         catch-all: {text.splitlines()[2][:100]!r}" for text in texts if text not in known)
    missing, files = files_unheard(catalogue), FILES.split()
    yield f"nccl   {'source files, with words never seen':42} {len(files) - len(missing):3} of {len(files):3} files"
    yield from (f"         NO RULE: {file}" for file in missing)


def main() -> int:
    """Print the coverage; 1 where something has neither a rule nor a reason."""
    lines = list(_report(load_rules()))
    print("\n".join(lines))
    return int(any("NO RULE" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
