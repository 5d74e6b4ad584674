"""Per process group and rank: the stuck collective, its number, sizes, what was enqueued and completed.

From watchdog and status lines alone; the flight recorder, where there is one, tells more (`correlation.recorder`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import prod
from typing import Any

from ..job.event import Event
from ..job.job import Job

SAME_SIZE = ("ALLREDUCE", "BROADCAST")
BEGUN_S = 2.0  # a time-out is printed a moment after its limit
TELLING_NUMBER = 16  # small numbers come up in each group; that a large one does by chance is unlikely


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
    is_all: bool = False  # not one group, but all that the job reports together

    def at(self, seq: int | None) -> GroupTable:
        """Yield those alone that are stuck at this number."""
        return GroupTable(self.group, {r: s for r, s in self.stuck.items() if s.seq == seq}, self.is_all)

    def majority(self, field: str) -> Any:
        """Yield the most frequent value of a field over the ranks (the smallest of equals)."""
        values = Counter(v for s in self.stuck.values() if (v := getattr(s, field)) is not None)
        return min(values, key=lambda v: (-values[v], str(v))) if values else None


def collective_tables(job: Job) -> list[GroupTable]:
    """Yield a table per process group, the one with most ranks first; nobody may change them."""
    return job.once(_tables)


def _tables(job: Job) -> list[GroupTable]:
    groups = _Groups(job)
    tables: dict[str, dict[int, Stuck]] = defaultdict(dict)
    ended = _told_to_end(job)
    for event in job.telling("collective-timeout"):
        if event.rank is None or any(_began_after(event, end) for end in ended.get(event.rank, ())):
            continue
        group = groups.of(event)
        known = tables[group].get(event.rank)
        if known is None or _is_earlier(event, known.event):
            tables[group][event.rank] = _stuck(event, group)
    for event in job.telling("collective-status"):
        _add_status(tables, event)
    tables_list = [GroupTable(g, dict(sorted(stuck.items()))) for g, stuck in tables.items() if stuck]
    return sorted(tables_list, key=lambda t: (-len(t.stuck), t.group))


def _told_to_end(job: Job) -> dict[int, list[Event]]:
    """By rank, the signals that it says it received: what it waits for from then on is part of its end."""
    received: dict[int, list[Event]] = defaultdict(list)
    for event in job.telling("signal-received"):
        if event.rank is not None:
            received[event.rank].append(event)
    return received


def _began_after(wait: Event, end: Event) -> bool:
    """Whether the wait began once the rank had been told to end, as far as clocks or lines can tell."""
    if wait.onset is not None and end.time is not None and wait.has_own_time and end.has_own_time:
        return wait.onset > end.time - BEGUN_S
    return wait.source == end.source and (wait.line or 0) > (end.line or 0)


def _is_earlier(a: Event, b: Event) -> bool:
    """Of several reports of a rank the first in its file: later ones follow from it."""
    if a.source == b.source:
        return (a.line or 0) < (b.line or 0)
    return (a.onset or a.time or 0.0) < (b.onset or b.time or 0.0)


def _stuck(event: Event, group: str) -> Stuck:
    f = event.fields
    numel_in = f.get("numel_in") if f.get("numel_in") is not None else _numel(f.get("op"), f.get("shape"))
    return Stuck(event.rank or 0, group, event, f.get("seq"), f.get("op"), numel_in, f.get("numel_out"))


def _numel(op: Any, shape: Any) -> int | None:
    """How many elements a tensor of this shape has: PyTorch 2.0 prints that of the output."""
    return prod(int(n) for n in shape.split(",")) if shape and op in SAME_SIZE else None


class _Groups:
    """Which group a collective's number belongs to, from status lines: they name it, watchdog lines often do not."""

    def __init__(self, job: Job) -> None:
        self._of_rank: dict[tuple[int, int], str] = {}  # by rank and number
        self._at_number: dict[int, set[str]] = defaultdict(set)
        for event in job.telling("collective-status"):
            seq, pg = event.fields.get("seq"), event.fields.get("pg")
            if event.rank is not None and isinstance(seq, int) and pg is not None:
                self._at_number[seq].add(self._of_rank.setdefault((event.rank, seq), str(pg)))

    def of(self, event: Event) -> str:
        """Yield the group in which a rank waits; empty where nothing tells."""
        pg, seq = event.fields.get("pg"), event.fields.get("seq")
        if pg is not None:
            return str(pg)
        if not isinstance(seq, int):
            return ""
        return self._of_rank.get((event.rank or 0, seq)) or self._only_one_at(seq)

    def _only_one_at(self, seq: int) -> str:
        """The group that other ranks name for this number, where the rank's own status line is not there."""
        named = self._at_number.get(seq, ())
        return next(iter(named)) if len(named) == 1 and seq >= TELLING_NUMBER else ""


def _add_status(tables: dict[str, dict[int, Stuck]], event: Event) -> None:
    f = event.fields
    for stuck in (t.get(event.rank or 0) for t in tables.values()) if event.rank is not None else ():
        if stuck is None or stuck.enqueued is not None:
            continue
        same_number = f.get("seq") is None or stuck.seq is None or f["seq"] == stuck.seq
        same_group = f.get("pg") is None or stuck.group in ("", str(f["pg"]))
        if same_number and same_group:
            stuck.enqueued, stuck.completed = f.get("last_enqueued"), f.get("last_completed")


def describe(table: GroupTable) -> str:
    """Yield which collective most are stuck in, in words."""
    op, seq = table.majority("op"), table.majority("seq")
    if seq is None:  # Gloo names no collective: its ring has ranks that send and ranks that receive
        op = " or ".join(sorted({s.op for s in table.stuck.values() if s.op}))
    number = f" number {seq}" if seq is not None else ""
    is_scalar = op == "ALLREDUCE" and table.majority("numel_in") == 1
    what = " (of one element: a barrier, a loss or a gradient norm)" if is_scalar else ""
    return f"{op or 'a collective'}{number}{what}"
