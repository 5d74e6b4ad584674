"""Was the job ended from outside?

An agent that is told to stop (SIGTERM, SIGINT, SIGHUP) before any process failed did not fail: operator, scheduler or a
closed terminal ended it. No rank is at fault. What the workers print afterwards is the shutdown. A server is told to stop
at the end of most jobs that start one: that counts only where nothing failed but what watches the server's processes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..attempts import is_terminated
from ..events import FAILING, Event
from ..job import Job
from ..untold import died_untold
from .finding import Finding, exhibits


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a launcher received a signal and nothing had failed before it."""
    told = [e for e in job.telling("signal-received") if e.rank is None]
    if not told or any(_came_before(job, e, told[0]) for e in job.failures() if e.role == "cause" and e.rule.tells is None):
        return
    if any(_had_died(job, e, told[0]) for e in job.telling("exit") if e.role in FAILING and not is_terminated(e)):
        return
    if died_untold(job):
        return
    server = all(e.role not in FAILING for e in told)
    if server and not _only_watchers_complain(job, told[0]):
        return
    names = sorted({str(e.fields.get("signal")) for e in told if e.fields.get("signal")})
    why = f"The launcher was told to stop (signal {', '.join(names) or 'unknown'}) before any process had failed."
    if server:
        why = "The server was told to stop before any of its processes had ended."
    onset = min((e.onset for e in told if e.onset is not None), default=None)
    told.sort(key=lambda e: e.fields.get("step") is None)  # the scheduler's own word comes before those it reached
    yield Finding("process.terminated", why, exhibits(told), onset=onset, question="outside")


def _only_watchers_complain(job: Job, told: Event) -> bool:
    failures = job.failures()
    watchers = (e for e in failures if e.role == "symptom" and e.cause == "process.exit-code")
    return bool(failures) and sum(not _came_before(job, e, told) for e in watchers) == len(failures)


def _came_before(job: Job, event: Event, told: Event) -> bool:
    if event.source == told.source:
        return (event.line or 0) < (told.line or 0)
    if event.onset is None or told.onset is None:
        return True
    return event.onset < told.onset + job.clocks.uncertainty_s(event, told)


def _had_died(job: Job, end: Event, told: Event) -> bool:
    """A process that ended by itself before is what the launcher, or the scheduler after it, answered."""
    if end.source == told.source:
        return (end.line or 0) < (told.line or 0)
    if end.onset is None or told.onset is None or end.stamp is None:
        return False
    return end.onset < told.onset - job.clocks.uncertainty_s(end, told)
