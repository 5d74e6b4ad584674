"""What was a rank doing when the others began to wait? Its last own phase decides the cause of the wait.

A rank that does not come has left its loop, saves, evaluates, waits for a lock, or stands in another group's collective.
Its last word of that kind is where the wait began, and the first line of proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from ..catalogue.sentences import Sentence
from ..lines.record import record
from .event import Event
from .exhibit import Exhibit
from .job import Job, RankInfo
from .stacks import innermost_line, placed_stacks, standing_of

SLOW_STORAGE = ("saving", "loading", "save")  # past the others' limit
LEFT = "leaving"  # its loop, before the planned end
STRAGGLER, DESYNC, SLOW = "collective.straggler", "collective.desync", "storage.slow-save"
BAR = "%|"


@record
class Phase:
    """What a rank did last, and the cause that this makes of the others' wait."""

    name: str  # as `activity` of a rule; `done`, `stuck-watchdog`, `other-group`, `elsewhere`
    cause: str
    exhibit: Exhibit
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def says(self) -> Sentence:
        """Yield it in words, such as `was saving`."""
        return Sentence(f"phase.{self.name}", self.fields)


def phase_of(event: Event) -> Phase:
    """Yield what an event of a rank's own makes of a wait for that rank."""
    tells, activity, shown = event.rule.tells, event.rule.activity, Exhibit.of_event(event)
    if tells == "finished":
        return Phase("done", left_cause([event]), shown, event.fields)
    if tells == "heartbeat":
        return Phase("stuck-watchdog", event.cause or STRAGGLER, shown, event.fields)
    if tells == "collective-timeout":
        return Phase("other-group", DESYNC, shown, event.fields)
    return Phase(activity or "busy", SLOW if activity in SLOW_STORAGE else STRAGGLER, shown, event.fields)


def left_cause(ends: Iterable[Event]) -> str:
    """Yield why ranks were done first: they say that they stop early, else they had fewer batches."""
    return "process.early-exit" if all(e.rule.activity == LEFT for e in ends) else "data.uneven-inputs"


def stack_phase(job: Job, rank: int, *, is_late: bool) -> Phase | None:
    """Yield where the rank's stack stands; of one that is late for a collective, another one is of another group."""
    own = [p for p in placed_stacks(job) if p.label == rank and p.dump.is_live]
    standing = standing_of(own[-1]) if own else None
    if standing is None or (standing.kind == "collective" and not is_late):
        return None
    shown = Exhibit(own[-1].source, *innermost_line(job, own[-1]), rank)
    if standing.kind == "collective":
        return Phase("other-group", DESYNC, shown, {"op": standing.frame.function if standing.frame else None})
    return Phase("elsewhere", SLOW if standing.kind in SLOW_STORAGE else STRAGGLER, shown, {"where": shown.text.strip()})


def last_phase(job: Job, info: RankInfo, before: Event) -> Phase | None:
    """Yield what the rank began last, and had not ended, when another one reported its wait; None where nothing tells.

    Lines of no rank speak for rank 0; those that one host alone has, for the one there that did not come.
    """
    own = [e for e in (*info.events, *_unplaced(job, info)) if e.rule.tells in ("activity", "activity-end", "finished")]
    own = [e for e in own if e.source != before.source or (e.line or 0) < (before.line or 0)]
    last = max(own, key=lambda e: (e.time or 0.0, e.line or 0), default=None)
    if last is None or last.rule.tells == "activity-end" or _is_over(job, info, last):
        return None
    finished = sum(i.finished is not None for i in job.ranks.values())
    return None if last.rule.tells == "finished" and 2 * finished > len(job.ranks) else phase_of(last)


def _is_over(job: Job, info: RankInfo, doing: Event) -> bool:
    """Whether a step stands below it: steps keep ranks together. A bar may be that of the activity itself."""
    if doing.rank is not None:
        sign = info.last_sign
        is_below = sign is not None and sign.source == doing.source and (sign.line or 0) > (doing.line or 0)
        return is_below and sign is not None and BAR not in sign.raw
    source = next(s for s in job.sources if s.name == doing.source)
    number = source.last_sign_line or 0
    return number > (doing.line or 0) and any(x.prefix.rank is None and BAR not in x.raw for x in source.lines_at(number))


def _unplaced(job: Job, info: RankInfo) -> list[Event]:
    unplaced = [e for e in job.telling("activity", "activity-end") if e.rank is None]
    if not info.rank:
        return unplaced
    elsewhere = {e.rule.id for e in unplaced if e.host != info.host}
    return [e for e in unplaced if info.host is not None and e.rule.id not in elsewhere and e.host == info.host]
