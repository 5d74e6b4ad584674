"""Reads the clock forms that training logs print; `read_stamp` takes text, `resolve` gives unix seconds.

One row of `_FORMS` per clock form, with a line in which it occurs. Nothing here knows this machine's clock or zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from functools import lru_cache

from .lazy_pattern import lazy
from .record import record

__all__ = ["YEARLESS", "Stamp", "format_rfc3339", "read_stamp", "resolve"]

YEARLESS = 2000  # the year that stands in where a form prints none: a leap year, so that 29 February survives
_DAY_S = 86400
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}
# A tick of unix time is told from other numbers by its size alone: 2001-09 to 2033-05 in each unit.
_TICKS_PER_S = {10: 1.0, 13: 1e3, 16: 1e6, 19: 1e9}
_RESOLUTION_S = [1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]


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


def _clock_s(hour: str, minute: str, second: str, fraction: str | None) -> float:
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    return seconds + int(fraction) / 10 ** len(fraction) if fraction else float(seconds)


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
    month, year = parts.get("mo"), parts.get("y")
    day_s: int | None = 0
    if month:
        number = _MONTHS.get(month) or int(month)
        full_year = YEARLESS if year is None else int(year) + (2000 if len(year) == 2 else 0)
        day_s = _day_s(full_year, number, int(parts["d"]))
    fraction = parts.get("f")
    zone_s = _zone_s(parts.get("z"))
    if day_s is None:
        return None
    seconds = day_s + _clock_s(parts["h"], parts["mi"], parts["s"], fraction) - (zone_s or 0)
    resolution_s = _RESOLUTION_S[len(fraction)] if fraction else 1.0
    has_zone = zone_s is not None
    return Stamp(seconds, form, month is not None, year is not None, has_zone, False, resolution_s, end)


def _iso(form: str, match: re.Match[str], end: int) -> Stamp | None:
    """The commonest form, without the detours of `_calendar`."""
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    day_s = _day_s(int(year), int(month), int(day))
    if day_s is None:
        return None
    zone_s = _zone_s(zone) if zone else None
    seconds = day_s + _clock_s(hour, minute, second, fraction) - (zone_s or 0)
    resolution_s = _RESOLUTION_S[len(fraction)] if fraction else 1.0
    return Stamp(seconds, form, True, True, zone_s is not None, False, resolution_s, end)


def _glog(form: str, match: re.Match[str], end: int) -> Stamp | None:
    """`E1120`, `E321`: month*100+day, which c10 does not pad; its nine digits are CLOCK_MONOTONIC, not wall time.

    glog prints the year too since 0.5: `E20251120`.
    """
    month_day, hour, minute, second, fraction = match.groups()
    if month_day == "0000":  # absl before its flags are parsed: `E0000 00:00:1732121008.123456 77 x.cc:1]`
        return None
    has_year = len(month_day) == 8
    year, month_day = (int(month_day[:4]), month_day[4:]) if has_year else (YEARLESS, month_day)
    day_s = _day_s(year, int(month_day[:-2]), int(month_day[-2:]))
    if day_s is None or len(second) != 2:
        return None
    if len(fraction) == 9:
        fraction, form = "", "c10"
    seconds = day_s + _clock_s(hour, minute, second, fraction)
    resolution_s = _RESOLUTION_S[len(fraction)] if fraction else 1.0
    return Stamp(seconds, form, True, has_year, False, False, resolution_s, end)


def _unix(form: str, match: re.Match[str], end: int) -> Stamp | None:
    digits, fraction = match.groups()
    ticks_per_s = _TICKS_PER_S.get(len(digits))
    if ticks_per_s is None or (fraction and ticks_per_s != 1.0):
        return None
    seconds = int(digits) / ticks_per_s + (int(fraction) / 10 ** len(fraction) if fraction else 0.0)
    resolution_s = _RESOLUTION_S[len(fraction)] if fraction else 1 / ticks_per_s
    return Stamp(seconds, form, True, True, True, False, resolution_s, end)


def _boot(form: str, match: re.Match[str], end: int) -> Stamp | None:
    whole, fraction = match.groups()
    seconds = int(whole) + int(fraction) / 10 ** len(fraction)
    if len(whole) >= 10:  # UCX prints unix time so: `[1699999999.123456] [n1:12345:0] ib_mlx5_log.c:171  UCX  ERROR`
        return Stamp(seconds, "unix", True, True, True, False, _RESOLUTION_S[len(fraction)], end)
    return Stamp(seconds, form, False, False, False, True, _RESOLUTION_S[len(fraction)], end)


_CLOCK = r"(?P<h>[01]\d|2[0-3]):(?P<mi>[0-5]\d):(?P<s>[0-5]\d|60)(?!\d)"
_FRACTION = r"(?:[.,](?P<f>\d{1,9})(?!\d))?"
_ISO = (
    r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?:[T _:-]|,\ )([01]?\d|2[0-3]):([0-5]?\d):([0-5]?\d|60)(?!\d)(?:[.,](\d{1,9})(?!\d))?"
    r"(Z\b|[+-]\d\d:?\d\d\b|\ UTC\b|\ [+-]\d{4}\b)?"
)
_MONTH = r"(?P<mo>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"

_Builder = Callable[[str, "re.Match[str]", int], Stamp | None]


@record
class _Form:
    name: str
    at: int  # where a character of `marks` stands: a cheap test before the pattern
    marks: str
    pattern: re.Pattern[str]
    build: _Builder
    sample: str


def _form(name: str, at: int, marks: str, pattern: str, build: _Builder, sample: str) -> _Form:
    return _Form(name, at, marks, lazy(pattern, re.ASCII), build, sample)


_LETTER_FORMS = (
    _form(
        "glog",
        0,
        "IWEFVCD",
        r"[IWEFVCD](\d{3,4}|\d{8}) (\d\d):(\d\d):(\d\d)\.(\d{6}|\d{9})(?!\d)",
        _glog,
        "E321 02:07:08.408271257 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout",
    ),
    _form(
        "absl",
        0,
        "IWEF",
        r"[IWEF]0000 00:00:(\d{10})\.(\d{6})(?!\d)",
        _unix,
        "E0000 00:00:1732121008.123456 4471 cuda_dnn.cc:8310] Unable to register cuDNN factory",
    ),
    _form(
        "ctime",
        3,
        " ",
        rf"{_WEEKDAY} {_MONTH} [ 0]?(?P<d>\d\d?) {_CLOCK}(?: UTC)? (?P<y>\d{{4}})(?!\d)",
        _calendar,
        "Fri Nov 20 16:59:19 2026[1,0]<stdout>:step 3",
    ),
    _form(
        "syslog",
        3,
        " ",
        rf"{_MONTH} [ 0]?(?P<d>\d\d?) {_CLOCK}{_FRACTION}",
        _calendar,
        "Nov 12 03:10:02 node0056 kernel: [2752089.385738] pcieport 0000:00:1c.4: AER: Corrected error",
    ),
)
_DIGIT_FORMS = (
    _form("iso", 4, "-/", _ISO, _iso, "2026-05-15T12:14:08.815954978Z stderr F hello"),
    _form(
        "compact",
        8,
        "T -_",
        rf"(?P<y>20\d\d)(?P<mo>\d\d)(?P<d>\d\d)[T _-]{_CLOCK}{_FRACTION}",
        _calendar,
        "20261120 17:03:56.120 INFO started",
    ),
    _form(
        "us",
        2,
        "/",
        rf"(?P<mo>\d\d)/(?P<d>\d\d)/(?P<y>20\d\d|\d\d)[ -]{_CLOCK}{_FRACTION}",
        _calendar,
        "11/20/2026 17:03:56 - INFO - __main__ - ***** Running training *****",
    ),
    _form(
        "month-day",
        2,
        "-/",
        rf"(?P<mo>\d\d)[-/](?P<d>\d\d) {_CLOCK}{_FRACTION}",
        _calendar,
        "08-12 04:11:20 [core.py:1136] EngineCore encountered a fatal error.",
    ),
    _form("clock", 2, ":", _CLOCK + _FRACTION, _calendar, "18:11:06.680 [rank4]: Traceback (most recent call last):"),
    _form(
        "apache",
        2,
        "/",
        rf"(?P<d>\d\d)/{_MONTH}/(?P<y>\d{{4}}):{_CLOCK}(?P<z> [+-]\d{{4}})?",
        _calendar,
        '20/Nov/2026:17:03:56 +0000] "GET /health"',
    ),
    _form("unix", 0, "12", r"([12]\d{9}(?:\d{3}){0,3})(?:\.(\d{1,9}))?(?![\w.])", _unix, "1732121008.123 received SIGSEGV"),
)
_BRACKET_FORMS = (
    _form("dmesg", 0, "[", r"\[ {0,8}(\d{1,10})\.(\d{6})\]", _boot, "[ 3667.090810] python3 invoked oom-killer"),
)


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
