"""Coverage of a wait: which ranks say that they waited, in whatever form it is here.

Silence counts only where the line would be here had it been printed. A report may be garbled, cut, wrapped or filtered;
what is left of it (`Some NCCL operations have failed`, a status line, the head of a traceback, the watchdog's own SIGABRT
in a launcher's list) still shows that its rank waited too.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lines.lazy_pattern import lazy
from .event import Event
from .job import Job, RankInfo

QUOTED = "watchdog thread terminated with exception: "
ABORTED = {"-6", "6", "134", "SIGABRT"}  # as a watchdog ends the process that waited
ENDED_BEFORE_S = 30.0  # agents end the survivors within seconds of a failure, watchdogs fire minutes later
WAIT = "collective.timeout"
NUMBERS = lazy(r"\d+")


def who_reported(job: Job) -> set[int]:
    """Yield the ranks of which anything shows that they waited, too."""
    told = {e.rank for e in job.telling("collective-timeout", "collective-status") if e.rank is not None}
    partly = {e.rank for e in job.failures() if e.cause == WAIT and e.rank is not None}
    return told | partly | _cut_tracebacks(job) | _aborted(job)


def _cut_tracebacks(job: Job) -> set[int]:
    """Ranks of whose traceback the head is here and the exception is not."""
    cut = ((s, tb) for s in job.sources for tb in s.tracebacks if not tb.exception)
    ranks = {job.places.source_rank.get(s.name, next((x.prefix.rank for x in s.lines_at(tb.line)), None)) for s, tb in cut}
    return {rank for rank in ranks if rank is not None}


def _aborted(job: Job) -> set[int]:
    ends = (e for e in job.telling("exit") if e.rank is not None)
    return {e.rank or 0 for e in ends if {str(e.fields.get("exit_code")), str(e.fields.get("signal"))} & ABORTED}


def is_covered(job: Job, info: RankInfo, streams: set[str | None]) -> bool:
    """Whether a report of the rank would be here: it is heard on a stream on which others report, in a whole file."""
    if not job.is_heard(info.rank) or not any(job.is_heard_on(info.rank, stream) for stream in streams):
        return False
    cut = job.once(cut_off)
    return not cut or not cut.issuperset(info.sources)


def cut_off(job: Job) -> set[str]:
    """Yield files without their head (a report is quoted that is not in them) or without their end (one breaks off)."""
    told = [e for e in job.telling("collective-timeout") if e.rank is not None]
    itself = {(e.source, e.rank) for e in told if QUOTED not in e.raw}
    reports = {NUMBERS.sub("", e.raw).rstrip() for e in told}  # without numbers they are few
    sources = {e.source for e in told}
    ends = {s.name: NUMBERS.sub("", s.last_words) for s in job.sources if s.name in sources}
    begun = {name for name, end in ends.items() if end and any(x.startswith(end) and len(x) > len(end) for x in reports)}
    return begun | {e.source for e in told if (e.source, e.rank) not in itself}


def had_ended(job: Job, info: RankInfo, waits: Sequence[Event]) -> bool:
    """A rank that was ended before the others' limit passed did not make them wait: whatever ended it did."""
    reporter = min(waits, key=lambda e: (e.source, e.line or 0))
    fired = min((e.time for e in waits if e.time is not None), default=None)
    for end in job.telling("exit", "signal-sent", "killed"):
        if end.rank != info.rank and not _is_of_host(end, info):
            continue
        if end.source == reporter.source:
            return (end.line or 0) < (reporter.line or 0)
        if end.time is None or fired is None:
            continue
        if end.time < fired - max(ENDED_BEFORE_S, job.clocks.uncertainty_s(end, reporter)):
            return True
    return False


def _is_of_host(event: Event, info: RankInfo) -> bool:
    """An agent ends all its processes: where one of them failed, the others of that host were ended too."""
    return info.host is not None and event.host == info.host and event.rule.tells != "killed"
