"""Whether the logs break off: what was being raised when a source ends may be anything."""

from __future__ import annotations

from ..job.event import SourceEvents
from ..job.job import Job
from ..traces.quotation import UNHEARD_FORMS


def breaks_off_in_a_traceback(job: Job) -> bool:
    """Whether a source ends before the name of the exception that was being printed, as a paste of its upper half does."""
    return any(_breaks_off(s) for s in job.sources)


def _breaks_off(source: SourceEvents) -> bool:
    last = max(source.tracebacks, key=lambda tb: tb.end_line, default=None)
    if last is None or last.exception or last.form in UNHEARD_FORMS or not last.frames:
        return False
    return last.end_line >= max((line.number for line in source.tail() if line.message.strip()), default=0)
