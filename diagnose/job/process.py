"""`Process`: the last life of one rank, with all that it says of itself and others testify; and how processes end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from .event import FAILING, Event, SourceEvents
from .identity_table import Places

CERTIFICATES = ("exit", "signal-sent", "killed")  # said of a process by another one
ABORTED = "process.abort"
CRASHES = ("process.segfault", "process.bus-error", ABORTED)  # as the table of exit codes calls such ends
ORDERED = "process.terminated"
SIGTERM_NAMES = {"15", "-15", "SIGTERM", "143"}


def is_terminated(event: Event) -> bool:
    """Whether a launcher brought the end about in its clean-up: by SIGTERM, or by SIGKILL where that was not enough."""
    told = {str(event.fields.get(name)) for name in ("exit_code", "signal", "signal_name")}
    return event.cause == ORDERED or not told.isdisjoint(SIGTERM_NAMES)


def tell_ordered_ends(events: Sequence[Event]) -> None:
    """Take a death by SIGKILL for one that a launcher brought about, where it had sent that process a signal before.

    A bare `Killed` names no process: it is of the cleaning up where its stream stated above what the program died of, or
    that its launcher ends them all. That a step was cancelled says nothing more where its launcher had ended it.
    """
    killed = {(e.host, e.pid) for e in events if e.rule.tells == "killed"}
    sent = [e for e in events if e.rule.tells == "signal-sent"]
    told = {(e.attempt, e.source, e.rank) for e in sent if e.rank is not None}
    told_by_rank = {(e.attempt, e.source, e.rank) for e in sent if e.pid is None}  # of others another process may die later
    told_pids = {(e.attempt, e.source, e.pid) for e in sent if e.pid is not None}
    over, closed = _ends_of_streams(events) if not killed else {}, _closed_streams(events)
    for event in events if sent or over else ():
        where, line = (event.attempt, event.source), event.line or 0
        is_closed = is_told = line > closed.get(where, math.inf)
        is_told |= (*where, event.rank) in (told if event.pid is None else told_by_rank) or (*where, event.pid) in told_pids
        is_told |= event.rank is event.pid is None and line > over.get(where, math.inf)
        if is_closed and event.rule.tells == "signal-received" and event.cause == ORDERED:
            event.role = "symptom"
        if event.rule.tells == "exit" and is_told and is_sigkill(event) and (event.host, event.pid) not in killed:
            event.cause, event.role = ORDERED, "symptom"


def tell_aborts(events: Sequence[Event]) -> None:
    """Take a crash for the abort of its process where an uncaught C++ exception ended it above: handlers crash."""
    ended = [e for e in events if e.rule.tells == "aborting"]
    for e in (e for e in events if ended and e.cause in CRASHES and e.cause != ABORTED):
        is_own = e.rule.tells not in CERTIFICATES
        above = (t for t in ended if (t.attempt, t.source) == (e.attempt, e.source) and (t.line or 0) < (e.line or 0))
        if any(e.rank == t.rank or (is_own and None in (e.rank, t.rank)) for t in above):
            e.cause, e.role = ABORTED, "context" if is_own else "symptom"


def _closed_streams(events: Sequence[Event]) -> dict[tuple[int, str], int]:
    """Yield the line of each stream and attempt where a launcher, below a death that it found, ends all that it has."""
    died: dict[tuple[int, str], int] = {}
    found: dict[tuple[int, str], int] = {}
    for e in sorted((e for e in events if e.rule.tells in ("exit", "signal-sent")), key=lambda e: e.line or 0):
        where = e.attempt, e.source
        if e.rule.tells == "exit" and e.role in FAILING and not is_terminated(e):
            died.setdefault(where, e.line or 0)
        elif e.rule.tells == "signal-sent" and e.rank is e.pid is None and where in died:
            found.setdefault(where, e.line or 0)
    return found


def _ends_of_streams(events: Sequence[Event]) -> dict[tuple[int, str], int]:
    """Yield the line of each stream and attempt where an exception states a cause, or a launcher ends all that it has."""
    found: dict[tuple[int, str], int] = {}
    for e in events:
        is_raised = e.traceback is not None and not e.traceback.is_warned and e.role == "cause" and not e.rule.generic
        if is_raised or (e.rule.tells == "signal-sent" and e.rank is e.pid is None):
            found[e.attempt, e.source] = min(e.line or 0, found.get((e.attempt, e.source), e.line or 0))
    return found


def is_sigkill(event: Event) -> bool:
    """Whether an end is death by SIGKILL, as the table of exit codes calls it."""
    return event.cause == "process.sigkill"


@dataclass(slots=True)
class Process:
    """What is known of one rank."""

    rank: int
    host: str | None = None
    local_rank: int | None = None
    pid: int | None = None
    device: int | None = None
    events: list[Event] = field(default_factory=list)
    sources: tuple[str, ...] = ()  # that tell of it; of most ranks one
    first_sign: Event | None = None
    last_sign: Event | None = None
    finished: Event | None = None
    has_lines: bool = False  # of its own, not only what a launcher says of it

    @property
    def last_step(self) -> int | None:
        """The last step that its lines show."""
        step = self.last_sign.fields.get("step") if self.last_sign else None
        return step if isinstance(step, int) else None

    @property
    def activities(self) -> list[Event]:
        """What it began or ended doing, in order."""
        return [e for e in self.events if e.rule.tells in ("activity", "activity-end")]

    @property
    def phase(self) -> Event | None:
        """What it began last and is not known to have ended."""
        last = self.activities[-1:]
        return last[0] if last and last[0].rule.tells == "activity" else None

    @property
    def death(self) -> Event | None:
        """The witness that tells most of how it ended: an end of its own before one that its launcher brought about."""
        ends = [e for e in self.events if e.rule.tells in CERTIFICATES and e.role in FAILING]
        own = [e for e in ends if e.rule.tells != "signal-sent" and not is_terminated(e)]
        return next(iter(own or ends), None)

    def failures(self) -> list[Event]:
        """Yield its errors, in order."""
        return [e for e in self.events if e.role in FAILING]

    def failed_in_words(self) -> bool:
        """Whether it printed an error itself."""
        return any(e.rule.tells not in CERTIFICATES for e in self.failures())


def processes(events: Sequence[Event], sources: Sequence[SourceEvents], places: Places) -> dict[int, Process]:
    """Yield what is known of each rank that anything tells of, in order of ranks."""
    signs = [e for s in sources for pair in s.progress for e in pair if e.rank is not None]
    speaking = {*(p.rank for s in sources for p in s.speakers if p.rank is not None), *places.source_rank.values()}
    known = {*places.host_of, *places.local_of, *places.pid_of, *speaking}
    known.update(e.rank for e in chain(events, signs) if e.rank is not None)
    found = {rank: Process(rank) for rank in sorted(known)}
    for event in (e for e in events if e.rank is not None):
        process = found[event.rank or 0]
        process.events.append(event)
        process.finished = event if event.rule.tells == "finished" else process.finished
    for process in found.values():
        process.sources = tuple(dict.fromkeys(e.source for e in process.events))  # all files may tell of rank 0
    for sign in signs:
        if sign.source not in found[sign.rank or 0].sources:
            found[sign.rank or 0].sources += (sign.source,)
    for sign in sorted(signs, key=lambda e: (e.attempt, e.time or 0.0, e.line or 0)):
        process = found[sign.rank or 0]
        process.first_sign, process.last_sign = process.first_sign or sign, sign
    for rank, process in found.items():
        own = any(e.rule.tells not in CERTIFICATES for e in process.events)
        process.has_lines = rank in speaking or process.last_sign is not None or own
        process.host = places.host_of.get(rank) or next((e.host for e in process.events if e.host), None)
        process.local_rank, process.pid = places.local_of.get(rank), places.pid_of.get(rank)
        process.device = places.device_of.get(rank)
    return found
