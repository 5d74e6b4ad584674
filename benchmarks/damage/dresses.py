"""Lines as people have them: what a collector, a viewer or a paste puts before each. Nothing that was printed changes."""

from __future__ import annotations

Lines = list[str]


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


DRESSES = (coloured, of_a_job_of_github, quoted, with_carriage_returns, logged)
