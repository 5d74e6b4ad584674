"""The clocks that lines of logs print: read, and moved."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)([ T_])(\d\d):(\d\d):(\d\d)")
GLOG = re.compile(r"\b([IWEF])(\d{1,2})(\d\d) (\d\d):(\d\d):(\d\d)(?=\.\d)")
SYSLOG = re.compile(rf"\b({'|'.join(MONTHS)}) ([ \d]\d) (\d\d):(\d\d):(\d\d)\b( \d{{4}})?")
UNIX = re.compile(r"(\"timestamp\": \")(\d{10})")
NO_YEAR = 1900


def stamp_of(line: str) -> datetime | None:
    """The first clock on a line; year 1900 where it prints none."""
    try:
        if match := ISO.search(line[:90]):
            return datetime(*(int(match[i]) for i in (1, 2, 3, 5, 6, 7)))
        if match := GLOG.search(line[:90]):
            return datetime(NO_YEAR, *(int(match[i]) for i in (2, 3, 4, 5, 6)))
        if match := SYSLOG.search(line[:90]):
            return datetime(
                int(match[6] or NO_YEAR), MONTHS.index(match[1]) + 1, *(int(match[i]) for i in (2, 3, 4, 5))
            )
    except ValueError:
        return None
    return None


def seconds(stamp: datetime, year: int) -> float:
    return stamp.replace(year=year).timestamp()


def shift(text: str, by: timedelta) -> str:
    """Every clock in a text moved, in its own form."""

    def iso(m: re.Match[str]) -> str:
        return f"{datetime(*(int(m[i]) for i in (1, 2, 3, 5, 6, 7))) + by:%Y-%m-%d{m[4]}%H:%M:%S}"

    def glog(m: re.Match[str]) -> str:
        moved = datetime(2026, *(int(m[i]) for i in (2, 3, 4, 5, 6))) + by
        return f"{m[1]}{moved.month:0{len(m[2])}d}{moved:%d %H:%M:%S}"

    def syslog(m: re.Match[str]) -> str:
        moved = datetime(int(m[6] or 2026), MONTHS.index(m[1]) + 1, *(int(m[i]) for i in (2, 3, 4, 5))) + by
        return f"{MONTHS[moved.month - 1]} {moved.day:2d} {moved:%H:%M:%S}{m[6] or ''}"

    text = ISO.sub(iso, text)
    text = GLOG.sub(glog, text)
    text = SYSLOG.sub(syslog, text)
    return UNIX.sub(lambda m: f"{m[1]}{int(m[2]) + int(by.total_seconds())}", text)
