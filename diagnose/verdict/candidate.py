"""Events and findings in, `Candidate`s out: one cause at one place, with when it began and what shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..catalogue.load import Catalogue
from ..job.copies import is_repetition
from ..job.event import Event
from ..job.job import CERTIFICATES, Job
from ..job.process import is_terminated
from ..lines.lazy_pattern import lazy
from ..questions.finding import Finding
from ..traces.quotation import is_told_again

STATED, CONCLUDED, HINTED = 3, 2, 1  # how direct: a line states the cause, a question concludes it, a line hints at it
NOTHING = 0  # a line that only passes on what the candidate's own lines say
SAME_MOMENT_S = 2.0  # printed seconds do not order what several ranks say of one failure
SAME_END_S = 60.0  # a launcher's summary states when a process died, of which it told lines above
ABSENCE = ("absent", "named_absent", "silence")  # questions that find a rank missing
NUMBERS = lazy(r"0x[0-9a-f]+|\d+")
SUMMARY = ("box", "entry", "rest")  # what a launcher tells once more when all is over


@dataclass(eq=False)
class Candidate:
    """One cause at one place. What is asked of it thousands of times, once all are gathered, is worked out once."""

    cause: str
    rank: int | None
    host: str | None
    direct: int = NOTHING
    specific: bool = False  # said by a rule that is no catch-all, or concluded
    onset: float | None = None
    events: list[Event] = field(default_factory=list)
    finding: Finding | None = None
    signature: str = ""
    explained_by: list[Candidate] = field(default_factory=list)
    first: Event | None = None  # the event that an expert would point at
    is_end: bool = False  # all that it rests on tells how a process ended, and not why

    @cached_property
    def is_guess(self) -> bool:
        """Whether a question only holds it for possible."""
        return self.finding is not None and self.finding.certainty == "possible"

    @cached_property
    def is_death(self) -> bool:
        """Whether it is the end of a process that nobody ordered."""
        return self.is_end and any(e.rule.tells == "exit" and not is_terminated(e) for e in self.events)

    @cached_property
    def told_to_end(self) -> frozenset[int | None]:
        """The ranks of which it is that they were told to end."""
        return frozenset([e.rank for e in self.events if e.rule.tells == "signal-received"])

    @cached_property
    def is_seen_from_outside(self) -> bool:
        """Whether it is that others miss a rank."""
        is_asked = self.finding is not None and self.finding.question in ABSENCE
        return is_asked and all(e.rank != self.rank for e in self.events)

    @cached_property
    def misses(self) -> frozenset[int | None]:
        """The ranks that others miss, by a question or by a line that names them."""
        if self.is_seen_from_outside and self.rank is not None:
            return frozenset((self.rank,))
        told = [e.fields.get("absent_ranks") or () for e in self.events if e.rule.tells == "absent-ranks"]
        return frozenset(told[0]) if told and len(told) == len(self.events) else frozenset()

    def place(self) -> str:
        """Where it is, in words for ordering."""
        return f"{'' if self.rank is None else self.rank:>8}|{self.host or ''}"


def gather(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> list[Candidate]:
    """Yield all candidates, sorted by cause and place."""
    found: dict[tuple[object, ...], Candidate] = {}
    for event in _telling(job, findings, catalogue):
        cause, signature = event.cause or "", signature_of(event, catalogue)
        where = event.rank if event.rank is not None else event.host or event.source
        made = found.setdefault((cause, where, signature), Candidate(cause, event.rank, event.host, signature=signature))
        _add(made, event)
    for number, finding in enumerate(findings):
        for rank in finding.ranks or (None,):
            found[(finding.cause, rank, "", number)] = _concluded(job, finding, rank)
    for made in found.values():
        made.events.sort(key=lambda e: _exactness(e, catalogue))
        made.first = next(iter(made.events), None)
        made.is_end = bool(made.events) and all(is_end(e, catalogue) for e in made.events)
    return sorted(found.values(), key=lambda c: (c.cause, c.place(), c.signature, c.finding is None))


def _telling(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> Iterator[Event]:
    """Yield the failures that may be a cause, if anything is told beside what a launcher says of the whole job.

    It never began it by ending the others, and a box around its report names no process.

    Of an exception, what a rule says that asked for a frame goes before what its words alone say.
    """
    failures = [e for e in job.failures() if e.cause in catalogue.causes]
    own = [e for e in failures if e.rule.tells != "signal-sent" and e.rule.teller != "box"]
    framed = {(e.source, e.line) for e in failures if e.rule.frame is not None}
    for event in own if own or findings else failures:
        if event.rule.frame is not None or event.traceback is None or (event.source, event.line) not in framed:
            yield event


def _concluded(job: Job, finding: Finding, rank: int | None) -> Candidate:
    info = job.ranks.get(rank) if rank is not None else None
    host = info.host if info else finding.hosts[0] if finding.hosts and not finding.ranks else None
    events = [x.event for x in finding.exhibits if x.event is not None and x.event.cause == finding.cause]
    return Candidate(finding.cause, rank, host, CONCLUDED, True, finding.onset, events, finding)


def _add(made: Candidate, event: Event) -> None:
    direct = STATED if event.role == "cause" else HINTED
    if event.traceback is not None and event.traceback.is_warned:
        direct = HINTED  # the program caught it, logged it and went on
    made.direct, made.specific = max((made.direct, made.specific), (direct, not event.rule.generic))
    made.events.append(event)
    if event.onset is not None and (made.onset is None or event.onset < made.onset):
        made.onset = event.onset


def _exactness(event: Event, catalogue: Catalogue) -> tuple[object, ...]:
    """What an expert would point at first: it names the cause, it is narrow, it is no copy, it is the earliest."""
    is_copy = is_repetition(event) or is_told_again(event.traceback, event.line, event.text)
    ends, is_summary = is_end(event, catalogue), event.rule.teller in SUMMARY
    order = when(event, SAME_END_S if ends else SAME_MOMENT_S)
    return (event.role != "cause", ends, is_summary, is_copy, not names_device(event), *order, event.rule.generic)


def is_end(event: Event, catalogue: Catalogue) -> bool:
    """Whether it tells how a process ended, and not why."""
    is_told = event.rule.tells in (*CERTIFICATES, "signal-received")
    return is_told or (event.cause in catalogue.causes and catalogue.causes[event.cause].only_ends)


def names_device(event: Event | None) -> bool:
    """Whether it names the part that broke, as a kernel does by its address."""
    return event is not None and event.fields.get("pci") is not None


def when(event: Event, moment_s: float = SAME_MOMENT_S) -> tuple[bool, float, str, int]:
    """Yield the order of events for showing: by time, within a file and moment by line."""
    return (event.time is None, round((event.time or 0.0) / moment_s), event.source, event.line or 0)


def signature_of(event: Event, catalogue: Catalogue) -> str:
    """What tells messages of one cause apart: of a cause that carries others the words, without numbers; else nothing."""
    return alike(event) if event.rule.generic and catalogue.causes[event.cause or ""].tier == "carrier" else ""


def alike(event: Event) -> str:
    """Yield the event's words without what differs between processes that fail alike: sizes, addresses, counts."""
    first = event.text.split("\n", 1)[0].partition(" [repeated ")[0]
    return NUMBERS.sub("#", first.rstrip())[:160]
