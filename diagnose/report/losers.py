"""What lost against the verdict: its consequences, the other causes that were weighed, and what the job survived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from itertools import islice

from ..catalogue.load import Catalogue
from ..job.event import Event, Exhibit
from ..job.job import Job
from ..verdict.candidate import Candidate
from ..verdict.decision import Verdict
from .evidence import Exhibitor
from .parts import Alternative, Culprit, Link, Symptom
from .phrases import FROM_OUTSIDE
from .translation import Translator

MAX_ALTERNATIVES = 6


def summed_up(events: Iterable[Event]) -> set[str]:
    """The causes that a launcher's summary, or the end of its other workers, tells of: they follow from the root."""
    return {e.cause for e in events if (e.rule.teller == "box" or e.rule.tells == "signal-sent") and e.cause is not None}


def rooted(verdict: Verdict) -> tuple[set[Event], set[tuple[str, int | None]]]:
    """Yield the events of the root, and the lines on which they stand."""
    events = {e for root in verdict.roots for e in root.events}
    return events, {(e.source, e.line) for e in events}


def chain(verdict: Verdict, translator: Translator, bounds: Container[Event], events: Iterable[Event]) -> tuple[Link, ...]:
    """The consequences, from the root outward, folded by cause."""
    if not verdict.roots or verdict.cause is None:
        return ()
    ranks: dict[str, set[int]] = defaultdict(set)
    onsets: dict[str, float] = {}
    parents: dict[str, str] = {}
    lines = rooted(verdict)[1]
    for s in verdict.candidates:
        explainers = [t.cause for t in s.explained_by if t.cause != s.cause]
        if explainers and s.cause != verdict.cause and not _is_same_end(s, lines):
            parents.setdefault(s.cause, verdict.cause if verdict.cause in explainers else explainers[0])
            ranks[s.cause].update([s.rank] if s.rank is not None else [])
            if (onset := _began(s, bounds)) is not None:
                onsets[s.cause] = min(onsets.get(s.cause, onset), onset)
    for cause in summed_up(events) - {verdict.cause}:
        parents.setdefault(cause, verdict.cause)
    start = _began(verdict.roots[0], bounds)
    links = []
    for cause, parent in sorted(parents.items(), key=lambda kv: (onsets.get(kv[0], float("inf")), kv[0])):
        delay = onsets[cause] - start if start is not None and cause in onsets else None
        key = f"follows.{cause}" + ".outside" * (cause == "process.terminated" and parent in FROM_OUTSIDE)
        why = translator.say(key) if translator.knows(key) else ""
        links.append(Link(parent, cause, why, tuple(sorted(ranks[cause])), delay if delay and delay >= 0 else None))
    return tuple(links)


def _began(s: Candidate, bounds: Container[Event]) -> float | None:
    """When it began, as near as can be told; nothing where the line's own time is only a bound."""
    shown = (x.event for x in s.finding.exhibits) if s.finding is not None else ()
    by = next((e for e in (*s.events, *shown) if e is not None and e.onset == s.onset), None)
    return None if by in bounds else s.onset


def _is_same_end(s: Candidate, lines: Container[tuple[str, int | None]]) -> bool:
    """Whether it is only another reading of the lines that name the root, as that a preempted job was told to stop."""
    if s.events and s.finding is None:
        return all((e.source, e.line) in lines for e in s.events)
    if s.cause != "process.terminated" or s.first is not None or s.finding is None:
        return False
    return all((x.source, x.line) in lines for x in s.finding.exhibits)


def alternatives(
    verdict: Verdict, catalogue: Catalogue, show: Exhibitor, translator: Translator
) -> tuple[Alternative, ...]:
    """What could have been the root and was beaten, with the reason."""
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


def symptoms(
    job: Job, verdict: Verdict, translator: Translator, show: Exhibitor, events: Sequence[Event]
) -> tuple[Symptom, ...]:
    """Everything loud that is not the root, folded by rule."""
    lines = rooted(verdict)[1]
    by_rule: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        if (event.source, event.line) not in lines and event.cause is not None:
            by_rule[event.cause, event.rule.id].append(event)
    capped = {rule for source in job.sources for rule in source.capped}
    explained = dict.fromkeys(summed_up(events), verdict.cause or "")
    explained |= {s.cause: s.explained_by[0].cause for s in reversed(verdict.candidates) if s.explained_by}
    explained.pop(verdict.cause or "", None)  # the root follows from nothing, also where another rank tells of it
    found = []
    for (cause, rule), group in by_rule.items():
        ranks = tuple(sorted({e.rank for e in group if e.rank is not None}))
        first = show.evidence(Exhibit.of_event(group[0]))
        title = translator.title(group[0].rule)
        found.append(Symptom(cause, title, rule, ranks, len(group), rule in capped, first, explained.get(cause)))
    return tuple(sorted(found, key=lambda s: (-len(s.ranks), -s.count, s.rule or "")))
