"""`--since`, `--until`, `--rank`: the same report, showing only what lies in that time or concerns that rank.

The verdict is reached on everything and stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError
from ..lines.timestamp import format_rfc3339, read_stamp, resolve
from .report import Report


def narrow(report: Report, since: str | None, until: str | None, rank: int | None) -> Report:
    """Yield the report with its tables narrowed. Raises `UsageError` where a time cannot be read."""
    first, last = _moment("--since", since), _moment("--until", until)
    if first and last and first > last:
        raise UsageError(f"--since {since} is after --until {until}: nothing could be shown")

    def is_within(time: str | None, *, else_: bool) -> bool:
        if time is None:
            return else_
        return (not first or _sortable(time) >= first) and (not last or _sortable(time) <= last)

    def concerns(ranks: tuple[int, ...]) -> bool:
        return rank is None or not ranks or rank in ranks

    is_timeless = not first and not last
    timeline = tuple(e for e in report.timeline if is_within(e.time, else_=is_timeless) and concerns(e.ranks))
    symptoms = tuple(
        s for s in report.symptoms if concerns(s.ranks) and is_within(s.first.time if s.first else None, else_=True)
    )
    report = replace(report, timeline=timeline, symptoms=symptoms)
    if rank is None:
        return report
    return replace(
        report,
        ranks=tuple(r for r in report.ranks if r.rank == rank),
        last_lines=tuple(x for x in report.last_lines if concerns(x.ranks)),
        collectives=tuple(c for c in report.collectives if c.rank == rank),
        stacks=tuple(s for s in report.stacks if rank in s.ranks),
    )


def _moment(option: str, text: str | None) -> str:
    if text is None:
        return ""
    stamp = read_stamp(str(text))
    seconds = resolve(stamp, None, 0.0) if stamp else None
    if seconds is None:
        raise UsageError(f"{option} {text}: not a time; write it as 2026-11-20T17:30:00")
    return _sortable(format_rfc3339(seconds))


def _sortable(time: str) -> str:
    """Without its `Z`, which would sort behind the fraction of the same second."""
    return time.removesuffix("Z")
