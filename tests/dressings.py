"""Logs as people have them: what a collector, a viewer or a paste does to each line, and what is left of a console.

Lines of logs go in, lines come out; `DRESSINGS` change nothing of what was printed, `CUTS` leave part of one console.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .mutations import Case, encoded

Lines = list[str]
TAIL_LINES, FEW_LINES, COLUMNS = 60, 30, 120
CONSOLE = re.compile(r"(?:console|agent|slurm|node\d|log)[^/]*$")


def clock(number: int) -> str:
    """A clock that goes on by a tenth of a second each line."""
    return f"2026-11-20T10:{number // 600 % 60:02d}:{number // 10 % 60:02d}.{number % 10}00Z"


def coloured(lines: Lines) -> Lines:
    """A collector's time before each line, in the colours of a terminal."""
    return [f"\x1b[2m{clock(n)}\x1b[0m \x1b[36m{line}\x1b[0m" for n, line in enumerate(lines)]


def of_a_job_of_github(lines: Lines) -> Lines:
    """`gh run view --log`."""
    return [f"train\tRun torchrun\t{clock(n)} {line}" for n, line in enumerate(lines)]


def quoted(lines: Lines) -> Lines:
    """A reply in Markdown."""
    return [f"> {line}" for line in lines]


def with_carriage_returns(lines: Lines) -> Lines:
    """A file from Windows."""
    return [f"{line}\r" for line in lines]


def logged(lines: Lines) -> Lines:
    """A wrapper that logs what its child prints."""
    return [f"2026-11-20 10:00:{n // 100 % 60:02d},{n % 1000:03d} - trainer - INFO - {line}" for n, line in enumerate(lines)]


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


Change = Callable[[Lines], Lines]
DRESSINGS: tuple[Change, ...] = (coloured, of_a_job_of_github, quoted, with_carriage_returns, logged)
CUTS: tuple[Change, ...] = (the_end, the_very_end, without_the_middle, the_first_half, the_first_columns)


def changed(case: Case, name: str, change: Change) -> bytes:
    """One log of a case, changed."""
    return encoded("\n".join(change(case.logs[name].removesuffix("\n").split("\n"))) + "\n")


def dressed(case: Case, change: Change) -> dict[str, bytes]:
    """All files of a case, each log changed."""
    return case.files | {name: changed(case, name, change) for name in case.logs}


def cut(case: Case, change: Change) -> dict[str, bytes]:
    """A part of the console, or of the longest log, alone."""
    if not case.logs:
        return {}
    consoles = [name for name in case.logs if CONSOLE.search(name)]
    name = max(consoles or case.logs, key=lambda n: len(case.logs[n]))
    return {name: changed(case, name, change)}
