"""What was a rank doing when the others began to wait? Its last own phase decides the cause of the wait.

A rank that does not come has left its loop, saves, evaluates, waits for a lock, or stands in another group's collective.
Its last word of that kind is where the wait began, and the first line of proof.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..catalogue.sentences import Sentence
from ..lines.record import record
from .event import Event
from .job import Job, RankInfo

SLOW_STORAGE = ("saving", "loading")  # past the others' limit
LEFT = "leaving"  # its loop, before the planned end
STRAGGLER = "collective.straggler"


@record
class Phase:
    """What a rank did last, and the cause that this makes of the others' wait."""

    event: Event
    name: str  # as `activity` of a rule; `done`, `stuck-watchdog`, `other-group`
    cause: str

    @property
    def says(self) -> Sentence:
        """Yield it in words, such as `was saving`."""
        return Sentence(f"phase.{self.name}", self.event.fields)


def phase_of(event: Event) -> Phase:
    """Yield what an event of a rank's own makes of a wait for that rank."""
    tells, activity = event.rule.tells, event.rule.activity
    if tells == "finished":
        return Phase(event, "done", left_cause([event]))
    if tells == "heartbeat":
        return Phase(event, "stuck-watchdog", event.cause or STRAGGLER)
    if tells == "collective-timeout":
        return Phase(event, "other-group", "collective.desync")
    cause = "storage.slow-save" if activity in SLOW_STORAGE else STRAGGLER
    return Phase(event, activity or "busy", cause)


def left_cause(ends: Iterable[Event]) -> str:
    """Yield why ranks were done first: they say that they stop early, else they had fewer batches."""
    return "process.early-exit" if all(e.rule.activity == LEFT for e in ends) else "data.uneven-inputs"


def last_phase(job: Job, info: RankInfo, before: Event) -> Phase | None:
    """Yield what the rank began last, and had not ended, when another one reported its wait; None where nothing tells.

    Lines of no rank speak for rank 0; those that one host alone has, for the one there that did not come.
    """
    own = [e for e in (*info.events, *_unplaced(job, info)) if e.rule.tells in ("activity", "activity-end", "finished")]
    own = [e for e in own if e.source != before.source or (e.line or 0) < (before.line or 0)]
    last = max(own, key=lambda e: (e.time or 0.0, e.line or 0), default=None)
    if last is None or last.rule.tells == "activity-end":
        return None
    return phase_of(last)


def _unplaced(job: Job, info: RankInfo) -> list[Event]:
    unplaced = [e for e in job.telling("activity", "activity-end") if e.rank is None]
    if not info.rank:
        return unplaced
    elsewhere = {e.rule.id for e in unplaced if e.host != info.host}
    return [e for e in unplaced if info.host is not None and e.rule.id not in elsewhere and e.host == info.host]
