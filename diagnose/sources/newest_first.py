"""Logs that an export lists newest first, as most web consoles and `logcli`, `gcloud logging read` do by themselves.

In: lines that begin with their time. Out: the same from the last to the first, which is how they were printed.
"""

from __future__ import annotations

from itertools import pairwise

from ..lines.timestamp import read_stamp

MAX_BYTES = 32 << 20  # consoles export some thousand lines; a longer text is not turned round
SAMPLE_BYTES = 32 << 10
SAMPLE_LINES = 60
MIN_STEPS = 3  # times that lie before the one above; a clock that is set back makes one
HEADER, FRAME = b"Traceback (most recent call last):", b'  File "'
MIN_STAMPED = 0.6  # of the lines


def is_newest_first(data: bytes) -> bool:
    """Tells whether the times at the heads of lines go back only, again and again, or as tracebacks do."""
    lines = [line for line in data[:SAMPLE_BYTES].split(b"\n") if line.strip()][:-1]
    if len(lines) < 2 * MIN_STEPS or not _goes_back([_time(lines[0]), _time(lines[len(lines) // 2]), _time(lines[-1])]):
        return False
    times = [_time(line) for line in lines[:SAMPLE_LINES]]
    steps = sum(a > b for a, b in pairwise([t for t in times if t is not None]))
    is_turned = steps >= MIN_STEPS or _is_upside_down(lines)
    return is_turned and _goes_back(times) and sum(t is not None for t in times) >= MIN_STAMPED * len(times)


def turned_round(data: bytes) -> bytes:
    """Gives the lines from the last to the first."""
    lines = data.removesuffix(b"\n").split(b"\n")
    return b"\n".join([*reversed(lines), b""])


def _time(line: bytes) -> float | None:
    stamp = read_stamp(line[:64].decode("utf-8", "replace"))
    return stamp.seconds if stamp is not None and stamp.has_date else None


def _goes_back(times: list[float | None]) -> bool:
    known = [time for time in times if time is not None]
    return len(known) > 1 and all(a >= b for a, b in pairwise(known))


def _is_upside_down(lines: list[bytes]) -> bool:
    """Whether the frames of tracebacks stand above their headers, and below none: then lines of one second go back too."""
    headers = [n for n, line in enumerate(lines) if HEADER in line]
    below = any(FRAME in lines[n + 1] for n in headers if n + 1 < len(lines))
    return not below and any(FRAME in line for n in headers if n for line in lines[max(0, n - 2) : n])
