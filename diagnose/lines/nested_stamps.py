"""Of the times that nest at the head of one line, a collector's and the program's: which one tells when.

Two stamps of one line go in, the outer one first; one comes out. The fuller one is kept: a container's zone and year
before glog's month and day. Where the two differ by a zone, it is put on the collector's clock, for the lines of which
the program prints no time (a traceback's, the kernel's) have that alone, and a file may have one clock only.

    Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 01:00:18,120 INFO step 5        2026-11-18 09:00:18.120
    Nov 18 09:00:19 n7 train.sh[44]: KeyError: 'labels'                              11-18 09:00:19
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

from .timestamp import YEARLESS, Stamp

ZONE_STEP_S = 900  # zones differ by quarters of an hour
WIDEST_S = 26 * 3600  # from UTC-12 to UTC+14
DELAY_S = 90.0  # at most, between what a program prints and when its collector gets it


def fuller(outer: Stamp, inner: Stamp) -> Stamp:
    """Yield the one that tells more, on the clock of the outer one."""
    if _fullness(inner) <= _fullness(outer):
        return outer
    if outer.has_date and inner.has_date and not inner.has_zone:
        return _shifted(inner, outer)
    return inner


def _fullness(stamp: Stamp) -> tuple[bool, bool, bool, float]:
    return stamp.has_date, stamp.has_zone, stamp.has_year, -stamp.resolution_s


def _shifted(inner: Stamp, outer: Stamp) -> Stamp:
    """Yield the inner stamp on the outer clock, where no more than a zone and a moment's delay lie between the two."""
    apart_s = _of_one_year(outer, inner) - _of_one_year(inner, outer)
    zone_s = round(apart_s / ZONE_STEP_S) * ZONE_STEP_S
    if not zone_s or abs(zone_s) > WIDEST_S or abs(apart_s - zone_s) > DELAY_S:
        return inner
    return replace(inner, seconds=inner.seconds + zone_s)


def _of_one_year(stamp: Stamp, other: Stamp) -> float:
    """Yield its seconds; without a year where the other one has none."""
    if not stamp.has_year or other.has_year:
        return stamp.seconds
    day = datetime.fromtimestamp(stamp.seconds // 1, timezone.utc).replace(year=YEARLESS)
    return day.timestamp() + stamp.seconds % 1
