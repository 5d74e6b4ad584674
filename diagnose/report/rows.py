"""The tables of a report: ranks, stacks, inputs, gaps, collectives."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..job.clock import SAME_CLOCK_S
from ..job.collectives import collective_tables
from ..job.event import Event
from ..job.identity_table import GUESSED
from ..job.job import CERTIFICATES, Job, RankInfo
from ..job.stacks import stack_tree
from ..lines.rank_ranges import rank_ranges
from ..lines.timestamp import format_rfc3339, read_stamp, resolve
from ..scan.scan import Scan
from ..sources.bounds import NO_TIME, may_be_log
from ..verdict.decision import Verdict
from .evidence import show_time
from .parts import CollectiveRow, FirstFailure, Gap, InputRow, RankRow, StackGroup
from .phrases import RANGES_WIDTH, clip_ranges, place
from .report import Report
from .translation import Translator

if TYPE_CHECKING:
    from ..recorder.comparison import GroupReport

MAX_STACKS = 40
MAX_READ = 256  # ranks whose last line is read for its time
SHOWN_UNREAD = 3  # files named of those not read for one reason
MORE_TIME = "diagnose --budget 300 …"
MAX_WORLD = 65536  # ranks; of more the missing ones are not listed
TERMINATED = "process.terminated"  # by a launcher or scheduler, as a rule because another rank had failed


def rank_rows(job: Job, verdict: Verdict) -> tuple[RankRow, ...]:
    """Yield one row per rank that the logs show."""
    waiting = frozenset(tree.crowd if (tree := stack_tree(job)) is not None else ())
    past = {*job.survived, *job.earlier}
    return tuple(_rank_row(job, verdict, info, past, info.rank in waiting) for info in job.ranks.values())


def _rank_row(job: Job, verdict: Verdict, info: RankInfo, past: Container[Event], is_waiting: bool) -> RankRow:
    failures = info.failures()
    current = [e for e in failures if e not in past]
    first = _first_of(current or failures)
    place_of_it = f"{first.source}:{first.line}" if first else ""
    own = [e for e in info.events if e.rule.tells not in CERTIFICATES] or info.events  # who has died prints no more
    last = job.last_line_of(info.rank) if len(job.ranks) <= MAX_READ else None
    stamp = last[1].prefix.stamp if last is not None else None
    told = [e.time for e in (info.first_sign, info.last_sign, *own) if e is not None]
    times = [t for t in (*told, job.clocks.seconds(stamp) if stamp is not None else None) if t is not None]
    return RankRow(
        rank=info.rank,
        host=info.host,
        local_rank=info.local_rank,
        pid=info.pid,
        state=_state(verdict, info, current, is_waiting),
        last_step=info.last_step,
        first_time=show_time(job, min(times, default=None)),
        last_time=show_time(job, max(times, default=None)),
        first_failure=FirstFailure(first.cause, first.rule.id, show_time(job, first.time), place_of_it) if first else None,
        rank_from=next((e.rank_from for e in info.events if e.rank_from), ""),
        host_from=next((e.host_from for e in info.events if e.host_from), ""),
        step_time=show_time(job, info.last_sign.time) if info.last_sign is not None else None,
        phase=phase_of(info),
    )


def phase_of(info: RankInfo) -> str:
    """Yield what the rank last began and did not end: `saving`; empty where nothing is known."""
    return info.phase.rule.activity or "" if info.phase is not None else ""


def _state(verdict: Verdict, info: RankInfo, failures: list[Event], is_waiting: bool) -> str:
    if info.rank in verdict.culprits:
        return "culprit"
    if failures:
        return "terminated" if all(e.cause == TERMINATED for e in failures) else "failed"
    if is_waiting:
        return "waiting"
    return "finished" if info.finished else "silent"


def _first_of(failures: list[Event]) -> Event | None:
    """The first, and of one moment what the rank itself printed: a launcher reports its end in whole seconds."""
    first = next(iter(failures), None)
    if first is None or first.rule.tells not in CERTIFICATES:
        return first
    own = next((e for e in failures if e.rule.tells not in CERTIFICATES), first)
    is_as_early = own.time is None or first.time is None or own.time <= first.time + SAME_CLOCK_S
    return own if is_as_early else first


def stack_rows(job: Job) -> tuple[StackGroup, ...]:
    """Yield the groups of equal stacks, the largest first."""
    rows, tree = [], stack_tree(job)
    for group in tree.groups[:MAX_STACKS] if tree is not None else ():
        ranks = tuple(sorted(r for r in group.ranks if isinstance(r, int)))
        frames = tuple(f"{f.function} ({place(f.file, f.line)})" if f.file else f.function for f in group.frames)
        rows.append(StackGroup(ranks, frames, len(group.ranks)))
    return tuple(rows)


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


def missing_ranks(job: Job) -> list[int]:
    """Yield the ranks of the world of which no line is known."""
    world = job.world_size or 0
    return [rank for rank in range(world) if rank not in job.ranks] if job.ranks and world <= MAX_WORLD else []


def gap_rows(job: Job, scan: Scan, translator: Translator, command: str | None, *, is_asked: bool) -> tuple[Gap, ...]:
    """Yield what was missing or not read, and how to have it next time: `command` writes one log per rank."""
    say = translator.say
    more_time = (say("gap.more-time"), MORE_TIME)
    gaps = [Gap(translator.sentence(text), *more_time if "budget" in text else ()) for text in scan.gaps]
    unread: dict[str, list[str]] = defaultdict(list)  # by reason, what may be a log
    for source in scan.sources.values():
        if source.skipped is not None and may_be_log(source.skipped):
            unread[source.skipped.removeprefix("not read: ").removeprefix("binary: ")].append(source.name)
    gaps += [Gap(say("gap.unread", why=x, **_shown(unread[x])), *more_time if NO_TIME in x else ()) for x in unread]
    if unplaced := [dump.name for dump in job.dumps if dump.rank is None]:
        gaps.append(Gap(say("gap.recorder", **_shown(unplaced)), say("gap.name-recorders")))
    if (missing := missing_ranks(job)) and not is_asked:  # else the report asks for their logs already
        is_bound, ranges = job.places.world_from == GUESSED, clip_ranges(rank_ranges(missing), RANGES_WIDTH)
        text = say("gap.no-line", ranges=ranges, count=len(missing), at_least=is_bound)
        gaps.append(Gap(text, say("gap.every-rank"), command))
    return tuple(gaps)


def _shown(names: list[str]) -> dict[str, object]:
    return {"files": ", ".join(names[:SHOWN_UNREAD]), "more": max(0, len(names) - SHOWN_UNREAD)}


SHOWN_GROUPS = 8  # of a thousand, those to look at first


def collective_rows(job: Job) -> tuple[CollectiveRow, ...]:
    """Yield one row per process group and rank that is stuck; a rank without a dump has a row that says so."""
    unfinished = [report for report in job.recorded() if report.verdict != "consistent"]
    return tuple(row for report in unfinished[:SHOWN_GROUPS] for row in _recorded(report)) or _reported(job)


def _reported(job: Job) -> tuple[CollectiveRow, ...]:
    rows = []
    for table in collective_tables(job):
        usual, calls = table.majority("seq"), defaultdict[int | None, Counter[Any]](Counter)
        for s in table.stuck.values():
            calls[s.seq][s.op, s.numel_in] += 1
        most = {seq: min(told, key=lambda call: (-told[call], str(call))) for seq, told in calls.items()}
        for rank, s in table.stuck.items():
            call, told, is_other = most[s.seq], calls[s.seq], bool(table.group) and s.seq not in (None, usual)
            # the usual call of a number; of many that differ there is none
            is_odd = None not in (s.seq, s.op) and call != (s.op, s.numel_in) and (told[call] > 1 or told.total() < 3)
            verdict = ("behind" if (s.seq or 0) < usual else "ahead") if is_other else "differs" if is_odd else ""
            sizes = tuple(n for n in (s.numel_in, s.numel_out) if n is not None)
            rows.append(CollectiveRow(table.group, rank, s.seq, s.enqueued, s.completed, s.op, sizes, verdict))
    return tuple(rows)


def _recorded(report: GroupReport) -> Iterator[CollectiveRow]:
    first, name = report.first, report.desc or report.group
    odd = dict.fromkeys(first.ranks, "behind" if first.kind in ("missing", "state", "p2p") else "differs") if first else {}
    for progress in report.progress:
        waiting = progress.waiting
        sides = (waiting.call.input_sizes, waiting.call.output_sizes) if waiting else ()
        yield CollectiveRow(
            group=name,
            rank=progress.rank,
            stuck=waiting.seq if waiting else None,
            enqueued=None if progress.enqueued < 0 else progress.enqueued,
            completed=None if progress.completed < 0 else progress.completed,
            op=waiting.call.op if waiting else None,
            sizes=tuple(sum(prod(dims) for dims in side) for side in sides),
            verdict=odd.get(progress.rank, ""),
        )
    for rank in report.without_dump:
        yield CollectiveRow(group=name, rank=rank, verdict="no-dump")


def narrow(report: Report, since: str | None, until: str | None, rank: int | None) -> Report:
    """Yield the report with its tables narrowed. Raises `UsageError` where a time cannot be read."""
    first, last = _moment("--since", since), _moment("--until", until)
    if first and last and first > last:
        raise UsageError(f"--since {since} is after --until {until}: nothing could be shown")
    blamed = {c.rank for c in report.diagnosis.culprits} if report.diagnosis else set()
    if rank is not None and rank not in (shown := {r.rank for r in report.ranks} | blamed):
        known = f"the logs show ranks {rank_ranges(r for r in shown if r is not None)}" if shown else "they show no ranks"
        raise UsageError(f"--rank {rank}: no line of the logs is from it; {known}")

    def is_shown(ranks: tuple[int, ...], time: str | None = None, undated: bool = True) -> bool:
        told = (time or "").removesuffix("Z")  # which would sort behind the fraction of the same second
        is_within = (not first or told >= first) and (not last or told <= last) if told else undated
        return is_within and (rank is None or not ranks or rank in ranks)

    is_all = not first and not last
    return replace(
        report,
        timeline=tuple(e for e in report.timeline if is_shown(e.ranks, e.time, is_all)),
        symptoms=tuple(s for s in report.symptoms if is_shown(s.ranks, s.first.time if s.first else None)),
        ranks=tuple(r for r in report.ranks if rank in (None, r.rank)),
        last_lines=tuple(x for x in report.last_lines if is_shown(x.ranks)),
        collectives=tuple(c for c in report.collectives if rank in (None, c.rank)),
        stacks=tuple(s for s in report.stacks if rank is None or rank in s.ranks),
    )


def _moment(option: str, text: str | None) -> str:
    stamp = read_stamp(str(text)) if text is not None else None
    seconds = resolve(stamp, None, 0.0) if stamp else None
    if text is not None and seconds is None:
        raise UsageError(f"{option} {text}: not a time; write it as 2026-11-20T17:30:00")
    return format_rfc3339(seconds).removesuffix("Z") if seconds is not None else ""
