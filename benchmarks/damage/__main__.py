"""Damage labelled cases, judge what is left, and fail where a verdict is certain and wrong that was right on the whole case.

    python -m benchmarks.damage                              # the cases under fixtures/ and cases/
    python -m benchmarks.damage OTHER --only incident --alteration lost_lines --alteration dropped_proof

A case is a folder with `logs/` and `truth.yaml`. What loses nothing has to leave cause and culprits alone; what loses
lines or files may leave less said. To name another cause than the true one, or a rank that is not at fault, is wrong.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from . import ALIKE, LOSSES
from .verdict import Judged, judge_case

ROOT = Path(__file__).parents[2]


def judged(folders: list[Path], names: list[str], jobs: int) -> Iterator[Judged]:
    """Yield every altered copy of every case, judged."""
    if jobs == 1:
        yield from (j for folder in folders for j in judge_case(folder, names))
        return
    with ProcessPoolExecutor(jobs) as pool:
        for found in pool.map(judge_case, folders, [names] * len(folders)):
            yield from found


def show(rows: list[Judged], names: list[str]) -> None:
    """Print a line for each alteration."""
    for name in names:
        own = [j for j in rows if j.name == name]
        how = Counter(j.outcome for j in own)
        kept = sum(j.after.certainty == "certain" for j in own)
        whole = sum(j.before.certainty == "certain" for j in own)
        told = ", ".join(f"{count} {what}" for what, count in sorted(how.items()))
        print(f"{name:20} {len(own):5} copies of right cases: {told}; certain {whole} -> {kept}")
    sure = sum(j.is_too_sure for j in rows)
    print(f"\n{len(rows)} copies of {len({j.case for j in rows})} cases, {sure} certain and wrong")


def main() -> None:
    """Damage and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "fixtures", ROOT / "cases"])
    parser.add_argument("--only", default="", help="only cases whose name starts so")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth case")
    parser.add_argument("--alteration", action="append", choices=[*ALIKE, *LOSSES], help="only these")
    parser.add_argument("--changed", action="store_true", help="list each copy that is no longer right")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    found = sorted(p.parent for folder in given.folders for p in folder.glob(f"{given.only}*/truth.yaml"))
    names = given.alteration or [*ALIKE, *LOSSES]
    rows = []
    for j in judged(found[:: given.every], names, given.jobs):
        rows.append(j)
        if j.is_too_sure or (given.changed and j.outcome != "right"):
            print(f"{'CERTAIN AND WRONG: ' if j.is_too_sure else ''}{j}", flush=True)
    show(rows, names)
    sys.exit(any(j.is_too_sure for j in rows))


if __name__ == "__main__":
    main()
