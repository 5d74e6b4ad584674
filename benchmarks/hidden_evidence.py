"""Takes the decisive files away from labelled cases: what is left must never be called wrongly and certainly.

    python -m benchmarks.hidden_evidence OUT [--seed 1] [--count 20] [--ranks 8..32] [--cases DIR]

Cases are simulated jobs, one of each fault in turn, or with `--cases` those of a folder. Decisive is every file that
holds a place of the truth's `first_evidence`. A case of which no other log is left cannot be hidden and is passed over.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from .jobs.generate import generate
from .replay.score import Row, judge_folder, share

PER_WANTED = 3  # simulated jobs for each case wanted: many keep all they have in one file


SETTINGS = {".yaml", ".yml", ".sh", ".json"}  # these alone are no log


def hide(case: Path, out: Path) -> Path | None:
    """Copy a case without its decisive files; None where that leaves no log."""
    truth = yaml.safe_load((case / "truth.yaml").read_text(encoding="utf-8"))
    told = truth.get("first_evidence") or []
    decisive = {place.rpartition(":")[0] for place in ([told] if isinstance(told, str) else told)}
    logs = case / "logs"
    kept = [p for p in sorted(logs.rglob("*")) if p.is_file() and str(p.relative_to(logs)) not in decisive]
    if not decisive or not any(p.stat().st_size and p.suffix not in SETTINGS for p in kept):
        return None
    folder = out / case.name
    for path in kept:
        target = folder / "logs" / path.relative_to(logs)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    truth |= {"first_evidence": None, "hidden": sorted(decisive)[:16]}
    (folder / "truth.yaml").write_text(yaml.safe_dump(truth, sort_keys=False), encoding="utf-8")
    return folder


def hide_simulated(out: Path, seed: int, count: int, ranks: tuple[int, int] = (8, 32)) -> list[Path]:
    """Yield `count` simulated cases without their decisive files, of as many faults as can be hidden."""
    with tempfile.TemporaryDirectory() as whole:
        cases = generate(Path(whole), seed, count * PER_WANTED, ranks)
        hidden = [folder for case in cases if (folder := hide(case, out)) is not None]
    for folder in hidden[count:]:
        shutil.rmtree(folder)
    return hidden[:count]


def hide_labelled(cases: Path, out: Path) -> list[Path]:
    """Yield every case of a folder that can be hidden, without its decisive files."""
    found = sorted(p.parent for p in cases.glob("*/truth.yaml"))
    return [folder for case in found if (folder := hide(case, out)) is not None]


def is_wrong_and_certain(row: Row) -> bool:
    """Whether a verdict that calls itself certain is not right."""
    return row.certainty == "certain" and not row.right


def show(rows: list[Row]) -> None:
    """Print what was said of each, and how often it was right, unknown, or wrong and certain."""
    for row in rows:
        mark = "WRONG AND CERTAIN" if is_wrong_and_certain(row) else "right" if row.right else "not right"
        print(f"{row.case}: {row.truth} hidden, said {row.said} ({row.certainty or 'no failure'}): {mark}")
    wrong = sum(map(is_wrong_and_certain, rows))
    print(f"\n{len(rows)} cases: right all the same {share(r.right for r in rows)}, wrong and certain {wrong}")


def main() -> None:
    """Build the cases, judge them, and fail where one is wrong and certain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--ranks", default="8..32")
    parser.add_argument("--cases", type=Path)
    given = parser.parse_args()
    low, _, high = given.ranks.partition("..")
    folders = (
        hide_labelled(given.cases, given.out)
        if given.cases
        else hide_simulated(given.out, given.seed, given.count, (int(low), int(high)))
    )
    rows = [judge_folder(folder) for folder in folders]
    show(rows)
    sys.exit(any(map(is_wrong_and_certain, rows)))


if __name__ == "__main__":
    main()
