"""Measures the scan against the tools people would use instead: `make bench`.

Whole processes, interleaved, medians of CPU seconds (user and system) and peak memory, on corpora that
`benchmarks.corpus` writes into a scratch folder. Prints a Markdown table.

    python -m benchmarks.bench --scratch /var/tmp/bench            # everything (needs about 10 GB there)
    python -m benchmarks.bench --scratch /var/tmp/bench --quick    # a tenth of the sizes
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

import diagnose
from benchmarks.corpus import lines, samples, write
from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.scan.scanner import ScanRules

OURS = (
    "import atexit, gc, sys; gc.set_threshold(200_000, 20, 100); atexit.register(gc.freeze); "  # as the command does
    "from diagnose.catalogue import load_rules; from diagnose.scan.reading import Deadline, read_all; "
    "from diagnose.scan.scanner import ScanRules; "
    "s = read_all(sys.argv[2:], ScanRules(load_rules()), Deadline(), workers=int(sys.argv[1])); "
    "print(sum(len(x.hits()) for x in s.sources.values()))"
)
DOUBLED = (  # every rule twice, the second time with literals of the same lengths that stand nowhere
    "import atexit, gc, json, re, sys; gc.set_threshold(200_000, 20, 100); atexit.register(gc.freeze); "
    "from dataclasses import replace; "
    "from diagnose.catalogue import load_rules; from diagnose.scan.reading import Deadline, read_all; "
    "from diagnose.scan.scanner import ScanRules\n"
    "words = json.load(open(sys.argv.pop(1)))\n"
    "def twin(rule):\n"
    "    forms = tuple(replace(f, literals=tuple(w), pattern=re.escape(w[0]), prefix=None)"
    " for f, w in zip(rule.forms, words[rule.id]))\n"
    "    return replace(rule, id=rule.id + '-twin', forms=forms, table=None)\n"
    "rules = list(load_rules().rules.values())\n"
    "twins = [twin(r) for r in rules if r.id in words]\n"
    "s = read_all(sys.argv[2:], ScanRules([*rules, *twins], 'doubled'), Deadline(), workers=1)\n"
    "print(sum(len(x.hits()) for x in s.sources.values()))"
)
BARE = (
    "import os, sys; from diagnose.catalogue import load_rules; from diagnose.scan.scanner import ScanRules; "
    "r = ScanRules(load_rules()); b = bytearray(1 << 20); v = memoryview(b); n = 0\n"
    "for p in sorted(os.path.join(d, f) for d, _, fs in os.walk(sys.argv[1]) for f in fs) or sys.argv[1:]:\n"
    "    with open(p, 'rb', buffering=0) as f:\n"
    "        while (k := f.readinto(b)):\n"
    "            n += len(r.main.find(v[:k]))\n"
    "print(n)"
)
NAIVE = (
    "import sys, regex; from diagnose.catalogue import load_rules\n"
    "ps = [regex.compile(f.pattern) for r in load_rules().rules.values() for f in r.forms]\n"
    "print(sum(p.search(x) is not None for x in open(sys.argv[1], errors='replace') for p in ps))"
)
GIB = 1e9
RG = next((str(p) for p in [Path(sys.executable).with_name("rg")] if p.exists()), shutil.which("rg") or "")
WHOLE = "ours, to the report"
CANDIDATE_RULES = 60  # that candidate lines come from: a job prints few of a thousand messages


@dataclass(frozen=True)
class Run:
    """One process: CPU seconds and peak memory."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def run(command: list[str]) -> Run:
    """Run a command to its end, its output into a pipe that is read."""

    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    while process.stdout.read(1 << 20):
        pass
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    process.stdout.close()
    return Run(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def write_patterns(folder: Path, catalogue: Catalogue) -> tuple[Path, Path, int]:
    """Write the catalogue's patterns (those that rg can read) and literals as files; yield them and how many."""
    main = ScanRules(catalogue).main  # what is looked for in every line: signs of life are looked for here and there
    patterns = []
    for form in (c.form for c in main.candidates if not c.rule.id.startswith("~")):
        whole = f"{form.prefix.removesuffix('$')}{form.pattern.removeprefix('^')}" if form.prefix else form.pattern
        plain = re.sub(r"\(\?P<\w+>", "(?:", whole)
        patterns.append(f"(?i:{plain})" if form.ignore_case else plain)
    good = _readable(RG, patterns)
    literals = sorted({x for c in main.candidates for x in c.form.literals})
    (folder / "patterns").write_text("\n".join(good) + "\n")
    (folder / "literals").write_text("\n".join(literals) + "\n")
    return folder / "patterns", folder / "literals", len(good)


def write_twins(file: Path, catalogue: Catalogue) -> Path:
    """Write for each rule its literals with their letters in another order, as the literals of its twin."""
    draw = Random(1)
    rules = [r for r in catalogue.rules.values() if r.forms and all(f.literals for f in r.forms)]
    words = {r.id: [["".join(draw.sample(x, len(x))) for x in f.literals] for f in r.forms] for r in rules}
    file.write_text(json.dumps(words))
    return file


def _readable(rg: str, patterns: list[str]) -> list[str]:
    """Those patterns that rg takes (it has no `\\n` without --multiline); found by halves."""
    if not patterns:
        return []
    asked = subprocess.run(
        [rg, "--no-unicode", "-f", "-", os.devnull],
        input="\n".join(patterns) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 2:
        return patterns
    middle = len(patterns) // 2
    return [] if middle == 0 else [*_readable(rg, patterns[:middle]), *_readable(rg, patterns[middle:])]


def compare(name: str, size: int, commands: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """Run the commands in turn, so many rounds; print one row each; yield the median CPU seconds."""
    runs: dict[str, list[Run]] = {key: [] for key in commands}
    for _ in range(rounds):
        for key, command in commands.items():
            runs[key].append(run(command))
    medians = {key: statistics.median(r.cpu_s for r in own) for key, own in runs.items()}
    for key, own in runs.items():
        cpu, wall = medians[key], statistics.median(r.wall_s for r in own)
        peak, ratio = max(r.peak_mb for r in own), cpu / medians["ours"] if "ours" in medians else 0
        speed = size / cpu / GIB if cpu else 0
        print(f"| {name} | {key} | {cpu:.2f} | {wall:.2f} | {speed:.3f} | {peak:.0f} | {ratio:.2f} |", flush=True)
    return medians


def ours(path: Path, workers: int = 1) -> list[str]:
    """The command for our scan of `path`."""
    return [sys.executable, "-c", OURS, str(workers), str(path)]


def verdict(path: Path) -> list[str]:
    """The whole command: the scan, and all that follows from it to the report."""
    return [sys.executable, "-m", "diagnose", str(path), "--exit-zero", "--format", "json", "--workers", "1"]


def rivals(path: Path, patterns: Path, literals: Path) -> dict[str, list[str]]:
    """The commands of the other tools."""
    rg = [RG, "-a", "-j1", "--no-ignore", "--no-messages"]
    return {
        "bare scan of the literals": [sys.executable, "-c", BARE, str(path)],
        "rg, same patterns": [*rg, "--no-unicode", "-f", str(patterns), str(path)],
        "rg -F, the literals": [*rg, "-F", "-f", str(literals), str(path)],
        "grep -F -f": ["env", "LC_ALL=C", "grep", "-r", "-a", "-F", "-f", str(literals), str(path)],
        "wc -l": [
            "sh",
            "-c",
            f"find {path} -type f -print0 | xargs -0 cat | wc -l" if path.is_dir() else f"wc -l {path}",
        ],
    }


@dataclass(frozen=True)
class Bench:
    """Where corpora are written, how large and how often, and what the rivals look for."""

    scratch: Path
    scale: float
    rounds: int
    samples: tuple[list[bytes], list[bytes]]
    patterns: Path
    literals: Path
    twins: Path

    def corpus(self, name: str, kind: str, seed: int, size: float, ranks: int = 0, files: int = 1) -> tuple[Path, int]:
        """Write a file, or a folder of so many; yield it and its bytes."""
        path = self.scratch / name
        paths = [path / f"rank_{n:05d}.log" for n in range(files)] if files > 1 else [path]
        chunks = (lines(kind, seed + n, seed + n, ranks, self.samples) for n in range(files))
        return path, sum(write(each, int(size / files), part) for each, part in zip(paths, chunks, strict=True))

    def rivals(self, path: Path) -> dict[str, list[str]]:
        """Our scan, and the other tools."""
        return {"ours": ours(path), **rivals(path, self.patterns, self.literals)}


def realistic(bench: Bench) -> None:
    """1 GB of 16 ranks; with every rule twice; and one file of it packed."""
    path, size = bench.corpus("realistic", "realistic", 0, 1e9 * bench.scale, files=16)
    doubled = {"ours, every rule twice": [sys.executable, "-c", DOUBLED, str(bench.twins), "1", str(path)]}
    compare("realistic, 16 files", size, {**bench.rivals(path), **doubled, WHOLE: verdict(path)}, bench.rounds)
    first, packed = path / "rank_00000.log", bench.scratch / "rank.log.gz"
    # By a process of its own: what this one once held in memory counts for all that it starts.
    subprocess.run(["sh", "-c", f"gzip -6 -n -c {first} > {packed}"], check=True)
    zcat = {"zcat, rg -F": ["sh", "-c", f"zcat {packed} | {RG} -a -F -f {bench.literals}"]}
    compare("gz", first.stat().st_size, {"ours": ours(packed), **zcat}, bench.rounds)


def workers(bench: Bench) -> None:
    """2 GB by one process and by two."""
    path, size = bench.corpus("two", "realistic", 20, 2e9 * bench.scale, files=2)
    compare("2 GB, 2 files", size, {"ours": ours(path), "ours, 2 workers": ours(path, 2)}, bench.rounds)


def dense(bench: Bench) -> None:
    """128 MB in which 30 % of the lines hold a literal, of one rank and of 8."""
    for name, ranks in (("dense, one rank", 0), ("dense, 8 ranks woven", 8)):
        path, size = bench.corpus("dense.log", "dense", 1, 128e6 * bench.scale, ranks)
        compare(name, size, bench.rivals(path), min(bench.rounds, 3))


def large(bench: Bench) -> None:
    """One file of 5 GB."""
    path, size = bench.corpus("large.log", "realistic", 7, 5e9 * bench.scale)
    compare("one large file", size, {"ours": ours(path), WHOLE: verdict(path)}, 1)


def small(bench: Bench) -> None:
    """20,000 files of 20 KB; and one of 200 KB."""
    files = int(20_000 * bench.scale)
    path, size = bench.corpus("small", "realistic", 0, 20_000 * files, files=files)
    compare(f"{files:,} small files", size, {"ours": ours(path), WHOLE: verdict(path)}, 1)
    path, size = bench.corpus("one.log", "realistic", 9, 200_000)
    nothing = {"python -c pass": [sys.executable, "-c", "pass"], "naive loop": [sys.executable, "-c", NAIVE, str(path)]}
    compare("one small log", size, {"ours": ours(path), WHOLE: verdict(path), **nothing}, bench.rounds)


def growth(bench: Bench) -> None:
    """Twice the bytes, twice the ranks."""
    for name, ranks, size in (("bytes", 0, 1e8), ("bytes", 0, 2e8), ("ranks", 64, 1e8), ("ranks", 128, 1e8)):
        path, written = bench.corpus("growth.log", "realistic", 3, size * bench.scale, ranks)
        compare(f"growth: {ranks or f'{size / 1e6:.0f} MB'} {name}", written, {"ours": ours(path)}, min(bench.rounds, 3))


PARTS = {part.__name__: part for part in (realistic, workers, dense, large, small, growth)}


def main() -> None:
    """Write the corpora, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True, help="a folder with room; corpora are written there")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, one round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be given several times")
    given = parser.parse_args()
    if not RG:
        raise SystemExit("rg is needed: install the package ripgrep")
    given.scratch.mkdir(parents=True, exist_ok=True)
    catalogue = load_rules(fresh=True)
    load_rules()  # the compiled cache is warm, as it is for a user
    compileall.compile_dir(Path(diagnose.__file__).parent, quiet=1)  # and the bytecode there, as an installer leaves it
    patterns, literals, count = write_patterns(given.scratch, catalogue)
    twins = write_twins(given.scratch / "twins.json", catalogue)
    version = subprocess.run([RG, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(f"{len(catalogue.rules)} rules, {count} patterns that rg can read; {version}; Python {sys.version.split()[0]}\n")
    print("| corpus | tool | CPU s | wall s | GB per CPU s | peak MB | CPU, ours = 1 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    scale, rounds = (0.1, 1) if given.quick else (1.0, given.rounds)
    bench = Bench(given.scratch, scale, rounds, samples(catalogue, CANDIDATE_RULES), patterns, literals, twins)
    for name in given.only or PARTS:
        PARTS[name](bench)


if __name__ == "__main__":
    main()
