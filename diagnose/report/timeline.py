"""What happened in order, what lost against the verdict (its consequences, other causes), and the attempts of the job."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from ..advice.statement import Evidence
from ..catalogue.load import Catalogue
from ..job.clock import SAME_CLOCK_S
from ..job.event import FAILING, Event, Exhibit
from ..job.job import Job
from ..lines.record import record
from ..verdict.candidate import Candidate
from ..verdict.decision import Verdict
from .evidence import Exhibitor, show_time
from .parts import Alternative, Attempt, Culprit, Link, Symptom, TimelineEntry
from .phrases import FROM_OUTSIDE
from .translation import Translator

MAX_ALTERNATIVES = 6
MAX_TIMELINE = 60
EARLIEST, LATEST = "earliest", "latest"
PAUSE_S = 60.0  # what other ranks say after so long is an entry of its own
SHORT_S = 1.0  # a wait or a phase of less is not worth a remark
SHOWN_TELLS = ("attempt", "finished", "activity", "killed")


def bounded_times(job: Job) -> Mapping[Event, str]:
    """Yield the events whose time is the earliest or the latest that it can be, and which.

    A line that prints no time has that of a line near it: a watchdog's report of a wait was printed long after the line
    above, what stands above the first clock of a file before that.
    """
    by_source: dict[str, list[Event]] = defaultdict(list)
    for event in job.events:
        by_source[event.source].append(event)
    found: dict[Event, str] = {}
    for events in by_source.values():
        behind = None  # the clock behind which a process waited
        for event in sorted(events, key=lambda e: e.line or 0):
            behind = None if event.has_own_time else behind
            if event.has_own_time or event.timed_by_copy or event.time is None or event.near is None:
                continue
            if event.near_is_below:
                found[event] = LATEST
            elif event.rule.onset not in (None, "unknown") or behind == event.near:
                found[event], behind = EARLIEST, event.near
    return found


@record
class _Context:
    """What every entry needs."""

    show: Exhibitor
    bounds: Mapping[Event, str]
    begin: float  # the first moment, seconds UTC
    late: set[Event]  # events of the root that are printed after what it brought about
    earlier: set[Event]  # events of attempts before the last one


def timeline_rows(show: Exhibitor) -> tuple[TimelineEntry, ...]:
    """Yield what happened in order, the same thing on many ranks folded into one entry."""
    job, verdict, bounds = show.job, show.verdict, show.job.once(bounded_times)
    shown = [e for e in job.events if e.role in FAILING or e.rule.tells in SHOWN_TELLS]
    told = _each_line_once(shown, verdict)
    # Those with a time by it, the others where they stand; of one second the cause first, as launchers print whole ones.
    timed = iter(sorted((e for e in told if e.time is not None), key=lambda e: (e.time or 0.0, e.role != "cause")))
    entries: list[list[Event]] = []
    latest: dict[tuple[object, ...], list[Event]] = {}
    for event in (e if e.time is None else next(timed) for e in told):
        key = (event.rule.id, event.attempt, bounds.get(event), event.time is None)
        group = latest.get(key)
        # an error goes on as long as anybody repeats it; a save that begins a minute later is another one
        if group is None or (event.time or 0.0) - (group[-1 if event.role in FAILING else 0].time or 0.0) > PAUSE_S:
            entries.append(group := [])
        latest[key] = group
        group.append(event)
    begin = min((e.time for e in shown if e.time is not None), default=0.0)
    groups, late = _root_first(entries, show)
    # What is printed after what stands below it happened at that time at the latest.
    moved = {g[0]: LATEST for g, below in pairwise(groups) if (g[0].time or 0) > (below[0].time or math.inf)}
    context = _Context(show, {**moved, **bounds}, begin, late, set(job.earlier))
    return tuple(_entry(events, context) for events in groups[:MAX_TIMELINE])


def _root_first(groups: list[list[Event]], show: Exhibitor) -> tuple[list[list[Event]], set[Event]]:
    """Yield the entries with the root above what it brought about, and its events that were firmly printed later."""
    verdict, bounds, earlier = show.verdict, show.job.once(bounded_times), set(show.job.earlier)
    followed = {c.cause for c in verdict.candidates if c.explained_by} | summed_up(e for g in groups for e in g)
    roots = rooted(verdict)[0]
    if any(g[0].time is None for g in groups):  # then a summary's time, often the only one, does not make it the first
        groups = sorted(groups, key=lambda g: g[0].rule.teller == "box")
    follows = (i for i, g in enumerate(groups) if g[0].cause in followed - {verdict.cause} and g[0] not in earlier)
    first = next(follows, len(groups))
    above, rest = groups[:first], groups[first:]
    if any(roots.intersection(g) for g in above):
        return groups, set()
    below = [g for g in rest if roots.intersection(g)]
    effect = rest[0][0] if rest else None
    effect_s = math.inf if effect is None or effect in bounds else (effect.time or math.inf) + SAME_CLOCK_S
    late = [g for g in below if g[0] not in bounds and (g[0].time or 0.0) > effect_s]
    moved = [g for g in below if g not in late]
    return [*above, *moved, *(g for g in rest if g not in moved)], roots.intersection(g[0] for g in late)


def _entry(events: list[Event], context: _Context) -> TimelineEntry:
    first, job = events[0], context.show.job
    hosts = {e.host for e in events}
    return TimelineEntry(
        time=show_time(job, first.time),
        ranks=tuple(sorted({e.rank for e in events if e.rank is not None})),
        host=first.host if len(hosts) == 1 else None,
        layer=(first.cause or first.rule.id).partition(".")[0],
        cause=first.cause,
        rule=first.rule.id,
        text=context.show.translator.title(first.rule),
        ref=f"{first.source}:{first.line}",
        after_s=None if first.time is None else round(first.time - context.begin, 3),
        time_is=context.bounds.get(first, ""),
        attempt=first.attempt if first in context.earlier else None,
        **_span(events, context),
    )


def _span(events: list[Event], context: _Context) -> dict[str, Any]:
    """How long it took: of a timeout the wait before it, of an activity the time to its end, or until the last rank."""
    job, event, moment = context.show.job, events[0], events[0].time
    if moment is None:
        return {}
    waited_ms = event.fields.get(event.rule.onset or "") if event.role in FAILING else None
    if isinstance(waited_ms, int | float) and waited_ms >= SHORT_S * 1000:
        return {"since": show_time(job, event.onset), "waited_s": round(waited_ms / 1000, 3)}
    if event.rule.tells == "activity":
        ends = (e.time for e in job.telling("activity-end") if e.rank == event.rank and e.time is not None)
        return {"until": show_time(job, min((end for end in ends if end >= moment + SHORT_S), default=None))}
    last = events[-1].time if (events[-1].time or 0.0) - moment > PAUSE_S else None
    return {"until": show_time(job, last), "is_late": event in context.late}


def _each_line_once(events: Sequence[Event], verdict: Verdict) -> list[Event]:
    """Of what several rules say of one line: what the verdict rests on, else what comes first of each cause."""
    roots, lines = rooted(verdict)
    told: set[tuple[str, int | None, str | None]] = set()
    kept = set()
    for event in sorted(events, key=lambda e: e not in roots):
        place = (event.source, event.line, event.cause)
        if place not in told and (event in roots or (event.source, event.line) not in lines):
            told.add(place)
            kept.add(event)
    return [e for e in events if e in kept]


def attempt_rows(show: Exhibitor, proof: Sequence[Evidence]) -> tuple[Attempt, ...]:
    """Yield one row per attempt where there was more than one; that of the verdict with what proves it."""
    if not show.job.earlier and show.job.attempt == 0:
        return ()
    by_attempt: dict[int, list[Event]] = defaultdict(list)
    for event in show.job.events:
        by_attempt[event.attempt].append(event)
    places = {(x.file, x.line) for x in proof[:1]}
    rows = [_attempt(n, events, places, show) for n, events in sorted(by_attempt.items())]
    return tuple(rows) if len(rows) > 1 else ()  # one row would say again what the verdict says


def _attempt(n: int, events: Sequence[Event], proof: set[tuple[str, int | None]], show: Exhibitor) -> Attempt:
    """The row of one attempt, with what proves the verdict, or what states a cause, or its first failure."""
    times = [e.time for e in events if e.time is not None and e.has_own_time]
    start, end = show_time(show.job, min(times, default=None)), show_time(show.job, max(times, default=None))
    failures = [e for e in events if e.role in FAILING]
    for follows in ("exit", "peer-lost"):  # which are shown where nothing else is told
        failures = [e for e in failures if e.rule.tells != follows] or failures
    told = [e for e in failures if (e.source, e.line) in proof] or failures
    first = next((e for e in told if e.role == "cause"), next(iter(told), None))
    if first is None:
        return Attempt(n, start, end, "unfinished")
    culprits = (Culprit(first.rank, first.host),) if first.rank is not None else ()
    return Attempt(n, start, end, "failed", first.cause, culprits, (show.evidence(Exhibit.of_event(first)),))


def summed_up(events: Iterable[Event]) -> set[str]:
    """The causes that a launcher's summary, or the end of its other workers, tells of: they follow from the root."""
    return {e.cause for e in events if (e.rule.teller == "box" or e.rule.tells == "signal-sent") and e.cause is not None}


def rooted(verdict: Verdict) -> tuple[set[Event], set[tuple[str, int | None]]]:
    """Yield the events of the root, and the lines on which they stand."""
    events = {e for root in verdict.roots for e in root.events}
    return events, {(e.source, e.line) for e in events}


def chain(show: Exhibitor) -> tuple[Link, ...]:
    """The consequences, from the root outward, folded by cause."""
    verdict, say, bounds = show.verdict, show.translator.say, show.job.once(bounded_times)
    if not verdict.roots or verdict.cause is None:
        return ()
    lines, root = rooted(verdict)[1], verdict.cause
    followers: dict[str, list[Candidate]] = {cause: [] for cause in summed_up(show.job.failures()) - {root}}
    for s in verdict.candidates:
        if s.cause != root and any(t.cause != s.cause for t in s.explained_by) and not _is_same_end(s, lines):
            followers.setdefault(s.cause, []).append(s)
    start = _began(verdict.roots[0], bounds)
    links = []
    for cause, group in followers.items():
        parents = [t.cause for s in group[:1] for t in s.explained_by if t.cause != cause]
        parent = root if root in parents or not parents else parents[0]
        onset = min((began for s in group if (began := _began(s, bounds)) is not None), default=None)
        delay = onset - start if start is not None and onset is not None else 0.0
        key = f"follows.{cause}" + ".outside" * (cause == "process.terminated" and parent in FROM_OUTSIDE)
        why = say(key) if show.translator.knows(key) else ""
        ranks = tuple(sorted({s.rank for s in group if s.rank is not None}))
        link = Link(parent, cause, why, ranks, delay if delay > 0 else None)
        links.append((math.inf if onset is None else onset, cause, link))
    return tuple(link for *_, link in sorted(links, key=lambda found: found[:2]))


def _began(s: Candidate, bounds: Container[Event]) -> float | None:
    """When it began, as near as can be told; nothing where the line's own time is only a bound."""
    shown = (x.event for x in s.finding.exhibits) if s.finding is not None else ()
    by = next((e for e in (*s.events, *shown) if e is not None and e.onset == s.onset), None)
    return None if by in bounds else s.onset


def _is_same_end(s: Candidate, lines: Container[tuple[str, int | None]]) -> bool:
    """Whether it is only another reading of the lines that name the root, as that a preempted job was told to stop."""
    told = s.events if s.finding is None else s.finding.exhibits if s.first is None else ()
    return bool(told) and all((x.source, x.line) in lines for x in told)


def alternatives(show: Exhibitor, catalogue: Catalogue) -> tuple[Alternative, ...]:
    """What could have been the root and was beaten, with the reason."""
    verdict, translator = show.verdict, show.translator
    found: dict[str, Alternative] = {}
    lines = rooted(verdict)[1]
    for s in (*verdict.rivals, *(s for s in verdict.candidates if s.direct == 3 and s not in verdict.roots)):
        if s.first is None or s.cause in (*found, verdict.cause) or _is_same_end(s, lines):
            continue  # the same cause, told by a line that says less, is no other reason
        if s.direct == 1 and s.first.rule.tells in ("exit", "signal-sent"):
            continue  # nor is that a process ended
        culprits = (Culprit(s.rank, s.host),) if s.rank is not None or s.host else ()
        title, evidence = translator.cause(catalogue.causes[s.cause]).title, (show.evidence(Exhibit.of_event(s.first)),)
        found[s.cause] = Alternative(s.cause, title, culprits, _why_not(verdict, s, translator), evidence)
    return tuple(islice(found.values(), MAX_ALTERNATIVES))


def _why_not(verdict: Verdict, s: Candidate, translator: Translator) -> str:
    """Why this suspect is not the root, in one sentence."""
    if s.explained_by:
        by = s.explained_by[0]
        return translator.say("lost.consequence", cause=by.cause, rank=by.rank, host=by.host)
    root = verdict.roots[0]
    if s.direct < root.direct:
        return translator.say("lost.less-direct", cause=root.cause)
    if s.onset is not None and root.onset is not None and s.onset > root.onset:
        return translator.say("lost.later", seconds=s.onset - root.onset)
    return translator.say("lost.fits-less")


def symptoms(show: Exhibitor, events: Sequence[Event]) -> tuple[Symptom, ...]:
    """Everything loud that is not the root, folded by rule."""
    verdict = show.verdict
    lines = rooted(verdict)[1]
    by_rule: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        if (event.source, event.line) not in lines and event.cause is not None:
            by_rule[event.cause, event.rule.id].append(event)
    capped = {rule for source in show.job.sources for rule in source.capped}
    explained = dict.fromkeys(summed_up(events), verdict.cause or "")
    explained |= {s.cause: s.explained_by[0].cause for s in reversed(verdict.candidates) if s.explained_by}
    explained.pop(verdict.cause or "", None)  # the root follows from nothing, also where another rank tells of it
    found = []
    for (cause, rule), group in by_rule.items():
        ranks = tuple(sorted({e.rank for e in group if e.rank is not None}))
        first = show.evidence(Exhibit.of_event(group[0]))
        title = show.translator.title(group[0].rule)
        found.append(Symptom(cause, title, rule, ranks, len(group), rule in capped, first, explained.get(cause)))
    return tuple(sorted(found, key=lambda s: (-len(s.ranks), -s.count, s.rule or "")))
