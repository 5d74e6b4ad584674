"""What one source says: its `Event`s, with the lines, tracebacks and stacks that stand around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .prefixes import Line, Prefix
from .rule import Role, Rule
from .tracebacks import Traceback

if TYPE_CHECKING:
    from .stacks import StackDump


@dataclass(slots=True)
class Event:
    """One thing that one line (or block, or traceback) says. Who and when are as printed until `placement` is done."""

    rule: Rule
    cause: str | None
    role: Role
    source: str
    line: int | None
    end_line: int | None
    text: str  # the message, without prefixes
    raw: str  # the line as it stands in the file
    fields: dict[str, Any]
    prefix: Prefix
    speaker: str
    traceback: Traceback | None = None
    order: int = 0  # position in the source: the order where no clock tells
    rank: int | None = None
    rank_from: str = ""
    local_rank: int | None = None
    host: str | None = None
    host_from: str = ""
    pid: int | None = None
    attempt: int = 0
    time: float | None = None  # printed, seconds UTC, on the shared clock of the job
    onset: float | None = None  # when what it reports began
    onset_known: bool = True
    also_in: list[tuple[str, int | None]] = field(default_factory=list)

    @property
    def has_own_time(self) -> bool:
        """Whether the line prints its time; a time taken from a line above is only the earliest that it can be."""
        return self.prefix.stamp is not None or self.fields.get("time") is not None


@dataclass(slots=True)
class SourceEvents:
    """What one source says."""

    name: str
    kind: str
    events: list[Event]
    lines: list[Line]  # the kept lines, in order
    tracebacks: list[Traceback]
    stacks: list[StackDump]
    progress: dict[str, tuple[Event, Event]]
    capped: dict[tuple[str, str], int]  # (rule, speaker) -> at least so many hits
    tail: list[Line]
    head: list[Line]

    def all_events(self) -> Iterator[Event]:
        """Yield the events, and each speaker's first and last sign of life."""
        yield from self.events
        for first, last in self.progress.values():
            yield first
            if last is not first:
                yield last


def settle(events: list[Event]) -> list[Event]:
    """Drop what a harmless rule covers, catch-alls beside narrower rules, and doubles; sort by place."""
    harmless = {(e.line, e.raw) for e in events if e.role == "harmless"}
    narrow = {(e.line, e.raw) for e in events if not e.rule.generic and e.role in ("cause", "symptom", "confirmation")}
    kept: dict[tuple[str, int | None, str], Event] = {}
    for event in events:
        place = (event.line, event.raw)
        if event.role not in ("harmless", "context") and place in harmless:
            continue
        if event.rule.generic and place in narrow:
            continue
        kept.setdefault((event.rule.id, event.line, event.raw), event)
    return sorted(kept.values(), key=lambda e: (e.line or 0, e.rule.id))
