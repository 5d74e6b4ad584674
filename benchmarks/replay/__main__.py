"""Score all labelled cases in one process, and say which verdicts a change has changed.

    python -m benchmarks.replay                                  # the cases under fixtures/
    python -m benchmarks.replay fixtures OTHER --save before.json
    python -m benchmarks.replay fixtures OTHER --against before.json
    python -m benchmarks.replay --without verdict.scope:is_everywhere=False --without questions:ask=[]

Scans are read once and kept in `.replay/`; they are read anew where logs, rules or the code that scans have changed.
A case is a folder with `logs/` and `truth.yaml`; CONTRIBUTING.md describes its keys.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from diagnose import render
from diagnose.catalogue.load import load_rules
from diagnose.engine import tell

from .case import Case, find_cases, read_scans
from .score import Row, judge, summary
from .without import take_out

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


def replay(cases: list[Case], jobs: int, *, fresh: bool) -> list[Row]:
    """Yield a row for each case."""
    catalogue, rows = load_rules(), []
    for case, scan in read_scans(cases, jobs, fresh=fresh):
        report = tell(scan, catalogue)
        page = render(report, "markdown").casefold() if case.truth.get("must_mention") else ""
        rows.append(judge(case, report, page))
    return rows


def changes(before: list[dict], rows: list[Row]) -> list[str]:
    """Yield the verdicts that differ from those of a saved run."""
    old = {r["case"]: Row(**r).verdict() for r in before}
    pairs = [(r.case, old.get(r.case), r.verdict()) for r in rows if r.case in old]
    return [f"{case}\n  - {was}\n  + {now}" for case, was, now in pairs if was != now]


def show(rows: list[Row], *, quiet: bool) -> None:
    """Print what is wrong, then the figures of each set and of all."""
    for row in () if quiet else rows:
        if "WRONG" in row.verdict():
            print(f"{row.case}: truth {row.truth}: {row.verdict()}")
    for kind in sorted({r.kind for r in rows}):
        print(f"\n{kind}: {summary([r for r in rows if r.kind == kind])}")
    print(f"\nall: {summary(rows)}")


def main() -> None:
    """Replay."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[FIXTURES])
    parser.add_argument("--only", default="", help="only cases whose name starts so")
    parser.add_argument("--save", type=Path, metavar="FILE", help="keep the verdicts for --against")
    parser.add_argument("--against", type=Path, metavar="FILE", help="say which verdicts differ from a saved run")
    parser.add_argument("--without", action="append", default=[], metavar="MODULE:FUNCTION=VALUE")
    parser.add_argument("--fresh", action="store_true", help="read all scans anew")
    parser.add_argument("--quiet", action="store_true", help="figures alone")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    cases = find_cases(args.folders, args.only)
    if not cases:
        sys.exit(f"{args.folders[0]}: no case (a folder with logs/ and truth.yaml) in it")
    for spec in args.without:
        take_out(spec)
    began = time.perf_counter()
    rows = replay(cases, args.jobs, fresh=args.fresh)
    show(rows, quiet=args.quiet)
    print(f"({time.perf_counter() - began:.1f} s)")
    if args.save:
        args.save.write_text(json.dumps([asdict(r) for r in rows], indent=1))
    if args.against:
        changed = changes(json.loads(args.against.read_text()), rows)
        print(f"\n{len(changed)} verdicts changed", *changed, sep="\n")


if __name__ == "__main__":
    main()
