"""Altered copies of a case that hold less than it did: the verdict may be less, but never wrong and certain."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import PurePath
from random import Random

from .clocks import GLOG, ISO, SYSLOG
from .dresses import Lines
from .files import PROMPT, Case, Mutant, changed_log, encoded

TAIL_LINES, FEW_LINES, COLUMNS = 60, 30, 120
LOST = 0.1  # of the lines
CONSOLE = re.compile(r"(?:console|agent|slurm|node\d|log)[^/]*$")
CLOCK = re.compile("|".join(p.pattern for p in (ISO, SYSLOG)) + r"[.,]?\d{0,9}(?:Z|[+-]\d\d:?\d\d)?")
SETTINGS = (".yaml", ".yml", ".sh", ".json")  # these alone are no log


def the_end(lines: Lines) -> Lines:
    """What `tail` shows."""
    return lines[-TAIL_LINES:]


def the_very_end(lines: Lines) -> Lines:
    """What fits on a screen."""
    return lines[-FEW_LINES:]


def without_the_middle(lines: Lines) -> Lines:
    """What a web page leaves of a long log."""
    return [*lines[: len(lines) // 3], "...", *lines[2 * len(lines) // 3 :]]


def the_first_half(lines: Lines) -> Lines:
    """A copy that was taken too early."""
    return lines[: len(lines) // 2]


def the_first_columns(lines: Lines) -> Lines:
    """A table that cuts its cells."""
    return [line if len(line) <= COLUMNS else f"{line[: COLUMNS - 3]}..." for line in lines]


PARTS = (the_end, the_very_end, without_the_middle, the_first_half, the_first_columns)


def cut_after_failure(case: Case, rng: Random) -> Iterator[Mutant]:
    """The log ends with the failure: what its launcher said of it, and all behind that, is gone.

    Meaningful for a log that holds the place an expert points at and goes on behind it.
    """
    for name, line in case.evidence[:1]:
        if name not in case.logs:
            return
        lines = case.logs[name].split("\n")
        after = (i for i in range(line + 3, len(lines)) if PROMPT.search(lines[i]))
        end = next(after, line + 3)
        if end < len(lines) - 1:
            yield Mutant(case, case.files | {name: encoded("\n".join(lines[:end]) + "\n")}, loses=True, what=name)


def without_head(case: Case, rng: Random) -> Iterator[Mutant]:
    """The first third of every log is gone, as rotation leaves it."""
    yield from _of_every_log(case, lambda lines: lines[len(lines) // 3 :])


def without_tail(case: Case, rng: Random) -> Iterator[Mutant]:
    """The last third of every log is gone: the disk was full, or the copy was taken too early."""
    yield from _of_every_log(case, lambda lines: lines[: len(lines) - len(lines) // 3])


def lost_lines(case: Case, rng: Random) -> Iterator[Mutant]:
    """One line of ten is gone, as a collector that has too much to do loses them."""
    yield from _of_every_log(case, lambda lines: [line for line in lines if rng.random() >= LOST])


def lost_clocks(case: Case, rng: Random) -> Iterator[Mutant]:
    """No line has a clock. Meaningful where some had."""
    yield from _of_every_log(case, lambda lines: [GLOG.sub("", CLOCK.sub("", line)) for line in lines])


def _of_every_log(case: Case, change: Callable[[Lines], Lines]) -> Iterator[Mutant]:
    """One copy whose every log is changed; none where no log is, or where nothing is left."""
    changed = {n: changed_log(case, n, change) for n in case.logs}
    if any(data.strip() for data in changed.values()) and any(changed[n].strip() != case.files[n].strip() for n in changed):
        yield Mutant(case, case.files | changed, loses=True)


def joined_files(case: Case, rng: Random) -> Iterator[Mutant]:
    """`cat *.log > all.log`: whose line is whose is told by the lines alone. Meaningful for two logs or more."""
    if len(case.logs) > 1:
        others = {n: raw for n, raw in case.files.items() if n not in case.logs}
        yield Mutant(case, others | {"all.log": b"".join(case.files[n] for n in case.logs)}, loses=True)


def flattened_names(case: Case, rng: Random) -> Iterator[Mutant]:
    """All files in one folder, numbered in an order that says nothing. Meaningful for two files or more."""
    names = list(case.files)
    if len(names) > 1:
        rng.shuffle(names)
        flat = {f"file-{n:03d}{PurePath(name).suffix}": case.files[name] for n, name in enumerate(names)}
        yield Mutant(case, flat, loses=True)


def dropped_file(case: Case, rng: Random) -> Iterator[Mutant]:
    """Any one file is gone. Meaningful where a log is left."""
    name = rng.choice(sorted(case.files))
    yield from _without(case, {name})


def dropped_proof(case: Case, rng: Random) -> Iterator[Mutant]:
    """Every file is gone that holds a place of the truth's `first_evidence`. Meaningful where a log is left."""
    yield from _without(case, {name for name, _ in case.evidence})


def _without(case: Case, gone: set[str]) -> Iterator[Mutant]:
    kept = {n: raw for n, raw in case.files.items() if n not in gone}
    if gone and any(raw and not n.endswith(SETTINGS) for n, raw in kept.items()):
        yield Mutant(case, kept, loses=True, what=", ".join(sorted(gone)[:3]))


def part_of_console(case: Case, change: Callable[[Lines], Lines]) -> Iterator[Mutant]:
    """What is left of the console, or of the longest log, alone."""
    if case.logs:
        consoles = [name for name in case.logs if CONSOLE.search(name)]
        name = max(consoles or case.logs, key=lambda n: len(case.logs[n]))
        yield Mutant(case, {name: changed_log(case, name, change)}, loses=True, what=name)
