"""`--since`, `--until`, `--rank`: the same report, showing only what lies in that time or concerns that rank.

The verdict is reached on everything and stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError
from ..lines.timestamp import format_rfc3339, read_stamp, resolve
from .report import Report, Symptom, TimelineEntry


def narrow(report: Report, since: str | None, until: str | None, rank: int | None) -> Report:
    """Yield the report with its tables narrowed. Raises `UsageError` where a time cannot be read."""
    first, last = _moment("--since", since), _moment("--until", until)
    if first is not None and last is not None and first > last:
        raise UsageError(f"--since {since} lies after --until {until}: nothing could be shown")
    timeline = tuple(e for e in report.timeline if _is_within(e, first, last) and _concerns(e.ranks, rank))
    symptoms = tuple(s for s in report.symptoms if _concerns(s.ranks, rank) and _began_within(s, first, last))
    if rank is None:
        return replace(report, timeline=timeline, symptoms=symptoms)
    return replace(
        report,
        timeline=timeline,
        symptoms=symptoms,
        ranks=tuple(r for r in report.ranks if r.rank == rank),
        collectives=tuple(c for c in report.collectives if c.rank == rank),
        stacks=tuple(s for s in report.stacks if rank in s.ranks),
    )


def _moment(option: str, text: str | None) -> str | None:
    if text is None:
        return None
    stamp = read_stamp(str(text))
    seconds = resolve(stamp, None, 0.0) if stamp else None
    if seconds is None:
        raise UsageError(f"{option} {text}: not a time; write it as 2026-11-20T17:30:00")
    return _sortable(format_rfc3339(seconds))


def _sortable(time: str) -> str:
    """Without its `Z`, which would sort behind the fraction of the same second."""
    return time.removesuffix("Z")


def _is_within(entry: TimelineEntry, first: str | None, last: str | None) -> bool:
    if entry.time is None:
        return first is None and last is None
    return _lies_between(entry.time, first, last)


def _lies_between(time: str, first: str | None, last: str | None) -> bool:
    return (first is None or _sortable(time) >= first) and (last is None or _sortable(time) <= last)


def _began_within(symptom: Symptom, first: str | None, last: str | None) -> bool:
    time = symptom.first.time if symptom.first else None
    return time is None or _lies_between(time, first, last)


def _concerns(ranks: tuple[int, ...], rank: int | None) -> bool:
    return rank is None or not ranks or rank in ranks
