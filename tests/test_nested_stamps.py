"""A collector's clock and the program's own: a file has one of them, whatever zone the program thinks it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.lines.prefix import split_prefix
from diagnose.lines.timestamp import format_rfc3339, resolve

from .told import cause, culprits, told


def printed(line: str) -> str:
    stamp = split_prefix(line).stamp
    assert stamp is not None
    return format_rfc3339(resolve(stamp, 2026, 0.0) or 0.0)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 01:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("Nov 18 09:00:19 n7 train.sh[44]: 2026-11-18 17:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("Nov 18 01:00:19 n7 train.sh[44]: 2026-11-17 18:30:19,500 INFO step 5", "2026-11-18T01:00:19.500Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: E1118 01:00:18.120000 812 api.py:9] failed", "2026-11-18T09:00:18.120Z"),
        ("2026-11-18 09:00:18 2026-11-18 01:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("2026-11-18T09:00:18.120000000Z stderr F 2026-11-18 17:00:18,100 INFO step 5", "2026-11-18T09:00:18.120Z"),
    ],
)
def test_a_program_in_another_zone_is_put_on_the_clock_of_its_collector(line: str, time: str) -> None:
    assert time == printed(line)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 09:00:18,120 INFO step 5", "2026-11-18T09:00:18.120Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 08:57:02,120 INFO flushed late", "2026-11-18T08:57:02.120Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18T01:00:18+00:00 INFO step 5", "2026-11-18T01:00:18Z"),
        ("Nov 18 09:00:18 n7 train.sh[44]: 2026-11-12 09:00:18,120 INFO the last checkpoint", "2026-11-12T09:00:18.120Z"),
    ],
)
def test_a_time_that_differs_by_no_zone_or_states_its_own_stays(line: str, time: str) -> None:
    assert time == printed(line)


def journal(host: str, rank: int, hour: int, raised: str, at: int) -> str:
    """A journal in local time; the steps print another hour, and the exception none."""
    head = f"Nov 18 09:00:{{:02d}} {host} train.sh[4410]: "
    steps = [head.format(n) + f"2026-11-18 {hour:02d}:00:{n:02d},000 INFO [rank{rank}] step {n} loss 2.1" for n in range(5, 15)]
    trace = ["Traceback (most recent call last):", '  File "/data/jobs/train.py", line 9, in <module>', "    main()", raised]
    return "\n".join([*steps, *(f"{head.format(at)}[rank{rank}]: {line}" for line in trace)]) + "\n"


@pytest.mark.parametrize(("one", "other"), [(9, 1), (9, 17), (17, 9), (1, 9)])
def test_who_raised_first_is_told_by_the_collectors_where_programs_are_in_two_zones(
    tmp_path: Path, one: int, other: int
) -> None:
    files = {
        "gpu-node-1.log": journal("gpu-node-1", 0, one, "RuntimeError: peer rank sent an empty batch", 40),
        "gpu-node-2.log": journal("gpu-node-2", 1, other, "KeyError: 'labels'", 18),
    }
    report = told(tmp_path, files)

    assert ("process.exception", [1]) == (cause(report), culprits(report))
