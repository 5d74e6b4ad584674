"""Which places in the logs prove a verdict, the first one first."""

from __future__ import annotations

from ..job.activity import last_complaint
from ..job.copies import is_repetition
from ..job.event import Event, Exhibit
from ..job.job import Job
from .decision import Verdict

MAX_EVIDENCE = 5


def proof_of(job: Job, verdict: Verdict) -> list[Exhibit]:
    """What an expert would point at, the first one first."""
    shown = _in_earlier_attempts(job, verdict)
    for suspect in verdict.roots:
        if suspect.finding is not None:
            shown += sorted(suspect.finding.exhibits, key=lambda x: x.event is not None and is_repetition(x.event))
        elif suspect.first is not None:
            shown += [Exhibit.of_event(suspect.first), *_handled(suspect.first)]
    shown += [x for x in _confirmations(job, verdict) if all(x.source != other.source for other in shown)]
    if not any(s.finding for s in verdict.roots[:1]):
        shown += [Exhibit.of_event(e) for s in verdict.roots[:1] for e in s.events[1:]]
    if shown and verdict.roots[0].is_end:
        infos = [job.ranks[rank] for rank in verdict.culprits[:1] if rank in job.ranks]
        shown += [x for info in infos for x in last_complaint(job, info)]
    unique: dict[tuple[object, ...], Exhibit] = {}
    for exhibit in shown:
        unique.setdefault(_news(exhibit), exhibit)
    return _varied(list(unique.values()))[:MAX_EVIDENCE]


def _handled(event: Event) -> list[Exhibit]:
    """The exception during whose handling it was raised: in a `finally` that one, not this, is what went wrong first.

    Of one that was raised `from` another, the other tells what was wrong: `FeedError: reader failed` from a `KeyError`.
    """
    if event.traceback is None:
        return []
    line = event.line or 0
    link = event.traceback.handled_above(line) or event.traceback.raised_from(line)
    if link is None:
        return []
    return [Exhibit(event.source, link.exception_line, link.said, event.rank, event.host, event.time)]


def _varied(shown: list[Exhibit]) -> list[Exhibit]:
    """Where eight ranks say the same two messages, the second one says more than the first a second time."""
    kinds: dict[str, Exhibit] = {}
    for exhibit in shown:
        kinds.setdefault(exhibit.event.rule.id if exhibit.event else f"{exhibit.source}:{exhibit.line}", exhibit)
    picked = {id(x) for x in kinds.values()}
    return [*kinds.values(), *(x for x in shown if id(x) not in picked)]


def _confirmations(job: Job, verdict: Verdict) -> list[Exhibit]:
    """What others know of the same: the controller of Slurm says whose user id asked it to cancel the job."""
    root = verdict.roots[0]
    found: dict[str, Event] = {}
    for event in job.events:
        if event.role == "confirmation" and event.cause == root.cause:
            found.setdefault(event.rule.id, event)
    return [Exhibit.of_event(e) for e in found.values()]


def _in_earlier_attempts(job: Job, verdict: Verdict) -> list[Exhibit]:
    """Where the same rank failed of the very same before it was restarted: there it began."""
    root = verdict.roots[0]
    if root.finding is not None or root.first is None:
        return []
    said = _news(Exhibit.of_event(root.first))[1:]
    alike = [x for e in job.earlier if e.rule.id == root.first.rule.id and _news(x := Exhibit.of_event(e))[1:] == said]
    return alike[:1]


def _news(exhibit: Exhibit) -> tuple[object, ...]:
    """What a proof adds: a speaker who says the same once more, as every retry does, adds nothing."""
    event = exhibit.event
    if event is None:
        return exhibit.source, exhibit.line
    said = sorted((name, str(value)) for name, value in event.fields.items())
    return exhibit.source, exhibit.rank, exhibit.host, event.rule.id, *said
