"""What was a rank doing when the others began to wait? Its last own phase decides the cause of the wait.

Its last word of that kind is where the wait began, and the first line of proof. An error that was caught and logged as a
warning is known to no rule; of the rank that the others wait for, or lose, it is often the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from ..catalogue.sentences import Sentence
from ..lines.lazy_pattern import lazy
from ..lines.prefix import Line
from ..lines.record import record
from .event import Event, Exhibit
from .job import Job, RankInfo

SLOW_STORAGE = ("saving", "loading")  # past the others' limit
LEFT = "leaving"  # its loop, before the planned end
STRAGGLER, DESYNC, SLOW = "collective.straggler", "collective.desync", "storage.slow-save"
NEAR = 8  # lines of the rank, from its last one: what it complained of before that did not stop it
ASKED_RANKS = 8  # whether they complain of the same
BARLESS = ("compiling", "waiting")  # activities that show no bar
_BAR = lazy(r"%\|[^|\n]{0,200}\| *[\d.,]+[kMG]?/([\d.,]+)")
_NUMBERS = lazy(r"\d+")
NATIVE = (".cpp:", ".cc:", ".h:", ".cu:")
NOT_DOING = ("SIGTERM", "NCCL INFO ", "Warning: ", *NATIVE)  # what a library says, or the end, is not what a rank was doing


@record
class Phase:
    """What a rank did last, and the cause that this makes of the others' wait."""

    name: str  # as `activity` of a rule; `done`, `stuck-watchdog`, `other-group`
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


def wait_for(phase: Phase | None) -> tuple[str, Sentence | None, tuple[Exhibit, ...]]:
    """Yield what a rank did last as the cause of a wait for it, in words, and where; else that of a straggler."""
    return (phase.cause, phase.says, (phase.exhibit,)) if phase is not None else (STRAGGLER, None, ())


def left_cause(ends: Iterable[Event]) -> str:
    """Yield why ranks were done first: they say that they stop early, else they had fewer batches."""
    return "process.early-exit" if all(e.rule.activity == LEFT for e in ends) else "data.uneven-inputs"


def last_phase(job: Job, info: RankInfo, before: Event) -> Phase | None:
    """Yield what the rank began last, and had not ended, when another one reported its wait; None where nothing tells.

    Lines of no rank speak for rank 0; those that one host alone has, for the one there that did not come.
    """
    unplaced = [e for e in job.telling("activity", "activity-end") if e.rank is None]
    if info.rank:
        elsewhere = {e.rule.id for e in unplaced if e.host != info.host}
        unplaced = [e for e in unplaced if info.host is not None and e.rule.id not in elsewhere and e.host == info.host]
    own = [e for e in (*info.events, *unplaced) if e.rule.tells in ("activity", "activity-end", "finished")]
    own = [e for e in own if e.source != before.source or (e.line or 0) < (before.line or 0)]
    last = max(own, key=lambda e: (e.time or 0.0, e.line or 0), default=None)
    return None if last is None or last.rule.tells == "activity-end" or _is_over(job, last) else phase_of(last)


def _is_over(job: Job, doing: Event) -> bool:
    """Whether steps stand below it: steps keep ranks together. A bar may be the activity's own unless it began above."""
    source, at = next(s for s in job.sources if s.name == doing.source), doing.line or 0
    for first, last in source.scan.opened().progress.values():
        if last.line > at:
            own = [x for x in source.lines({first.line, last.line}) if x.prefix.rank in (None, doing.rank)]
            totals = {x.number: bar[1] for x in own if (bar := _BAR.search(x.raw))}
            is_same = first.line < at and totals.get(first.line) == totals.get(last.line)
            is_step = last.line not in totals or is_same or doing.rule.activity in BARLESS
            if is_step and any(x.number == last.line for x in own):
                return True
    return False


def last_complaint(job: Job, info: RankInfo) -> tuple[Exhibit, ...]:
    """Yield the last warning or error of the program among the rank's last lines."""
    own = _complaints(job, [(s, x) for s, x in job.lines_of(info.rank) if x.message.strip()][-NEAR:])
    return (Exhibit.of_line(*own[-1], info.rank, info.host),) if own else ()


def first_complaint(job: Job, info: RankInfo) -> tuple[Exhibit, ...]:
    """Yield the first of all that are kept: why the rank, which went on, then did more or less than the others."""
    own = [(s, x) for s, x in _complaints(job, _lines_of(job, info.rank)) if info.rank or x.is_error]  # 0 warns for all
    others = [other for other in job.ranks if other != info.rank][:ASKED_RANKS]
    said = {_NUMBERS.sub("", x.message) for other in others for _, x in _lines_of(job, other)} if own else set()
    first = next(((s, x) for s, x in own if x.message.strip() and _NUMBERS.sub("", x.message) not in said), None)
    return (Exhibit.of_line(*first, info.rank, info.host),) if first is not None else ()


def _complaints(job: Job, lines: list[tuple[str, Line]]) -> list[tuple[str, Line]]:
    """Those that complain in words that no rule knows."""
    ours = (e for e in job.events if e.rule.tells or e.role == "harmless")
    known = {(e.source, n) for e in ours for n in range(e.line or 0, (e.end_line or e.line or 0) + 1)}
    own = (each for each in lines if not any(word in (each[1].prefix.origin or "") for word in NATIVE))
    return [(s, x) for s, x in own if (x.is_error or x.prefix.severity == "W") and (s, x.number) not in known]


def _lines_of(job: Job, rank: int) -> list[tuple[str, Line]]:
    """All kept lines of the rank's own log, else its last ones in what it shares with others."""
    own = [(s.name, x) for s in job.sources if job.places.source_rank.get(s.name) == rank for x in s.lines()]
    return own or job.lines_of(rank)


def last_doing(job: Job, info: RankInfo) -> tuple[Exhibit, ...]:
    """Yield the last line that tells what the rank did, above what it raised; its last sign of life where that is later."""
    raised = {e.source: e.traceback.line for e in reversed(info.failures()) if e.traceback is not None}
    lines = [(s, x) for s, x in job.lines_of(info.rank) if x.message.strip() and x.number < raised.get(s, x.number + 1)]
    before = [(s, x) for s, x in lines if not any(word in x.raw for word in NOT_DOING)]
    sign, own = info.last_sign, before[-1] if before else None
    # of its own log also what it does after its last step: `[rank2] running extended evaluation`
    has_own_log = sign is not None and job.places.source_rank.get(sign.source) == info.rank
    goes_on = has_own_log and sign is not None and own is not None and own[1].number > (sign.line or 0)
    if sign is not None and (own is None or (sign.source == own[0] and not goes_on)):
        return (Exhibit.of_event(sign),)
    return (Exhibit.of_line(*own, info.rank, info.host),) if own is not None else ()


def last_line(job: Job, info: RankInfo) -> tuple[Exhibit, ...]:
    """Yield the last line of all that the rank printed."""
    last = job.last_line_of(info.rank)
    return (Exhibit.of_line(*last, info.rank, info.host),) if last is not None else ()
