"""Sends the same faulty flight-recorder dumps through `diagnose` and through PyTorch's `torchfrtrace`, and prints a table.

A tool is right when the first divergence it reports names the guilty rank and no other. torchfrtrace runs as its users
run it, on a folder; it comes with torch (`pip install diagnose-training[test-torch]`).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.dumps import FAULTS, Job, compared, dumps

SEEDS = range(4)
HEADING = "| fault of one rank of 16 | `diagnose` | `torchfrtrace` |\n| --- | --- | --- |"
Made = tuple[tuple[str, bytes], ...]  # names and bytes of the dumps


@dataclass(frozen=True)
class Row:
    """One line of the table: a fault, and what befell the dumps on their way."""

    title: str
    job: Job
    befalls: Callable[[Made, int], Made] = lambda made, _: made
    options: tuple[str, ...] = ()  # what torchfrtrace needs for it

    def cases(self) -> Iterator[tuple[int, Made]]:
        """Yields the guilty rank and the dumps, for several ranks; the first rank once, since tools compare with it."""
        for seed in SEEDS:
            job = replace(self.job, seed=seed, culprit=0 if seed == 0 else None)
            yield job.guilty, self.befalls(tuple(dumps(job)), job.guilty)


def _without_one(made: Made, guilty: int) -> Made:
    return tuple(item for rank, item in enumerate(made) if rank != (guilty + 3) % len(made))


def _cut_off(made: Made, guilty: int) -> Made:
    cut = (guilty + 3) % len(made)
    return tuple((name, data[: len(data) // 2] if rank == cut else data) for rank, (name, data) in enumerate(made))


def _renamed(made: Made, _: int) -> Made:
    return tuple((f"node{rank // 8}-{7000 + rank}.bin", data) for rank, (_, data) in enumerate(made))


def rows() -> list[Row]:
    """Returns the faults on whole sets of dumps, then one fault on sets as they are found."""
    job = Job(version="2.10")
    swap = replace(job, fault="swap")
    words = {
        "missing": "a rank never comes",
        "swap": "two operations swapped",
        "size": "another size",
        "dtype": "another dtype",
        "missing-send": "a send never issued",
        "extra": "an extra collective in one subgroup",
        "truncated": "a rank never comes, ring buffers wrapped",
    }
    found = [Row(words[fault], replace(job, fault=fault)) for fault in FAULTS if fault != "none"]
    return [
        *found,
        Row("a send never issued, sends outside a batch", replace(job, fault="missing-send", is_batched=False)),
        Row("swapped, one dump is missing", swap, _without_one, ("--allow-incomplete-ranks",)),
        Row("swapped, one dump is cut off", swap, _cut_off, ("--allow-incomplete-ranks",)),
        Row("swapped, dumps in JSON", replace(swap, form="json")),
        Row("swapped, file names without a rank", swap, _renamed),
    ]


def ask_diagnose(made: Made) -> frozenset[int]:
    """Returns the ranks that `diagnose` names first."""
    first = next(iter(compared(made)), None)
    return frozenset(first.first.ranks) if first and first.first else frozenset()


_BLOCK = re.compile(
    r"^(?:Not all ranks joining collective.*?^missing ranks: \{(?P<missing>[^}]*)\}|"
    r"Collective sequence number: \d+ has errors.*?^error msg: (?P<errors>.*?)$|"
    r"Rank (?P<empty>\d+) has an empty op list)",
    re.MULTILINE | re.DOTALL,
)


def ask_torchfrtrace(made: Made, tool: str, options: tuple[str, ...] = ()) -> frozenset[int]:
    """Returns the ranks that torchfrtrace names first; none where it gives up."""
    with tempfile.TemporaryDirectory() as folder:
        for name, data in made:
            (Path(folder) / name).write_bytes(data)
        done = subprocess.run([tool, *options, folder], capture_output=True, text=True, check=False)
    found = _BLOCK.search(done.stdout + done.stderr)
    if found is None:
        return frozenset()
    said = found["missing"] or found["empty"] or " ".join(re.findall(r"Culprit rank (\d+)", found["errors"]))
    return frozenset(int(rank) for rank in re.findall(r"\d+", said))


def right(row: Row, tool: str) -> tuple[int, int]:
    """Returns how often `diagnose` and torchfrtrace named the guilty rank."""
    ours = theirs = 0
    for guilty, made in row.cases():
        ours += ask_diagnose(made) == {guilty}
        theirs += ask_torchfrtrace(made, tool, row.options) == {guilty}
    return ours, theirs


def line(title: str, ours: int, theirs: int) -> str:
    """Returns a line of the table."""
    return f"| {title} | {ours} of {len(SEEDS)} | {theirs} of {len(SEEDS)} |"


def find_torchfrtrace() -> str | None:
    """Returns the tool beside this Python, else on the path; None without torch."""
    beside = Path(sys.executable).parent / "torchfrtrace"
    return str(beside) if beside.exists() else shutil.which("torchfrtrace")


def main() -> None:
    """Prints the table in Markdown."""
    options = argparse.ArgumentParser(description=main.__doc__)
    options.add_argument("--torchfrtrace", default=find_torchfrtrace(), help="where the tool is, if not on the path")
    tool = options.parse_args().torchfrtrace
    if tool is None:
        options.error("torchfrtrace is not installed: pip install diagnose-training[test-torch]")
    print(HEADING)
    for row in rows():
        print(line(row.title, *right(row, tool)), flush=True)


if __name__ == "__main__":
    main()
