"""Events and findings grouped into `Suspect`s: one cause at one place, with when it began and what shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..catalogue.load import Catalogue
from ..job.copies import is_repetition
from ..job.event import Event
from ..job.job import Job
from ..lines.lazy_pattern import lazy
from ..questions.finding import Finding
from ..traces.last_error import is_quoted
from .consequences import EXCEPTION, consequences

STATED = 3  # how direct the evidence is where a line states the cause
LATE = "collective.straggler"
CERTIFIED_S = 60.0  # a launcher's summary gives the time of death of which it told lines before
SAME_MOMENT_S = 2.0  # printed seconds do not order what several ranks say of one failure
REPEATED = "[repeated "  # Ray prints alike lines of several workers once
NUMBERS = lazy(r"0x[0-9a-f]+|\d+")


@dataclass(slots=True, eq=False)
class Suspect:
    """One cause at one place."""

    cause: str
    rank: int | None
    host: str | None
    direct: int  # how directly the evidence names the cause: 3 a line says so, 2 a finding, 1 a symptom
    specific: bool
    onset: float | None
    events: list[Event] = field(default_factory=list)
    finding: Finding | None = None
    signature: str = ""
    explained_by: list[Suspect] = field(default_factory=list)
    first: Event | None = None  # the event that an expert would point at

    @property
    def is_echo(self) -> bool:
        """Whether it is an exception that only tells of another one (a pipe broke, a worker raised), and not why."""
        return self.cause == EXCEPTION and self.direct == 1

    def place(self) -> str:
        """Where it is, in words for ordering."""
        return f"{'' if self.rank is None else self.rank:>8}|{self.host or ''}"


def gather(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> list[Suspect]:
    """Yield all suspects, sorted by cause and place."""
    found: dict[tuple[object, ...], Suspect] = {}
    failures = [e for e in job.failures() if e.cause in catalogue.causes]
    failures = _narrowest(failures)
    own = [e for e in failures if e.rule.tells != "signal-sent"]  # a launcher that ends the others never began it
    late = consequences(job)
    for event in own if own or findings else failures:
        if event.cause is None:
            continue
        signature = _signature(event)
        where = event.rank if event.rank is not None else event.host or event.source
        key = (event.cause, where, signature)
        suspect = found.get(key)
        if suspect is None:
            suspect = found[key] = Suspect(event.cause, event.rank, event.host, 0, False, None, signature=signature)
        _add(suspect, event, late.get(id(event)))
    for number, finding in enumerate(findings):
        for rank in finding.ranks or (None,):
            host = finding.hosts[0] if finding.hosts and not finding.ranks else _host_of(job, rank)
            events = [x.event for x in finding.exhibits if x.event is not None and x.event.cause == finding.cause]
            suspect = Suspect(finding.cause, rank, host, 2, True, finding.onset, events, finding)
            found[(finding.cause, rank, "finding", number)] = suspect
    for suspect in found.values():
        if len(suspect.events) > 1:
            suspect.events.sort(key=_telling)
        suspect.first = next(iter(suspect.events), None)
    return sorted(found.values(), key=lambda s: (s.cause, s.place(), s.signature, s.finding is None))


def _narrowest(failures: list[Event]) -> list[Event]:
    """Drop what is said of an exception from its words alone where a rule that asks for a frame says more.

    `EOFError: Ran out of input` is a damaged file, but not below `spawn_main`, nor below a collective.
    """
    framed = {(e.source, e.line) for e in failures if e.rule.frame is not None}
    return [e for e in failures if e.rule.frame is not None or e.traceback is None or (e.source, e.line) not in framed]


def _host_of(job: Job, rank: int | None) -> str | None:
    info = job.ranks.get(rank) if rank is not None else None
    return info.host if info else None


def _add(suspect: Suspect, event: Event, at_most: int | None) -> None:
    direct = 3 if event.role == "cause" else 1
    direct = direct if at_most is None else min(direct, at_most)
    suspect.direct, suspect.specific = max((suspect.direct, suspect.specific), (direct, not event.rule.generic))
    suspect.events.append(event)
    if event.onset is not None and (suspect.onset is None or event.onset < suspect.onset):
        suspect.onset = event.onset


def _telling(event: Event) -> tuple[object, ...]:
    """The event that an expert would point at comes first: it names the cause, it is specific, it is the earliest."""
    certificate = event.rule.tells in ("exit", "signal-sent", "signal-received")  # says that it ended, not by whom
    moment_s = CERTIFIED_S if certificate else SAME_MOMENT_S
    is_heading = "RayTaskError(" in event.text.partition("\n")[0]  # Ray puts it above the frames
    told_again = is_heading or is_repetition(event) or is_quoted(event.traceback, event.line)
    is_felt = not names_device(event)
    return (event.role != "cause", event.rule.generic, certificate, told_again, is_felt, *when(event, moment_s))


def names_device(event: Event | None) -> bool:
    """Whether it names the part that broke: the kernel does, by its clock; an exception has the time of some line above."""
    return event is not None and event.fields.get("pci") is not None


def when(event: Event, moment_s: float = SAME_MOMENT_S) -> tuple[bool, float, str, int]:
    """Yield the order of events for showing: by time, within a file and moment by line."""
    return (event.time is None, round((event.time or 0.0) / moment_s), event.source, event.line or 0)


def _signature(event: Event) -> str:
    """Exceptions of one cause are told apart by type and text, numbers aside."""
    return alike(event) if event.cause == EXCEPTION else ""


def alike(event: Event) -> str:
    """Yield the event's words without what differs between processes that fail alike: sizes, addresses, a count."""
    return NUMBERS.sub("#", event.text.split("\n", 1)[0].partition(REPEATED)[0].rstrip())[:160]
