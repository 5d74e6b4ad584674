"""Run by CI with the installed wheel's `diagnose`: it gives the same verdicts as the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).parent.parent / "fixtures"


def verdict(tool: list[str], case: Path) -> object:
    """What a `diagnose` says of one case, without the seconds it took."""
    done = subprocess.run([*tool, "--format", "json", str(case / "logs")], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    report["stats"].pop("seconds", None)
    return report


def main() -> None:
    """Compare the wheel's reports with the checkout's on every fixture."""
    wheel, checkout = [sys.argv[1]], [sys.executable, "-m", "diagnose"]
    cases = sorted(p.parent for p in FIXTURES.glob("*/truth.yaml"))
    differing = [case.name for case in cases if verdict(wheel, case) != verdict(checkout, case)]
    print(f"wheel and checkout agree on {len(cases) - len(differing)} of {len(cases)} fixtures")
    if differing:
        sys.exit(f"the wheel says something else on: {', '.join(differing)}")


if __name__ == "__main__":
    main()
