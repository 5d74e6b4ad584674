"""One time span, rank or cause of a report: `--since`, `--until` and `--rank` narrow its tables, `--why` answers in text.

The verdict is reached on everything and stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..advice.statement import Evidence
from ..errors import UsageError
from ..lines.lazy_pattern import lazy
from ..lines.timestamp import format_rfc3339, read_stamp, resolve
from .phrases import Say, known, words
from .printable import one_line
from .report import Report

# --- tables --------------------------------------------------------------------------------------------------------------


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


# --- `--why`: why a cause lost, or what is known of one rank -------------------------------------------------------------

RANK = lazy(r"rank\s*(\d+)$", re.IGNORECASE)


def why(report: Report, question: str) -> str:
    """Yield the answer as plain text. Raises `UsageError` where the question names neither a cause nor a rank."""
    say = words(report.language)
    match = RANK.match(question.strip())
    if match:
        return "\n".join(map(_shown, _rank(report, int(match[1]), say)))
    if "." not in question and question != "unknown":
        raise UsageError(f"--why {question}: give a cause such as memory.cuda-oom, or 'rank 5'")
    return "\n".join(map(_shown, _cause(report, question, say)))


def _shown(text: str) -> str:
    # Log text must not act on the terminal; the indentation is ours.
    return " " * (len(text) - len(text.lstrip(" "))) + one_line(text)


def _cause(report: Report, cause: str, say: Say) -> list[str]:
    found = report.diagnosis
    if found is None:
        return [say("why-nothing", cause=cause, outcome=say(report.outcome))]
    if found.cause == cause:
        return [say("why-verdict", cause=cause, certainty=say(found.certainty), summary=found.summary)]
    lines = []
    for alternative in report.alternatives:
        if alternative.cause == cause:
            lines.append(say("why-lost", cause=cause, winner=found.cause, why_not=alternative.why_not))
            lines += [_place(e) for e in alternative.evidence]
    for symptom in report.symptoms:
        if symptom.cause == cause:
            by = symptom.explained_by or found.cause
            lines.append(say("why-symptom", cause=cause, title=symptom.title, n=symptom.count, by=by))
            lines += [_place(symptom.first)] if symptom.first else []
    lines += [say("why-survived", title=s.title) for s in report.survived if s.cause == cause]
    return lines or [say("why-unsaid", cause=cause)]


def _rank(report: Report, rank: int, say: Say) -> list[str]:
    row = next((r for r in report.ranks if r.rank == rank), None)
    if row is None:
        return [say("why-no-rank", n=rank)]
    where = [
        say("host", name=row.host) if row.host else "",
        say("local-rank", n=row.local_rank) if row.local_rank is not None else "",
        say("pid", n=row.pid) if row.pid is not None else "",
        say("why-last-step", n=row.last_step) if row.last_step is not None else "",
        say("why-told-by", how=known(say, "from", row.rank_from)) if row.rank_from else "",
    ]
    told = say("comma").join(text for text in where if text)
    about = say("in-brackets", text=told) if told else ""
    lines = [say("why-rank", n=rank, state=known(say, "state", row.state)) + about]
    if row.first_time or row.last_time:
        lines.append("  " + say("why-seen", first=row.first_time or "?", last=row.last_time or "?"))
    if first := row.first_failure:
        lines.append("  " + say("why-first-error", cause=first.cause or first.rule, ref=first.ref))
    culprit = next((c for c in (report.diagnosis.culprits if report.diagnosis else ()) if c.rank == rank), None)
    if culprit:
        lines.append("  " + say("why-culprit", why=culprit.why))
    lines += [f"  {s.title} ({s.cause})" for s in report.symptoms if rank in s.ranks]
    for c in (c for c in report.collectives if c.rank == rank):
        what = c.op or say("why-a-collective")
        lines.append("  " + say("why-stuck", op=what, seq=c.stuck, group=c.group or say("why-default-group")))
    return lines


def _place(evidence: Evidence) -> str:
    return f"  {evidence.file}:{evidence.line}: {evidence.text[:200]}"
