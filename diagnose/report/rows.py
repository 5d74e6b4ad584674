"""The tables of a report: ranks, stacks, timeline, attempts, inputs, gaps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..job.clock import SAME_CLOCK_S
from ..job.event import FAILING, Event
from ..job.exhibit import Exhibit
from ..job.job import CERTIFICATES, Job, RankInfo
from ..job.stacks import stack_tree
from ..scan.scan import Scan
from ..sources.refusals import NO_TIME, may_be_log
from ..verdict.decision import Verdict
from .account_words import Words
from .evidence import Exhibitor, show_time
from .report import Attempt, Culprit, Evidence, FirstFailure, Gap, InputRow, RankRow, StackGroup, TimelineEntry
from .translation import Translator

MAX_TIMELINE = 60
MAX_STACKS = 40
SHOWN_UNREAD = 3  # files named of those not read for one reason
MORE_TIME = "diagnose --budget 300 …"
MAX_ENDS = 64  # of files of a job of which nothing is told
TERMINATED = "process.terminated"  # by a launcher or scheduler, as a rule because another rank had failed


def rank_rows(job: Job, verdict: Verdict) -> tuple[RankRow, ...]:
    """Yield one row per rank that the logs show."""
    tree = stack_tree(job)
    waiting = frozenset(tree.crowd) if tree is not None else frozenset()
    return tuple(_rank_row(job, verdict, info, info.rank in waiting) for info in job.ranks.values())


def _rank_row(job: Job, verdict: Verdict, info: RankInfo, is_waiting: bool) -> RankRow:
    failures = info.failures()
    first = _first_of(failures)
    told = (e.moment for e in (info.first_sign, info.last_sign, *info.events) if e is not None)
    times = [moment for moment in told if moment is not None]
    return RankRow(
        rank=info.rank,
        host=info.host,
        local_rank=info.local_rank,
        pid=info.pid,
        state=_state(verdict, info, failures, is_waiting),
        last_step=info.last_step,
        first_time=show_time(job, min(times)) if times else None,
        last_time=show_time(job, max(times)) if times else None,
        first_failure=_first_failure(job, first) if first else None,
        rank_from=next((e.rank_from for e in info.events if e.rank_from), ""),
        host_from=next((e.host_from for e in info.events if e.host_from), ""),
    )


def _state(verdict: Verdict, info: RankInfo, failures: list[Event], is_waiting: bool) -> str:
    if info.rank in verdict.culprits:
        return "culprit"
    if failures:
        return "terminated" if all(e.cause == TERMINATED for e in failures) else "failed"
    if is_waiting:
        return "waiting"
    return "finished" if info.finished else "silent" if verdict.cause else "alive"


def _first_of(failures: list[Event]) -> Event | None:
    """The first, and of one moment what the rank itself printed: a launcher tells the end of it by whole seconds."""
    first = failures[0] if failures else None
    if first is None or first.rule.tells not in CERTIFICATES:
        return first
    own = next((e for e in failures if e.rule.tells not in CERTIFICATES), first)
    is_as_early = own.moment is None or first.moment is None or own.moment <= first.moment + SAME_CLOCK_S
    return own if is_as_early else first


def _first_failure(job: Job, event: Event) -> FirstFailure:
    return FirstFailure(event.cause, event.rule.id, show_time(job, event.moment), f"{event.source}:{event.line}")


def stack_rows(job: Job) -> tuple[StackGroup, ...]:
    """Yield the groups of equal stacks, the largest first."""
    tree = stack_tree(job)
    if tree is None:
        return ()
    rows = []
    for group in tree.groups[:MAX_STACKS]:
        ranks = tuple(sorted(r for r in group.ranks if isinstance(r, int)))
        frames = tuple(f"{f.function} ({f.file}:{f.line})" for f in group.frames)
        rows.append(StackGroup(ranks, frames, group.count))
    return tuple(rows)


def timeline_rows(
    job: Job, verdict: Verdict, translator: Translator, bounds: Mapping[int, str]
) -> tuple[TimelineEntry, ...]:
    """Yield what happened in order, the same thing on many ranks folded into one entry."""
    folded: dict[tuple[object, ...], list[Event]] = defaultdict(list)
    shown = [e for e in job.events if e.role in FAILING or e.rule.tells in ("attempt", "finished", "activity", "killed")]
    shown = _each_line_once(shown, verdict)
    for event in _by_time(shown):
        moment = event.moment
        minute = None if moment is None else int(moment // 60)
        folded[event.rule.id, minute, event.attempt, bounds.get(id(event))].append(event)
    entries = []
    begin = min((moment for e in shown if (moment := e.moment) is not None), default=0.0)
    for events in folded.values():
        first = events[0]
        ranks = tuple(sorted({e.rank for e in events if e.rank is not None}))
        hosts = {e.host for e in events}
        entries.append(
            TimelineEntry(
                time=show_time(job, first.moment),
                ranks=ranks,
                host=first.host if len(hosts) == 1 else None,
                layer=(first.cause or first.rule.id).partition(".")[0],
                cause=first.cause,
                rule=first.rule.id,
                text=translator.title(first.rule),
                ref=f"{first.source}:{first.line}",
                after_s=None if first.moment is None else round(first.moment - begin, 3),
                time_is=bounds.get(id(first), ""),
            )
        )
    return tuple(entries[:MAX_TIMELINE])


def _each_line_once(events: Sequence[Event], verdict: Verdict) -> list[Event]:
    """Of what several rules say of one line: what the verdict rests on, else what comes first of each cause."""
    roots = {id(e) for s in verdict.roots for e in s.events}
    rooted = {(e.source, e.line) for s in verdict.roots for e in s.events}
    told: set[tuple[str, int | None, str | None]] = set()
    kept = []
    for event in sorted(events, key=lambda e: id(e) not in roots):
        place = (event.source, event.line, event.cause)
        if place in told or (id(event) not in roots and (event.source, event.line) in rooted):
            continue
        told.add(place)
        kept.append(id(event))
    chosen = set(kept)
    return [e for e in events if id(e) in chosen]


def _by_time(events: Sequence[Event]) -> list[Event]:
    """Those with a time by it, the others where they stand: one seen in two files has its time from either."""
    dated = (e for e in events if e.moment is not None)
    timed = iter(sorted(dated, key=lambda e: (e.moment or 0.0, e.role != "cause")))  # launchers tell whole seconds
    return [e if e.moment is None else next(timed) for e in events]


def attempt_rows(job: Job, proof: Sequence[Evidence], show: Exhibitor) -> tuple[Attempt, ...]:
    """Yield one row per attempt where there was more than one; that of the verdict with what proves it."""
    if not job.earlier and job.attempt == 0:
        return ()
    by_attempt: dict[int, list[Event]] = defaultdict(list)
    for event in job.events:
        by_attempt[event.attempt].append(event)
    places = {(x.file, x.line) for x in proof[:1]}
    rows = []
    for n, events in sorted(by_attempt.items()):
        first = _why_it_failed(events, places)
        times = [e.time for e in events if e.time is not None]
        rows.append(
            Attempt(
                n,
                show_time(job, min(times)) if times else None,
                show_time(job, max(times)) if times else None,
                "failed" if first else "unfinished",
                first.cause if first else None,
                (Culprit(first.rank, first.host),) if first and first.rank is not None else (),
                (show.evidence(Exhibit.of_event(first)),) if first else (),
            )
        )
    return tuple(rows) if len(rows) > 1 else ()  # one row would say again what the verdict says


def _why_it_failed(events: Sequence[Event], proof: set[tuple[str, int | None]]) -> Event | None:
    """Return what proves the verdict, or what states a cause, or the first failure of this attempt.

    Of failures that a library logs of a connection, the exception in which the same rank ended says it in one line.
    """
    failures = [e for e in events if e.role in FAILING]
    failures = [e for e in failures if e.rule.tells != "exit"] or failures
    proven = [e for e in failures if (e.source, e.line) in proof]
    causes = [e for e in proven or failures if e.role == "cause"]
    if causes or proven or not failures:
        return next(iter(causes or proven), None)
    first = failures[0]
    ends = (e for e in failures if e.traceback is not None and e.rank is not None and e.rank == first.rank)
    return next((e for e in ends if _layer(e) == _layer(first)), first)


def _layer(event: Event) -> str:
    return (event.cause or "").partition(".")[0]


def input_rows(job: Job, scan: Scan) -> tuple[InputRow, ...]:
    """Yield one row per source, read or not."""
    ranks: dict[str, list[int]] = defaultdict(list)
    for info in job.ranks.values():  # in order
        for name in info.sources:
            ranks[name].append(info.rank)
    return tuple(
        InputRow(s.name, s.bytes, s.lines if s.skipped is None else None, s.kind, tuple(ranks.pop(s.name, ())), s.skipped)
        for s in scan.sources.values()
    )


def gap_rows(job: Job, scan: Scan, translator: Translator) -> tuple[Gap, ...]:
    """Yield what was missing or not read, and how to have it next time."""
    words = translator.words
    said = ((text, translator.sentence(text)) for text in scan.gaps)
    gaps = [Gap(shown, words.say("more-time"), MORE_TIME) if "budget" in text else Gap(shown) for text, shown in said]
    gaps += _unread_rows(scan, words)
    if nobodys := [dump.name for dump in job.dumps if dump.rank is None]:
        gaps.append(Gap(words.say("recorder-of-nobody", files=_shown(nobodys, words)), words.say("name-recorders")))
    gaps += [Gap(words.say("ends-in-error", place=place)) for place in _last_errors(job)]
    world = job.world_size
    missing = [rank for rank in range(world) if rank not in job.ranks] if world and world <= 65536 else []
    if missing and job.ranks:
        gaps.append(
            Gap(
                words.say("no-line", ranks=words.ranks(missing)),
                words.say("every-rank"),
                "torchrun --log-dir logs --redirects 3 --tee 3 …",
            )
        )
    return tuple(gaps)


def _unread_rows(scan: Scan, words: Words) -> list[Gap]:
    """Yield one row per reason for which what may be a log was not read."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for source in scan.sources.values():
        if source.skipped is not None and may_be_log(source.skipped):
            by_reason[source.skipped.removeprefix("not read: ").removeprefix("binary: ")].append(source.name)
    rows = []
    for why, names in by_reason.items():
        text = words.say("unread", files=_shown(names, words), why=why)
        rows.append(Gap(text, words.say("more-time"), MORE_TIME) if NO_TIME in why else Gap(text))
    return rows


def _shown(names: list[str], words: Words) -> str:
    more = len(names) - SHOWN_UNREAD
    return ", ".join(names[:SHOWN_UNREAD]) + (words.say("and-more", n=more) if more > 0 else "")


def _last_errors(job: Job) -> list[str]:
    """Where a file ends in a line of the level of errors that nobody read, of a job of which nothing is told."""
    if any(e.role in FAILING or e.rule.tells == "finished" for e in job.events):
        return []
    known = {(e.source, e.line) for e in job.events}
    ends = ((s.name, [x for x in s.tail() if x.message.strip()][-1:]) for s in job.sources[:MAX_ENDS])
    last = [(name, line) for name, lines in ends for line in lines if line.is_error]
    return [f"{name}:{line.number}" for name, line in last if (name, line.number) not in known][:1]
