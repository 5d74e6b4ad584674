"""Reads the clock forms that training logs print; `read_stamp` takes text, `resolve` gives unix seconds.

The clock forms are rows of `prefixes.yaml`. Nothing here knows this machine's clock or zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache

from .cache import tables
from .lazy_pattern import lazy
from .prefix_rows import FORMS, filled
from .record import record

YEARLESS = 2000  # the year that stands in where a form prints none: a leap year, so that 29 February survives
_DAY_S = 86400
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, start=1)}
_TICKS_PER_S = {10: 1.0, 13: 1e3, 16: 1e6, 19: 1e9}  # by digits

ZONE_STEP_S = 900  # zones differ by quarters of an hour
WIDEST_S = 26 * 3600  # from UTC-12 to UTC+14
DELAY_S = 90.0  # at most, between what a program prints and when its collector gets it


@record
class Stamp:
    """A clock reading as printed; what the form leaves out (year, zone, date) `resolve` asks for."""

    seconds: float  # as if UTC; in year `YEARLESS` without a year, since midnight without a date, since boot for dmesg
    form: str
    has_date: bool = True
    has_year: bool = True
    has_zone: bool = False
    since_boot: bool = False
    resolution_s: float = 1.0
    end: int = 0


@lru_cache(maxsize=4096)
def _day_s(year: int, month: int, day: int) -> int | None:
    """Seconds from the epoch to the start of a day, or None for a day that does not exist."""
    try:
        return (date(year, month, day).toordinal() - _EPOCH_ORDINAL) * _DAY_S
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _same_day_s(year: int, days: float) -> int | None:
    """The same of the day of another year that begins so many days after the epoch."""
    day = _EPOCH + timedelta(days=days)
    return _day_s(year, day.month, day.day)


def _zone_s(zone: str | None) -> int | None:
    """Offset from UTC of `Z`, `UTC`, `+08:00`, `-0730` or `+08`; None when no zone was printed."""
    if not zone:
        return None
    zone = zone.strip()
    if zone in ("Z", "UTC", "GMT"):
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    offset_s = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -offset_s if zone[0] == "-" else offset_s


def _calendar(form: str, match: re.Match[str], end: int) -> Stamp | None:
    """Any form whose pattern names its parts: y, mo, d (each optional), h, mi, s, f, z."""
    parts = match.groupdict()
    month, year, fraction = parts.get("mo"), parts.get("y"), parts.get("f")
    day_s: int | None = 0
    if month:
        full_year = YEARLESS if year is None else int(year) + (2000 if len(year) == 2 else 0)
        day_s = _day_s(full_year, _MONTHS.get(month) or int(month), int(parts["d"]))
    if day_s is None:
        return None
    zone_s = _zone_s(parts.get("z"))
    clock_s = int(parts["h"]) * 3600 + int(parts["mi"]) * 60 + int(parts["s"]) + _part_s(fraction)
    has = month is not None, year is not None, zone_s is not None
    return Stamp(day_s + clock_s - (zone_s or 0), form, *has, False, _resolution_s(fraction), end)


def _ticks(form: str, match: re.Match[str], end: int) -> Stamp | None:
    """Seconds since boot, or unix time, told from other numbers by its size alone: 2001-09 to 2033-05 in each unit."""
    digits, fraction = match.groups()
    # UCX prints unix time as the kernel prints its own: `[1699999999.123456] [n1:12345:0] ib_mlx5_log.c:171  UCX  ERROR`
    since_boot = form == "dmesg" and len(digits) < 10
    ticks_per_s = 1.0 if since_boot else _TICKS_PER_S.get(len(digits))
    if ticks_per_s is None or (fraction and ticks_per_s != 1.0):
        return None
    seconds = int(digits) / ticks_per_s + _part_s(fraction)
    resolution_s = _resolution_s(fraction) / ticks_per_s
    return Stamp(seconds, form, not since_boot, not since_boot, not since_boot, since_boot, resolution_s, end)


def _part_s(fraction: str | None) -> float:
    return int(fraction) / 10 ** len(fraction) if fraction else 0.0


def _resolution_s(fraction: str | None) -> float:
    return 10.0 ** -len(fraction or "")


_Builder = Callable[[str, "re.Match[str]", int], Stamp | None]


@record
class _Form:
    name: str
    at: int  # where a character of `marks` stands: a cheap test before the pattern
    marks: str
    pattern: re.Pattern[str]
    build: _Builder


_BUILDERS: dict[str, _Builder] = {"calendar": _calendar, "ticks": _ticks}
_LETTER_FORMS, _DIGIT_FORMS, _BRACKET_FORMS = (
    tuple(_Form(x["name"], x["at"], x["marks"], lazy(filled(x["pattern"]), re.ASCII), _BUILDERS[x["read"]]) for x in rows)
    for rows in tables(FORMS)["stamps"].values()
)


_DIGITS = frozenset("0123456789")
_OPEN_STAMP = _DIGITS | frozenset("MTWFS ")  # behind a bracket: digits, weekdays, dmesg's padding


def may_be_stamp(text: str, start: int) -> bool:
    """Tell by its first characters whether a stamp may begin at `start`: a cheap test."""
    first, second = text[start : start + 1], text[start + 1 : start + 2]
    if first == "[":
        return second in _OPEN_STAMP
    return first in _DIGITS or text[start + 3 : start + 4] == " "  # `Nov 12`, `Fri Nov`; glog's letter has its own rows


def read_stamp(text: str, start: int = 0) -> Stamp | None:
    """Reads the stamp that begins at `start`, brackets around it included; None when there is none."""
    first = text[start : start + 1]
    if first != "[":
        return _read(text, start, _DIGIT_FORMS if first.isdigit() else _LETTER_FORMS, "")
    # NCCL 2.26: `[2026-04-22 21:34:20] host:1:2 [0] ...`; dmesg -T: `[Fri Nov 20 17:00:54 2026] python3 invoked ...`
    forms = _DIGIT_FORMS if text[start + 1 : start + 2].isdigit() else _LETTER_FORMS
    return _read(text, start + 1, forms, "]") or _read(text, start, _BRACKET_FORMS, "")


def _read(text: str, start: int, forms: tuple[_Form, ...], closing: str) -> Stamp | None:
    for form in forms:
        mark = text[start + form.at : start + form.at + 1]
        if mark and mark in form.marks:
            match = form.pattern.match(text, start)
            if match and text.startswith(closing, match.end()):
                stamp = form.build(form.name, match, match.end() + len(closing))
                if stamp:
                    return stamp
    return None


def fuller(outer: Stamp, inner: Stamp) -> Stamp:
    """Yield, of the times that nest at the head of one line, a collector's and the program's, the one that tells more.

    Where the two differ by a zone, it is put on the collector's clock: lines of which the program prints no time (a
    traceback's, the kernel's) have that alone, and a file may have one clock only.

        Nov 18 09:00:18 n7 train.sh[44]: 2026-11-18 01:00:18,120 INFO step 5        2026-11-18 09:00:18.120
        Nov 18 09:00:19 n7 train.sh[44]: KeyError: 'labels'                              11-18 09:00:19
    """
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
    day = (_EPOCH + timedelta(seconds=stamp.seconds // 1)).replace(year=YEARLESS)
    return day.timestamp() + stamp.seconds % 1


def resolve(stamp: Stamp, year: int | None, zone_offset_s: float) -> float | None:
    """Unix seconds of a stamp, None where impossible; year and zone (seconds east) stand in where it has none."""
    if stamp.since_boot or not stamp.has_date:
        return None
    seconds = stamp.seconds
    if not stamp.has_year:
        if year is None:
            return None
        day_s = _same_day_s(year, seconds // _DAY_S)
        if day_s is None:
            return None
        seconds = day_s + seconds % _DAY_S
    return seconds if stamp.has_zone or not zone_offset_s else seconds - zone_offset_s  # the same float: no second one


@lru_cache(4096)  # thousands of ranks fail within the same seconds
def format_rfc3339(seconds: float) -> str:
    """Unix seconds as RFC 3339 in UTC, with milliseconds where there are any; '' outside the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(milliseconds=round(seconds * 1000))
    except (OverflowError, ValueError):
        return ""
    text = moment.replace(tzinfo=None).isoformat(timespec="milliseconds")
    return text.removesuffix(".000") + "Z"
