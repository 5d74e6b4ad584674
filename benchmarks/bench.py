"""Measures the command against what reads the same bytes and decides nothing: `make bench`.

Whole processes, interleaved, medians of CPU seconds (user and system), on files that `benchmarks.corpus` writes and on the
same joined into one. Only the ratios of one run say something: another machine, or a busy one, has other seconds.

    python -m benchmarks.bench                    # prints a Markdown table
    python -m benchmarks.bench --logs DIR         # of your own logs
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.corpus import write

LOOP = "import sys\nfor p in sys.argv[1:]:\n    with open(p, 'rb') as f:\n        for line in f: pass\n"
WORDS = ("Traceback", "CUDA out of memory", "Watchdog caught", "NCCL WARN", "Connection reset", "SIGTERM", "Xid", "exitcode")


def cpu(command: list[str]) -> tuple[float, float]:
    """Yield CPU seconds and peak MB of a whole process."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(child.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def commands(files: list[str]) -> dict[str, list[str]]:
    """Yield what is measured, by name; `rg` where it is installed."""
    rg = shutil.which("rg", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    found = {
        "diagnose": [sys.executable, "-m", "diagnose", "--workers", "1", "--format", "json", *files],
        "a bare Python loop over lines": [sys.executable, "-c", LOOP, *files],
        "wc -l": ["wc", "-l", *files],
    }
    if rg:
        found["rg -F, eight words"] = [rg, "-j1", "-F", "-n", *(x for word in WORDS for x in ("-e", word)), *files]
    return found


def rows(name: str, files: list[str], rounds: int) -> list[str]:
    """Yield the table's rows of one set of files."""
    size = sum(os.path.getsize(path) for path in files) / 1e6
    asked = commands(files)
    taken: dict[str, list[tuple[float, float]]] = {what: [] for what in asked}
    for _ in range(rounds):
        for what, command in asked.items():
            taken[what].append(cpu(command))
    found = []
    for what, pairs in taken.items():
        seconds, peak = (statistics.median(values) for values in zip(*pairs, strict=True))
        found.append(f"| {name}: {len(files)} files, {size:.0f} MB | {what} | {seconds:.2f} | {size / max(seconds, 0.01):.0f} | {peak:.0f} |")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, help="a folder of logs; default: made-up ones")
    parser.add_argument("--mb", type=float, default=80)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if args.logs is None:
            write(Path(scratch) / "logs", args.mb)
        files = sorted(str(p) for p in (args.logs or Path(scratch) / "logs").rglob("*") if p.is_file())
        joined = Path(scratch) / "joined.log"
        joined.write_bytes(b"\n".join(Path(p).read_bytes() for p in files))
        print("| logs | what | CPU s | MB per CPU s | peak MB |\n| --- | --- | --- | --- | --- |")
        for row in [*rows("as they are", files, args.rounds), *rows("joined", [str(joined)], args.rounds)]:
            print(row, flush=True)


if __name__ == "__main__":
    main()
