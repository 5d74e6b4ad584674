"""The shapes in which log writers print a moment; all take the local time of the writing host."""

from __future__ import annotations

from datetime import datetime
from random import Random


def comma(at: datetime) -> str:
    """Python logging: `2026-08-18 01:13:48,472`."""
    return f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}"


def plain(at: datetime) -> str:
    """`2026-08-18 01:13:48`."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


def slash(at: datetime) -> str:
    """Examples of transformers: `05/15/2026 12:14:21`."""
    return f"{at:%m/%d/%Y %H:%M:%S}"


def iso(at: datetime) -> str:
    """Slurm: `2026-03-21T15:54:56`, local time without a zone."""
    return f"{at:%Y-%m-%dT%H:%M:%S}"


def glog(at: datetime) -> str:
    """Python loggers of torch >= 2.3: `0515 12:14:08.845000` (padded month, milliseconds times 1000)."""
    return f"{at:%m%d %H:%M:%S}.{at.microsecond // 1000:03d}000"


def c10(at: datetime, rng: Random) -> str:
    """C++ logs of torch >= 2.4: `515 12:14:18.597023854`; the nanoseconds are of another clock."""
    return f"{at.month * 100 + at.day} {at:%H:%M:%S}.{rng.randrange(10**9):09d}"


def cri(at: datetime, rng: Random) -> str:
    """Container runtimes: RFC 3339 in UTC with nanoseconds."""
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}{rng.randrange(1000):03d}Z"


def box(at: datetime) -> str:
    """The failure box of torchelastic: `2026-08-18_01:34:13`."""
    return f"{at:%Y-%m-%d_%H:%M:%S}"


def syslog(at: datetime) -> str:
    """RFC 3164: `Mar 21 07:18:53`, no year."""
    return f"{at:%b} {at.day:2d} {at:%H:%M:%S}"


def dmesg_t(at: datetime) -> str:
    """`dmesg -T`: `[Fri Nov 20 17:00:54 2026]`."""
    return f"[{at:%a %b} {at.day:2d} {at:%H:%M:%S %Y}]"
