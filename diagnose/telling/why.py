"""`--why`: why a cause lost, or what is known of one rank; reads the report alone."""

from __future__ import annotations

import re

from ..errors import UsageError
from ..lazy_pattern import lazy
from ..report import Evidence, Report
from ..words.printable import one_line

RANK = lazy(r"rank\s*(\d+)$", re.IGNORECASE)


def why(report: Report, question: str) -> str:
    """Yield the answer as plain text. Raises `UsageError` where the question names neither a cause nor a rank."""
    match = RANK.match(question.strip())
    if match:
        return "\n".join(map(_shown, _rank(report, int(match[1]))))
    if "." not in question and question != "unknown":
        raise UsageError(f"--why {question}: give a cause such as memory.cuda-oom, or 'rank 5'")
    return "\n".join(map(_shown, _cause(report, question)))


def _shown(text: str) -> str:
    # Log text must not act on the terminal; the indentation is ours.
    return " " * (len(text) - len(text.lstrip(" "))) + one_line(text)


def _cause(report: Report, cause: str) -> list[str]:
    if report.diagnosis is None:
        return [f"{cause}: nothing wrong was found ({report.outcome}), so no cause was weighed."]
    if report.diagnosis.cause == cause:
        return [f"{cause} is the verdict ({report.diagnosis.certainty}): {report.diagnosis.summary}"]
    lines = []
    for alternative in report.alternatives:
        if alternative.cause == cause:
            lines.append(f"{cause} lost against {report.diagnosis.cause}. {alternative.why_not}")
            lines += [_place(e) for e in alternative.evidence]
    for symptom in report.symptoms:
        if symptom.cause == cause:
            by = symptom.explained_by or report.diagnosis.cause
            lines.append(f"{cause}: {symptom.title}, {symptom.count} times: a consequence of {by}.")
            lines += [_place(symptom.first)] if symptom.first else []
    lines += [f"{s.title}: survived, the job went on." for s in report.survived if s.cause == cause]
    return lines or [f"{cause}: no line of the logs says so, and no comparison of ranks points to it."]


def _rank(report: Report, rank: int) -> list[str]:
    row = next((r for r in report.ranks if r.rank == rank), None)
    if row is None:
        return [f"rank {rank}: no line of the logs is known to be its own."]
    where = ", ".join(
        text
        for text in (
            f"host {row.host}" if row.host else "",
            f"local rank {row.local_rank}" if row.local_rank is not None else "",
            f"pid {row.pid}" if row.pid is not None else "",
            f"last step {row.last_step}" if row.last_step is not None else "",
            f"told by {row.rank_from}" if row.rank_from else "",
        )
        if text
    )
    lines = [f"rank {rank}: {row.state}" + (f" ({where})" if where else "")]
    if row.first_time or row.last_time:
        lines.append(f"  seen from {row.first_time or '?'} to {row.last_time or '?'}")
    if row.first_failure:
        lines.append(f"  first error: {row.first_failure.cause} at {row.first_failure.ref}")
    culprit = next((c for c in (report.diagnosis.culprits if report.diagnosis else ()) if c.rank == rank), None)
    if culprit:
        lines.append(f"  culprit: {culprit.why}")
    lines += [f"  {s.title} ({s.cause})" for s in report.symptoms if rank in s.ranks]
    stuck = [c for c in report.collectives if c.rank == rank]
    lines += [f"  stuck in {c.op or 'a collective'} number {c.stuck} of group {c.group or '(default)'}" for c in stuck]
    return lines


def _place(evidence: Evidence) -> str:
    return f"  {evidence.file}:{evidence.line}: {evidence.text[:200]}"
