"""Damage what people hand over, for a while, and report what the program cannot bear.

    python -m benchmarks.fuzz --seconds 60 --seed 1
    python -m benchmarks.fuzz --replay 1-482 --keep /tmp/found       # one input again, left in a folder

Each input goes to a process of its own with limits of its own. A finding is: a traceback or a fault of its own, another
exit code than the documented ones, more than 10 s of CPU, 500 MB or a minute, a secret that shows, control characters in
the output, JSON that does not parse, and a fault of our code that a guard turned into a skipped source.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import NamedTuple, NoReturn

from . import child, inputs

MAX_CPU_S, MAX_MB, MAX_WALL_S = 10, 500, 60
CODES = (0, 1, 2, 3, 130)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e]|\x1b(?!\\[[0-9;]*m|\\]8;)")
TRACEBACK = re.compile(r'Traceback \(most recent call last\):\n  File "[^"]*(?:diagnose|benchmarks)/')


class Ended(NamedTuple):
    """How a call of the command line ended."""

    code: int  # negative: the signal that ended it
    cpu_s: float
    peak_mb: float
    out: bytes
    err: str


def run(words: list[str], stdin: bytes | None, folder: Path) -> Ended:
    """Run `diagnose WORDS` in a process of its own, in a folder."""
    (folder / "stdin").write_bytes(stdin or b"")
    pid = os.fork()
    if not pid:
        child.run(words, folder, has_input=stdin is not None, cpu_s=MAX_CPU_S)
    status, used = _wait(pid)
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    err = (folder / "err").read_text(encoding="utf-8", errors="replace")
    return Ended(code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, (folder / "out").read_bytes(), err)


def _wait(pid: int) -> tuple[int, resource.struct_rusage]:
    until = time.monotonic() + MAX_WALL_S
    while time.monotonic() < until:
        done, status, used = os.wait4(pid, os.WNOHANG)
        if done:
            return status, used
        time.sleep(0.005)
    os.killpg(pid, signal.SIGKILL)  # it leads a group of its own, with the processes that read for it
    return os.wait4(pid, 0)[1:]


def findings(words: list[str], ended: Ended) -> list[str]:
    """Yield what is wrong with how a call ended."""
    found = []
    if ended.code == -signal.SIGKILL:
        found.append(f"took more than {MAX_WALL_S} s")
    elif ended.code == -signal.SIGXCPU or ended.cpu_s > MAX_CPU_S:
        found.append(f"took {ended.cpu_s:.0f} s of CPU")
    elif ended.code not in CODES:
        found.append(f"ended with {ended.code}")
    if ended.peak_mb > MAX_MB:
        found.append(f"took {ended.peak_mb:.0f} MB")
    if TRACEBACK.search(ended.err) or "a fault of its own" in ended.err:
        found.append("traceback: " + ended.err.strip().split("\n")[-1][:200])
    found += [f"guarded: {line[9:]}" for line in ended.err.split("\n") if line.startswith(child.GUARDED)]
    if child.SECRET in ended.out and "--no-redact" not in words:
        found.append("shows a secret")
    return found + _faults_of_form(words, ended)


def _faults_of_form(words: list[str], ended: Ended) -> list[str]:
    if ended.code not in (0, 1, 3) or not ended.out or words[0] in inputs.COMMANDS or {"--help", "-q"} & set(words):
        return []
    if CONTROLS.search(ended.out.decode("utf-8", "replace")):
        return ["control characters in the output"]
    if ("--format", "json") in pairwise(words) and words.count("--format") == 1 and "--why" not in words:
        try:
            json.loads(ended.out)
        except ValueError as error:
            return [f"JSON that does not parse: {error}"]
    return []


def attempt(seed: str, folder: Path) -> tuple[str, list[str], list[str]]:
    """Make the input of a seed in a folder and hand it over: its kind, the words, the findings."""
    r = Random(seed)
    kind = r.choice(inputs.KINDS)
    given = kind(r, folder)
    stdin = given.stdin if given.stdin is None else given.stdin + child.SECRET_LINE
    _plant(folder / "logs", r)
    return kind.__name__, given.words, findings(given.words or [""], run(given.words, stdin, folder))


def _plant(logs: Path, r: Random) -> None:
    """Add a line with a secret to one of the logs."""
    names = sorted(p for p in logs.rglob("*.log") if p.is_file()) if logs.is_dir() else []
    if names:
        with r.choice(names).open("ab") as file:
            file.write(child.SECRET_LINE)


def fuzz(seed: int, seconds: float) -> Counter[str]:
    """Run until the time is over; print each finding with what repeats it. Yields how many inputs of each kind."""
    until, number, ran = time.monotonic() + seconds, 0, Counter[str]()
    while time.monotonic() < until:
        number += 1
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        try:
            kind, words, found = attempt(f"{seed}-{number}", folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        ran[kind] += 1
        ran["findings"] += bool(found)
        for each in found:
            print(f"{seed}-{number} {kind} {words!r}: {each}", flush=True)
    return ran


def replay(seed: str, folder: Path) -> NoReturn:
    """Repeat one input and leave it, with what was printed, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    kind, words, found = attempt(seed, folder)
    print(f"{kind} {words!r} in {folder}", *found or ["nothing found"], sep="\n")
    sys.exit(bool(found))


def main() -> None:
    """Fuzz, or repeat one input; leave with 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--replay", metavar="SEED-N", help="one input again")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-input"), help="where --replay leaves it")
    given = parser.parse_args()
    child.warm_up()
    if given.replay:
        replay(given.replay, given.keep)
    ran = fuzz(given.seed, given.seconds)
    found = ran.pop("findings", 0)
    print(f"seed {given.seed}: {sum(ran.values())} inputs ({', '.join(f'{n} {kind}' for kind, n in sorted(ran.items()))}), {found} with findings")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
