"""What happened in order, and the attempts of the job: the same thing on many ranks is one entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ..advice.statement import Evidence
from ..job.clock import SAME_CLOCK_S
from ..job.event import FAILING, Event, Exhibit
from ..job.job import Job
from ..lines.record import record
from ..verdict.decision import Verdict
from .evidence import Exhibitor, show_time
from .losers import summed_up
from .parts import Attempt, Culprit, TimelineEntry
from .translation import Translator

MAX_TIMELINE = 60
EARLIEST, LATEST = "earliest", "latest"
SHORT_S = 1.0  # a wait or a phase of less is not worth a remark
SHOWN_TELLS = ("attempt", "finished", "activity", "killed")


# --- times that are only bounds -----------------------------------------------------------------------------------


def bounded_times(job: Job) -> Mapping[int, str]:
    """Yield, by the identity of an event, whether its time is the earliest or the latest that it can be.

    A line that prints no time has that of a line near it. A watchdog says how long it had waited: without a clock of its
    own its report was printed long after the line above. What stands above the first clock of a file was printed before.
    """
    by_source: dict[str, list[Event]] = defaultdict(list)
    for event in job.events:
        by_source[event.source].append(event)
    found: dict[int, str] = {}
    for events in by_source.values():
        found |= _of_source(sorted(events, key=lambda e: e.line or 0))
    return found


def _of_source(events: list[Event]) -> dict[int, str]:
    found: dict[int, str] = {}
    behind = None  # the clock behind which a process waited
    for event in events:
        if event.has_own_time:
            behind = None
        if not _takes_its_time(event):
            continue
        if event.near_is_below:
            found[id(event)] = LATEST
        elif event.rule.onset not in (None, "unknown") or (behind is not None and behind == event.near):
            found[id(event)], behind = EARLIEST, event.near
    return found


def _takes_its_time(event: Event) -> bool:
    """Whether its time is that of another line."""
    is_told = event.has_own_time or event.timed_by_copy
    return event.time is not None and event.near is not None and not is_told


# --- the timeline -------------------------------------------------------------------------------------------------


@record
class _Context:
    """What every entry needs."""

    job: Job
    translator: Translator
    bounds: Mapping[int, str]
    begin: float  # the first moment, seconds UTC
    late: frozenset[int]  # events of the root that are printed after what it brought about, by identity
    earlier: frozenset[int]  # events of attempts before the last one, by identity


def timeline_rows(
    job: Job, verdict: Verdict, translator: Translator, bounds: Mapping[int, str]
) -> tuple[TimelineEntry, ...]:
    """Yield what happened in order, the same thing on many ranks folded into one entry."""
    folded: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    shown = [e for e in job.events if e.role in FAILING or e.rule.tells in SHOWN_TELLS]
    shown = _each_line_once(shown, verdict)
    for event in _by_time(shown):
        moment = event.time
        minute = None if moment is None else int(moment // 60)
        folded[event.rule.id, minute, event.attempt, bounds.get(id(event))].append(event)
    begin = min((moment for e in shown if (moment := e.time) is not None), default=0.0)
    earlier = frozenset(id(e) for e in job.earlier)
    groups, late = _root_first(list(folded.values()), verdict, bounds, earlier)
    moved = {id(groups[i][0]): LATEST for i in range(len(groups) - 1) if _is_out_of_order(*groups[i : i + 2])}
    context = _Context(job, translator, {**moved, **bounds}, begin, late, earlier)
    return tuple(_entry(events, context) for events in groups[:MAX_TIMELINE])


def _root_first(
    groups: list[list[Event]], verdict: Verdict, bounds: Mapping[int, str], earlier: frozenset[int]
) -> tuple[list[list[Event]], frozenset[int]]:
    """Yield the entries with the root above what it brought about, and the root's events that stay below it.

    A root that has no time of its own, or one of the same seconds as a launcher's report, is moved up; another was
    printed late.
    """
    followed = {c.cause for c in verdict.candidates if c.explained_by} | summed_up(e for g in groups for e in g)
    roots = {id(e) for c in verdict.roots for e in c.events}
    if any(g[0].time is None for g in groups):  # then a summary's time, often the only one, does not make it the first
        groups = sorted(groups, key=lambda g: g[0].rule.teller == "box")
    follows = (i for i, g in enumerate(groups) if g[0].cause in followed - {verdict.cause} and id(g[0]) not in earlier)
    first = next(follows, len(groups))
    if any(id(e) in roots for g in groups[:first] for e in g):
        return groups, frozenset()
    below = [g for g in groups[first:] if any(id(e) in roots for e in g)]
    late = {id(e) for g in below for e in g if _is_firmly_after(g[0], groups[first][0], bounds)}
    moved = [g for g in below if id(g[0]) not in late]
    rest = [g for g in groups[first:] if not any(g is m for m in moved)]
    return [*groups[:first], *moved, *rest], frozenset(late & roots)


def _is_firmly_after(root: Event, effect: Event, bounds: Mapping[int, str]) -> bool:
    """Whether both have times of their own that cannot be the same moment."""
    if root.time is None or effect.time is None or id(root) in bounds or id(effect) in bounds:
        return False
    return root.time > effect.time + SAME_CLOCK_S


def _is_out_of_order(group: Sequence[Event], below: Sequence[Event]) -> bool:
    """Whether it is printed after what stands below it, and so happened at that time at the latest."""
    return group[0].time is not None and below[0].time is not None and group[0].time > below[0].time


def _entry(events: list[Event], context: _Context) -> TimelineEntry:
    first, job = events[0], context.job
    hosts = {e.host for e in events}
    return TimelineEntry(
        time=show_time(job, first.time),
        ranks=tuple(sorted({e.rank for e in events if e.rank is not None})),
        host=first.host if len(hosts) == 1 else None,
        layer=(first.cause or first.rule.id).partition(".")[0],
        cause=first.cause,
        rule=first.rule.id,
        text=context.translator.title(first.rule),
        ref=f"{first.source}:{first.line}",
        after_s=None if first.time is None else round(first.time - context.begin, 3),
        time_is=context.bounds.get(id(first), ""),
        attempt=first.attempt if id(first) in context.earlier else None,
        **_span(first, context),
    )


def _span(event: Event, context: _Context) -> dict[str, Any]:
    """How long it took: of a timeout the wait before it, of an activity the time to its end."""
    job, moment = context.job, event.time
    if moment is None:
        return {}
    if event.onset is not None and event.role in FAILING and event.rule.onset and moment - event.onset >= SHORT_S:
        return {"since": show_time(job, event.onset), "waited_s": round(moment - event.onset, 3)}
    if event.rule.tells == "activity":
        ends = (e.time for e in job.telling("activity-end") if e.rank == event.rank and e.time is not None)
        return {"until": show_time(job, min((end for end in ends if end >= moment + SHORT_S), default=None))}
    return {"is_late": id(event) in context.late}


def _each_line_once(events: Sequence[Event], verdict: Verdict) -> list[Event]:
    """Of what several rules say of one line: what the verdict rests on, else what comes first of each cause."""
    roots = {id(e) for s in verdict.roots for e in s.events}
    rooted = {(e.source, e.line) for s in verdict.roots for e in s.events}
    told: set[tuple[str, int | None, str | None]] = set()
    kept = set()
    for event in sorted(events, key=lambda e: id(e) not in roots):
        place = (event.source, event.line, event.cause)
        if place in told or (id(event) not in roots and (event.source, event.line) in rooted):
            continue
        told.add(place)
        kept.add(id(event))
    return [e for e in events if id(e) in kept]


def _by_time(events: Sequence[Event]) -> list[Event]:
    """Those with a time by it, the others where they stand: one seen in two files has its time from either."""
    dated = (e for e in events if e.time is not None)
    timed = iter(sorted(dated, key=lambda e: (e.time or 0.0, e.role != "cause")))  # launchers print whole seconds
    return [e if e.time is None else next(timed) for e in events]


# --- attempts -----------------------------------------------------------------------------------------------------


def attempt_rows(job: Job, proof: Sequence[Evidence], show: Exhibitor) -> tuple[Attempt, ...]:
    """Yield one row per attempt where there was more than one; that of the verdict with what proves it."""
    if not job.earlier and job.attempt == 0:
        return ()
    by_attempt: dict[int, list[Event]] = defaultdict(list)
    for event in job.events:
        by_attempt[event.attempt].append(event)
    places = {(x.file, x.line) for x in proof[:1]}
    rows = [_attempt(n, events, _why_it_failed(events, places), job, show) for n, events in sorted(by_attempt.items())]
    return tuple(rows) if len(rows) > 1 else ()  # one row would say again what the verdict says


def _attempt(n: int, events: Sequence[Event], first: Event | None, job: Job, show: Exhibitor) -> Attempt:
    times = [e.time for e in events if e.time is not None and e.has_own_time]
    return Attempt(
        n,
        show_time(job, min(times)) if times else None,
        show_time(job, max(times)) if times else None,
        "failed" if first else "unfinished",
        first.cause if first else None,
        (Culprit(first.rank, first.host),) if first and first.rank is not None else (),
        (show.evidence(Exhibit.of_event(first)),) if first else (),
    )


def _why_it_failed(events: Sequence[Event], proof: set[tuple[str, int | None]]) -> Event | None:
    """Return what proves the verdict, or what states a cause, or the first failure of this attempt.

    That a process ended, or that others lost it, is shown where nothing else is told.
    Of failures that a library logs of a connection, the exception in which the same rank ended says it in one line.
    """
    failures = [e for e in events if e.role in FAILING]
    for follows in ("exit", "peer-lost"):
        failures = [e for e in failures if e.rule.tells != follows] or failures
    proven = [e for e in failures if (e.source, e.line) in proof]
    causes = [e for e in proven or failures if e.role == "cause"]
    if causes or proven or not failures:
        return next(iter(causes or proven), None)
    first = failures[0]
    ends = (e for e in failures if e.traceback is not None and e.rank is not None and e.rank == first.rank)
    return next((e for e in ends if _layer(e) == _layer(first)), first)


def _layer(event: Event) -> str:
    return (event.cause or "").partition(".")[0]
