"""Who waited, or lost the others, while it handled an exception of its own? That exception began it."""

from __future__ import annotations

from collections.abc import Iterator

from ..job.collectives import find_handled
from ..job.job import Job
from .finding import Exhibit, Finding, Sentence

CAUSE = "process.exception"


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding on the rank that was the first to raise something before it waited in vain."""
    for end, link in find_handled(job)[:1]:
        shown = Exhibit(end.source, link.exception_line, link.said, end.rank, end.host, end.time)
        ranks = (end.rank,) if end.rank is not None else ()
        says = Sentence("handled.raised", {"ranks": ranks, "said": link.said})
        fields = {"type": link.exception, "text": link.message}
        yield Finding("handled", CAUSE, says, (shown, Exhibit.of_event(end)), ranks, onset=end.onset, fields=fields)
