"""Per process group and rank: the stuck collective, its number, sizes, what was enqueued and completed, and who called it.

From watchdog and status lines; Gloo's time-outs and lost peers are exceptions, whose tracebacks show the program's call.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from ..catalogue.sentences import Sentence
from ..traces.traceback import Link
from ..traces.traceback_lines import is_library
from .event import Event
from .job import Job

SAME_SIZE = ("ALLREDUCE", "BROADCAST")
WRAPPERS = ("wrapper", "decorator", "inner", "__call__", "_fn")
WAITS = ("collective-timeout", "peer-lost")


@dataclass(slots=True)
class Stuck:
    """The first collective of one group that one rank reports as not finished."""

    rank: int
    group: str
    event: Event
    seq: int | None = None
    op: str | None = None
    numel_in: int | None = None
    numel_out: int | None = None
    enqueued: int | None = None
    completed: int | None = None


@dataclass(slots=True)
class GroupTable:
    """One process group: who is stuck where."""

    group: str
    stuck: dict[int, Stuck]

    def majority(self, field: str) -> Any:
        """Yield the most frequent value of a field over the ranks (the smallest of equals)."""
        values = Counter(v for s in self.stuck.values() if (v := getattr(s, field)) is not None)
        return min(values, key=lambda v: (-values[v], str(v))) if values else None

    def is_one_group(self) -> bool:
        """Whether no two of its ranks have the same number in their group, as those of several groups have."""
        numbers = [n for s in self.stuck.values() if (n := s.event.fields.get("group_rank")) is not None]
        return len(numbers) == len(set(numbers))

    def first(self) -> Stuck:
        """Yield the report that was printed first."""
        return min(self.stuck.values(), key=lambda s: (s.event.time or 0.0, s.event.source, s.event.line or 0))

    def numbers(self) -> list[int]:
        """Yield the numbers at which its ranks wait, in order."""
        return sorted({s.seq for s in self.stuck.values() if s.seq is not None})


def collective_tables(job: Job) -> list[GroupTable]:
    """Yield a table per process group, the one with most ranks first; nobody may change them."""
    return job.once(_tables)


def _tables(job: Job) -> list[GroupTable]:
    # by rank and number, the group that status lines name: watchdog lines often do not
    told = [(e.rank, e.fields.get("seq"), e.fields.get("pg")) for e in reversed(job.telling("collective-status"))]
    named = {(rank, seq): str(pg) for rank, seq, pg in told if seq is not None and pg is not None}
    tables: dict[str, dict[int, Stuck]] = defaultdict(dict)
    for event in (e for e in job.telling("collective-timeout") if e.rank is not None):
        rank, pg, seq = event.rank or 0, event.fields.get("pg"), event.fields.get("seq")
        group = str(pg) if pg is not None else named.get((event.rank, seq), "")
        known = tables[group].setdefault(rank, _stuck(event, rank, group))
        if known.event.source == event.source and (known.event.line or 0) > (event.line or 0):
            tables[group][rank] = _stuck(event, rank, group)  # later ones follow from the first in its file
    for event in job.telling("collective-status"):
        _add_status(tables, event)
    tables_list = [GroupTable(g, dict(sorted(stuck.items()))) for g, stuck in tables.items() if stuck]
    return sorted(tables_list, key=lambda t: (-len(t.stuck), t.group))


def _stuck(event: Event, rank: int, group: str) -> Stuck:
    f = event.fields
    numel_in = f.get("numel_in")
    if numel_in is None and f.get("shape") and f.get("op") in SAME_SIZE:  # PyTorch 2.0 prints the shape of the output
        numel_in = prod(int(n) for n in f["shape"].split(","))
    return Stuck(rank, group, event, f.get("seq"), f.get("op"), numel_in, f.get("numel_out"))


def _add_status(tables: dict[str, dict[int, Stuck]], event: Event) -> None:
    f = event.fields
    for stuck in (t.get(event.rank) for t in tables.values()) if event.rank is not None else ():
        if stuck is None or stuck.enqueued is not None:
            continue
        same_number = f.get("seq") is None or stuck.seq is None or f["seq"] == stuck.seq
        if same_number and is_of_group(event, stuck.group):
            stuck.enqueued, stuck.completed = f.get("last_enqueued"), f.get("last_completed")


def is_of_group(status: Event, group: str) -> bool:
    """Whether a status line may be about this group."""
    pg = status.fields.get("pg")
    return pg is None or group in ("", str(pg))


def never_issued(job: Job, table: GroupTable) -> dict[int, Event]:
    """Yield the ranks whose own status says that they never came to what the others wait in, each with that line."""
    seq = table.majority("seq")
    told = [e for e in job.telling("collective-status") if e.rank is not None and is_of_group(e, table.group)]
    last = {e.rank: e for e in told if isinstance(e.fields.get("last_enqueued"), int)}
    return {r: e for r, e in last.items() if r is not None and isinstance(seq, int) and e.fields["last_enqueued"] < seq}


def describe(table: GroupTable) -> Sentence:
    """Yield in which collective these ranks are stuck, and at which number or numbers."""
    op, numbers = table.majority("op"), table.numbers()
    if not numbers:  # Gloo names no collective: its ring has ranks that send and ranks that receive
        ops = sorted({s.op for s in table.stuck.values() if s.op})
        return Sentence("collective", {"op": "/".join(ops) or None})
    is_scalar = op == "ALLREDUCE" and table.majority("numel_in") == 1
    return Sentence("collective", {"op": op, "numbers": numbers, "is_scalar": is_scalar})


class Call(NamedTuple):
    """The operation, and the program's own line that called it."""

    operation: str
    place: str


Waits = dict[int, tuple[Event, Call]]


def find_waits(job: Job, tells: str) -> Waits:
    """Yield for each rank what it says of the kind (a time-out, a lost peer) and the call that it was in."""
    return {e.rank: (e, call) for e in job.telling(tells) if e.rank is not None and (call := _call(e)) is not None}


def find_who_gave_up(job: Job) -> set[int]:
    """Who lost a peer in the very call in which others waited in vain: it waited with them, until one of them left."""
    places = {call.place for _, call in find_waits(job, "collective-timeout").values()}
    return {rank for rank, (_, call) in find_waits(job, "peer-lost").items() if call.place in places}


def find_elsewhere(job: Job) -> set[int]:
    """Who lost a peer in another operation than all that others waited for in vain: who is late would come to theirs."""
    waited = {call.operation for _, call in find_waits(job, "collective-timeout").values()}
    lost = {rank for rank, (_, call) in find_waits(job, "peer-lost").items() if call.operation not in waited}
    return lost if waited else set()


def _call(event: Event) -> Call | None:
    """The collective that a traceback ends in: the first call of a library below the program's own innermost line."""
    frames = event.traceback.frames if event.traceback is not None else ()
    own = max((n for n, frame in enumerate(frames) if not is_library(frame.file)), default=-1)
    below = [frame.function for frame in frames[own + 1 :] if frame.function not in WRAPPERS]
    if own < 0 or not below:
        return None
    file = frames[own].file.replace("\\", "/").rpartition("/")[2]
    return Call(below[0].rpartition(".")[2], f"{file}:{frames[own].line}")


def find_handled(job: Job) -> list[tuple[Event, Link]]:
    """Yield, of each rank that gave up while it handled an exception of its own, what it said and that exception.

    Where all that gave up handled the same, it is how the program is written, and tells nothing.
    """
    return job.once(_all_handled)


def _all_handled(job: Job) -> list[tuple[Event, Link]]:
    ends = {e.rank: e for e in job.telling(*WAITS) if e.rank is not None and e.traceback}
    found = [(e, link) for e in ends.values() if (link := _handled(job, e)) is not None]
    return found if len(found) < max(len(ends), 2) else []


def _handled(job: Job, event: Event) -> Link | None:
    """The exception of the program, known to no rule, during whose handling the last one was raised."""
    link = event.traceback.handled_above(event.line or 0) if event.traceback is not None else None
    if link is None or not link.frames or is_library(link.frames[0].file):
        return None
    is_known = any(e.line == link.exception_line and e.source == event.source for e in job.events)
    return None if is_known else link
