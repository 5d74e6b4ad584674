"""Check the weights of `diagnose/verdict/certainty.yaml`, which are set by hand, and compare them with fitted ones.

    python -m benchmarks.calibration                       # how often each word is right today, per group
    python -m benchmarks.calibration fixtures OTHER --fit  # fitted weights, checked with whole causes and frameworks left out

A verdict is right where its cause is and nobody is blamed wrongly. The weights are a logistic regression in which every
reason can only take away. Thresholds are then the lowest at which a word is right as often as it promises.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.replay.case import find_cases, read_scans
from benchmarks.replay.score import judge
from diagnose.catalogue.load import load_rules
from diagnose.engine import reduce, tell
from diagnose.verdict.certainty import weights

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
PROMISED = {"certain": 0.98, "likely": 0.85, "possible": 0.60}  # of first looks
STEPS, RATE, PRIOR = 400, 0.5, 0.02
LARGEST = 4.0  # that one reason may take


@dataclass(frozen=True)
class Sample:
    """One verdict: the reasons on its weaker side, whether it is right, and the groups it belongs to."""

    case: str
    cause_reasons: tuple[str, ...]
    who_reasons: tuple[str, ...]
    is_right: bool
    groups: tuple[str, ...]


def samples(folders: Sequence[Path], jobs: int) -> list[Sample]:
    """Yield a sample for each case with a diagnosis."""
    catalogue, found = load_rules(), []
    for case, scan in read_scans(find_cases(folders), jobs):
        verdict = reduce(scan, catalogue).verdict
        if verdict.cause in (None, "unknown"):
            continue
        report = tell(scan, catalogue)
        row = judge(case, report, "")
        told = report.facts.get("framework")
        framework = str(told.value) if told else "none"
        groups = (f"cause {case.truth['root_cause'].partition('.')[0]}", f"framework {framework}", f"set {case.kind}")
        found.append(Sample(row.case, verdict.cause_reasons, verdict.who_reasons, row.right, groups))
    return found


def score(sample: Sample, base: float, table: dict[str, float]) -> float:
    """Yield what is left of a verdict: of its two sides the lesser."""
    sides = (sample.cause_reasons, sample.who_reasons)
    return min(base - sum(table.get(name, 0.0) for name in side) for side in sides)


def fit(found: Sequence[Sample]) -> tuple[float, dict[str, float]]:
    """Yield the base and the weights that make the observed rights and wrongs likeliest."""
    base, table = 3.0, dict.fromkeys(sorted({n for s in found for n in (*s.cause_reasons, *s.who_reasons)}), 0.5)
    for _ in range(STEPS):
        slope, slopes = 0.0, dict.fromkeys(table, 0.0)
        for sample in found:
            side = min(sample.cause_reasons, sample.who_reasons, key=lambda side: base - sum(table[n] for n in side))
            error = sample.is_right - 1 / (1 + math.exp(-score(sample, base, table)))
            slope += error
            for name in side:
                slopes[name] -= error
        base += RATE * (slope / len(found) - PRIOR * 0.1 * (base - 3.0))
        for name in table:
            step = RATE * (8 * slopes[name] / len(found) - PRIOR * (table[name] - 0.8))
            table[name] = min(LARGEST, max(0.0, table[name] + step))
    return base, table


def thresholds(found: Sequence[Sample], base: float, table: dict[str, float]) -> dict[str, float]:
    """Yield from which score on each word keeps its promise; a word that never does asks for more than the base."""
    ranked = sorted(((score(s, base, table), s.is_right) for s in found), reverse=True)
    limits = {}
    for word in ("certain", "likely"):
        kept, rights = base + 1.0, 0
        for count, (value, is_right) in enumerate(ranked, 1):
            rights += is_right
            if (rights + 1) / (count + 2) >= PROMISED[word] - 0.01 or rights == count:
                kept = value
        limits[word] = kept
    return limits


def word_of(value: float, limits: dict[str, float]) -> str:
    """Yield the word for a score."""
    return "certain" if value >= limits["certain"] else "likely" if value >= limits["likely"] else "possible"


def table_of(rows: Iterable[tuple[str, bool]]) -> str:
    """Yield how often each word is right, in one line."""
    told: dict[str, list[bool]] = defaultdict(list)
    for word, is_right in rows:
        told[word].append(is_right)
    return "  ".join(f"{w} {sum(told[w])}/{len(told[w])}" for w in PROMISED)


def left_out(found: Sequence[Sample], kind: str) -> Iterable[tuple[str, list[tuple[str, bool]]]]:
    """Yield for each group of a kind how its verdicts are called by weights that were fitted without it."""
    for group in sorted({g for s in found for g in s.groups if g.startswith(kind)}):
        rest = [s for s in found if group not in s.groups]
        base, table = fit(rest)
        limits = thresholds(rest, base, table)
        own = [s for s in found if group in s.groups]
        yield group, [(word_of(score(s, base, table), limits), s.is_right) for s in own]


def main() -> None:
    """Fit or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[FIXTURES])
    parser.add_argument("--fit", action="store_true", help="print fitted weights, checked on what was left out")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    found = samples(args.folders, args.jobs)
    if not found:
        sys.exit(f"{args.folders[0]}: no case with a verdict in it")
    today = weights()
    rows = [(word_of(score(s, today["base"], today["reasons"]), today["thresholds"]), s) for s in found]
    print("today:", table_of((word, s.is_right) for word, s in rows))
    for group in sorted({g for s in found for g in s.groups}):
        print(f"  {group:40}", table_of((word, s.is_right) for word, s in rows if group in s.groups))
    print("wrong and certain:", *(s.case for word, s in rows if word == "certain" and not s.is_right))
    if not args.fit:
        return
    for kind in ("cause", "framework", "set"):
        outside = list(left_out(found, kind))
        print(f"\nleft out by {kind}:", table_of(pair for _, pairs in outside for pair in pairs))
        print(*(f"  {group:40} {table_of(pairs)}" for group, pairs in outside), sep="\n")
    base, table = fit(found)
    print(f"\nbase: {base:.1f}\nthresholds:", {k: round(v, 2) for k, v in thresholds(found, base, table).items()})
    print("reasons:", *(f"  {name}: {value:.1f}" for name, value in table.items()), sep="\n")


if __name__ == "__main__":
    main()
