"""How right `diagnose` is on a folder of labelled cases (by default our fixtures).

    python benchmarks/accuracy.py [DIR] [--only PREFIX] [--json]

Prints precision and recall per cause, culprit and evidence accuracy, false blame, false alarms, and how often each
certainty was right. A case is a folder with `logs/` and `truth.yaml` (`fixtures/` holds examples).
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import yaml

from diagnose.engine import diagnose

NEAR_LINES = 3  # an evidence line this close to the expert's counts as the same place


@dataclass
class Row:
    """One case: what is true, what was said, and what of it was right (None: not asked)."""

    case: str
    truth: str
    said: str
    cause: bool
    certainty: str | None
    culprit: bool | None = None
    false_blame: bool | None = None
    evidence: bool | None = None

    @property
    def right(self) -> bool:
        """Cause right, and nobody blamed wrongly."""
        return self.cause and self.culprit is not False and not self.false_blame


def judge(case: Path) -> Row:
    """Run one case."""
    truth = yaml.safe_load((case / "truth.yaml").read_text(encoding="utf-8"))
    report = diagnose(case / "logs")
    found = report.diagnosis
    said = found.cause if found else "healthy"
    accepted = {truth["root_cause"], *(truth.get("accept") or [])}
    row = Row(case.name, truth["root_cause"], said, said in accepted, found.certainty if found else None)
    if truth["root_cause"] == "healthy":
        return row
    named = {c.rank for c in found.culprits if c.rank is not None} if found else set()
    if truth.get("culprit_ranks") is not None:
        row.culprit = named == set(truth["culprit_ranks"])
    else:
        row.false_blame = bool(named)
    if truth.get("first_evidence"):
        row.evidence = bool(found and found.evidence) and _is_same_place(found.evidence[0], truth["first_evidence"])
    return row


def _is_same_place(evidence, wanted) -> bool:
    for place in [wanted] if isinstance(wanted, str) else wanted:
        name, _, line = place.rpartition(":")
        parts = Path(name.removeprefix("logs/")).parts
        if Path(evidence.file).parts[-len(parts) :] == parts and abs((evidence.line or -99) - int(line)) <= NEAR_LINES:
            return True
    return False


def share(values) -> str:
    """`45/50 = 90%` of the truth values that are not None."""
    told = [v for v in values if v is not None]
    return f"{sum(told)}/{len(told)} = {sum(told) / len(told):.0%}" if told else "-"


def per_cause(rows: list[Row]) -> list[tuple[str, str, str]]:
    """Cause, precision, recall; an accepted neighbour counts as right for both."""
    table = []
    for cause in sorted({r.truth for r in rows} | {r.said for r in rows}):
        said = [r.cause for r in rows if r.said == cause]
        true = [r.cause for r in rows if r.truth == cause]
        table.append((cause, share(said), share(true)))
    return table


def show(rows: list[Row]) -> None:
    """Print the tables."""
    for row in rows:
        if not row.right or row.evidence is False:
            wrong = [name for name in ("cause", "culprit", "evidence") if getattr(row, name) is False]
            wrong += ["false blame"] if row.false_blame else []
            print(f"{row.case}: said {row.said} ({row.certainty}), truth {row.truth}: {', '.join(wrong)} wrong")
    print(f"\n{'cause':36}{'precision':>18}{'recall':>18}")
    for cause, precision, recall in per_cause(rows):
        print(f"{cause:36}{precision:>18}{recall:>18}")
    print(f"\n{'certainty':12}{'right':>18}")
    for name in ("certain", "likely", "possible"):
        print(f"{name:12}{share(r.right for r in rows if r.certainty == name):>18}")
    alarms = sum(r.truth == "healthy" and r.said != "healthy" for r in rows)
    misses = sum(r.said == "healthy" and r.truth != "healthy" for r in rows)
    print(
        f"\n{len(rows)} cases: cause {share(r.cause for r in rows)}, culprit {share(r.culprit for r in rows)}, "
        f"evidence {share(r.evidence for r in rows)}, false blame {share(r.false_blame for r in rows)}, "
        f"false alarms {alarms}, failures called healthy {misses}, unknown {sum(r.said == 'unknown' for r in rows)}"
    )


def main() -> None:
    """Judge every case of a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="?", type=Path, default=Path(__file__).parent.parent / "fixtures")
    parser.add_argument("--only", default="", help="only cases whose name starts so")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    cases = sorted(p.parent for p in args.cases.glob(f"{args.only}*/truth.yaml"))
    if not cases:
        sys.exit(f"{args.cases}: no case (a folder with logs/ and truth.yaml) in it")
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(judge, cases))
    if args.json:
        json.dump([asdict(r) for r in rows], sys.stdout, indent=1)
    else:
        show(rows)


if __name__ == "__main__":
    main()
