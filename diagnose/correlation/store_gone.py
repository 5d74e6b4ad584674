"""Is it all that is heard of a job that its store went away?

Background threads of PyTorch log it at every end of rank 0, a good one too, so beside a step, a word that the run has
finished or an error of any kind it says nothing. A paste that holds nothing else shows a job that lost rank 0, or the
agent that serves the store, and not why.
Source: PyTorch, TCPStore.cpp and ProcessGroupNCCL.cpp, HeartbeatMonitor.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from .finding import Finding, exhibits

GONE = (
    "network.connection-reset/store-connection-lost",
    "network.connection-reset/should-dump-flag-not-readable",
    "network.connection-reset/dump-flag-not-readable",
)
GOOD_END = ("harmless.shutdown/destroy-process-group-not-called", "harmless.nccl/process-group-not-destroyed")
QUESTION = "store_gone"
LIFE = ("finished", "exit", "activity", "activity-end", "progress", "signal-received", "signal-sent")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding, of no rank: who lost the store is a witness."""
    gone = [e for e in job.events if e.rule.id in GONE]
    if not gone or job.was_alive or job.failures() or job.telling(*LIFE) or job.dumps:
        return
    if any(e.rule.id in GOOD_END for e in job.events):
        return
    why = "The store, which rank 0 or its agent serves, went away, and nothing here tells what ended it."
    yield Finding("network.connection-reset", why, exhibits(gone), certainty="possible", question=QUESTION)
