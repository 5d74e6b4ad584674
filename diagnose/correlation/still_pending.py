"""Is all that is heard of a Ray job a status in which a request waits, and no node is on its way?

At its start every job has such demands, and the autoscaler prints its status every few seconds: only the last report
counts, where no node is being started, nothing failed, and no sign of life is seen. Whoever shows this alone asks why
nothing begins.
Source: Ray, autoscaler/_private/util.py, format_info_string; autoscaler/v2/utils.py, ClusterStatusFormatter.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from .finding import Exhibit, Finding

DEMAND = "ray.unschedulable/pending-demands"
HEADER = "Autoscaler status: "
NOBODY_COMES = "(no pending nodes)"
LIFE = ("finished", "exit", "activity", "activity-end", "progress")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding, of no rank, for the demand that the last status shows."""
    told = [e for e in job.events if e.rule.id == DEMAND]
    is_alive = job.was_alive or any(s.last_sign_line is not None for s in job.sources) or job.telling(*LIFE)
    if not told or is_alive or job.failures() or job.dumps:
        return
    last = told[-1]
    if "request" in last.fields and _stands_still(job, last):
        why = f"Ray's last status shows {last.fields['request']} pending, and no node on its way."
        yield Finding("ray.unschedulable", why, (Exhibit.of_event(last),), certainty="possible", question="still_pending")


def _stands_still(job: Job, last: Event) -> bool:
    """Whether it stands in the last status of its file, and no node is being started there."""
    lines = [line for source in job.sources if source.name == last.source for line in source.tail()]
    begins = max((line.number for line in lines if HEADER in line.raw), default=0)
    return begins < (last.line or 0) and any(line.number > begins and NOBODY_COMES in line.raw for line in lines)
