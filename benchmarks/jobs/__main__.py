"""`python -m benchmarks.jobs OUT --seed S --count N [--ranks 8..1024] [--fault NAME] [--layout NAME]`."""

from __future__ import annotations

import argparse
from pathlib import Path

from .catalogue import FAULTS
from .generate import generate
from .layouts import LAYOUTS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.jobs", description="Writes simulated, labelled jobs.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--ranks", default="8..64", help="N or LOW..HIGH, within 8..1024")
    parser.add_argument("--fault", default="", choices=["", *FAULTS])
    parser.add_argument("--layout", default="", choices=["", *LAYOUTS])
    args = parser.parse_args()
    low, _, high = args.ranks.partition("..")
    generate(args.out, args.seed, args.count, (int(low), int(high or low)), args.fault, args.layout)


if __name__ == "__main__":
    main()
