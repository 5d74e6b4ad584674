"""What a small log costs beyond an empty Python process: CPU seconds, medians of interleaved rounds.

    python -m benchmarks.startup
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.bench import cpu

LOG = "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: could not convert string to float: 'x'\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "rank1.log"
        log.write_text(LOG)
        small = [sys.executable, "-m", "diagnose", os.fspath(log)]
        homeless = ["env", f"XDG_CACHE_HOME={scratch}/none", f"HOME={scratch}/none", *small]
        asked = {"python -c pass": [sys.executable, "-c", "pass"], "a small log": small, "the same, no home": homeless}
        taken: dict[str, list[float]] = {name: [] for name in asked}
        for _ in range(rounds):
            for name, command in asked.items():
                taken[name].append(cpu(command)[0])
    for name, seconds in taken.items():
        print(f"{name:18} {statistics.median(seconds):.2f} CPU s")


if __name__ == "__main__":
    main()
