"""Who did not report the wait that the others did?

A watchdog reports on each rank that waited. The rank that everybody waited for had not issued the collective, so it has
nothing to report: the culprit is usually the silent one. Its silence counts only where the report would be here: one may
be garbled, cut, wrapped or filtered, and what is left of it (`Some NCCL operations have failed`, a status line, the head of
a traceback, the watchdog's own SIGABRT in a launcher's list) still shows that its rank waited too. What it did last says
why the others waited.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..job.activity import Phase, last_complaint, last_doing, last_phase, phase_of, wait_for
from ..job.collectives import (
    GroupTable,
    collective_tables,
    describe,
    find_elsewhere,
    find_handled,
    find_who_gave_up,
    never_issued,
)
from ..job.event import Event, SourceEvents
from ..job.identity_table import GUESSED, MAX_RANK
from ..job.job import Job, RankInfo
from ..lines.lazy_pattern import lazy
from .finding import Certainty, Exhibit, Finding, Sentence

MAX_SHARE, GROUPS_SHARE = 0.34, 0.13  # of the ranks; where several groups wait, whose members are not known
CROWD, PAIR = 3, 2  # ranks that wait, to tell how many there are where nobody says it; where the others are listed
FOR_ITS_ID = "rendezvous.timeout"  # whoever waits for NCCL's id says for whom: `rank_zero` asks
NUMBERS = lazy(r"\d+")
QUOTED = "watchdog thread terminated with exception: "
ABORTED = {"-6", "6", "134", "SIGABRT"}  # as a watchdog ends the process that waited
ENDED_BEFORE_S = 30.0  # agents end the survivors within seconds of a failure, watchdogs fire minutes later
WAIT = "collective.timeout"


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where few of the ranks are absent among those that report a wait."""
    tables = collective_tables(job)
    if not tables or job.context.world_size == 1 or any(s.is_folded for s in job.sources) or find_handled(job):
        return
    crowd = GroupTable(tables[0].group, {r: stuck for t in reversed(tables) for r, stuck in t.stuck.items()})
    if any(s.event.cause != FOR_ITS_ID for s in crowd.stuck.values()):
        late = set(never_issued(job, tables[0])) - {r for r, s in tables[0].stuck.items() if s.seq is not None}
        crowd = GroupTable(crowd.group, {r: s for r, s in crowd.stuck.items() if r not in late})
        if absent := _absent(job, crowd, late, MAX_SHARE if len(tables) == 1 else GROUPS_SHARE):
            yield _finding(job, crowd, absent)


def _absent(job: Job, crowd: GroupTable, late: set[int], share: float) -> list[RankInfo]:
    """The few that did not come; `late` ones say themselves that they were not there yet."""
    reported = _who_reported(job) - late
    gave_up = find_who_gave_up(job) - late
    came = reported | gave_up
    world = max(job.world_size or 0, max(came, default=0) + 1)
    world = world if _is_told(job) else max(world, max(job.ranks, default=0) + 1)
    waits = [s.event for s in crowd.stuck.values()]
    streams = {job.places.by_source[e.source].stream for e in waits}
    here = [job.ranks[rank] for rank in sorted(job.ranks.keys() - reported - find_elsewhere(job)) if rank < world]
    here = [i for i in here if i.rank in late or (_is_covered(job, i.rank, streams) and not _had_ended(job, i, waits))]
    absent = [i for i in here if i.rank not in gave_up] or _unheard(job, crowd, came, world) or here
    is_few = 0 < len(absent) <= max(1, share * world) and 2 * len(came | late) >= world
    return absent if is_few and (len(reported) > 1 or world == PAIR) else []


def _unheard(job: Job, crowd: GroupTable, came: set[int], world: int) -> list[RankInfo]:
    """In the consoles of all ranks, a rank that is not heard while all others are is silent, not missing."""
    consoles = Counter(s.event.source for s in crowd.stuck.values())
    most = max(consoles.values())
    are_all = len(consoles) == 1 or (most > 1 and most * len(consoles) == world)
    missing = [r for r in range(min(world, MAX_RANK)) if r not in came]
    partial = job.places.source_rank.keys() | job.once(_partial)
    if not are_all or consoles.keys() & partial or len(came) < _enough(job, missing):
        return []
    return [job.ranks.get(r) or RankInfo(r) for r in missing] if len(missing) * 3 <= world or world == PAIR else []


def _enough(job: Job, missing: list[int]) -> int:
    """How many have to wait, for a rank that is never heard to be the one: two in a paste may be all that was copied.

    A progress bar without a rank's name is rank 0's; whom a launcher lists is there.
    """
    if _is_told(job):
        return 1
    if missing == [0] and (job.telling("activity") or any(s.last_sign_line is not None for s in job.sources)):
        return 1
    return PAIR if job.ranks.keys() >= set(missing) else CROWD


def _is_told(job: Job) -> bool:
    """Whether it is said how many ranks there are."""
    return job.places.world_from not in ("", GUESSED)


def _phase(job: Job, info: RankInfo, usual: Event) -> Phase | None:
    """What held it up: its watchdog that stood still, or what its program did last."""
    own = [e for e in job.telling("heartbeat", "collective-timeout") if e.rank == info.rank]
    return phase_of(own[0]) if own else last_phase(job, info, usual)


def _finding(job: Job, crowd: GroupTable, absent: list[RankInfo]) -> Finding:
    usual = crowd.first().event
    ranks, waiting = tuple(sorted(i.rank for i in absent)), sorted(crowd.stuck)
    phase = next((p for i in absent if (p := _phase(job, i, usual))), None)
    cause, does, seen = wait_for(phase)
    shown = seen or (*last_complaint(job, absent[0]), *last_doing(job, absent[0]))
    told = [x.event for x in seen if x.event is not None]
    onset = next((e.onset for e in (*told, usual) if e.onset is not None and e.has_own_time), None)
    is_sure = (
        len(ranks) == 1 and (ranks[0] in job.ranks or _is_told(job)) and (phase is None or phase.name != "other-group")
    )
    certainty: Certainty = "likely" if is_sure else "possible"
    says = {"waiting": waiting, "ranks": ranks, "where": describe(crowd), "phase": does}
    fields = {**usual.fields, "activity": phase.name if phase else None}
    return Finding(
        "absent", cause, Sentence("absent.never-came", says),
        (*shown, Exhibit.of_event(usual)), ranks, certainty=certainty, onset=onset, fields=fields,
    )  # fmt: skip


# --- whether its report would be here -----------------------------------------------------------------------------


def _who_reported(job: Job) -> set[int]:
    """Yield the ranks of which anything shows that they waited, too."""
    told = {e.rank for e in job.telling("collective-timeout", "collective-status") if e.rank is not None}
    partly = {e.rank for e in job.failures() if e.cause == WAIT and e.rank is not None}
    ends = ((e.rank, e.fields) for e in job.telling("exit") if e.rank is not None)
    aborted = {rank for rank, end in ends if {str(end.get("exit_code")), str(end.get("signal"))} & ABORTED}
    return told | partly | aborted | _cut_tracebacks(job)


def _cut_tracebacks(job: Job) -> set[int]:
    """Ranks of whose traceback the head is here and the exception is not."""
    found: set[int | None] = set()
    for source in job.sources:
        if cut := {tb.line for tb in source.tracebacks if not tb.exception}:
            named = (line.prefix.rank for line in source.lines(cut))
            found.update(job.places.source_rank.get(source.name, rank) for rank in named)
    return {rank for rank in found if rank is not None}


def _is_covered(job: Job, rank: int, streams: set[str | None]) -> bool:
    """Whether a report of the rank would be here: it is heard on a stream on which others report."""
    partial, info = job.once(_partial), job.ranks.get(rank)
    is_whole = not partial or info is None or not partial.issuperset(info.sources)
    return is_whole and job.is_heard(rank) and any(job.is_heard_on(rank, stream) for stream in streams)


def _partial(job: Job) -> set[str]:
    """Yield files without their head (a report is quoted that is not in them) or without their end (one breaks off)."""
    told = [e for e in job.telling("collective-timeout") if e.rank is not None]
    itself = {(e.source, e.rank) for e in told if QUOTED not in e.raw}
    reports = {NUMBERS.sub("", e.raw).rstrip() for e in told}  # without numbers they are few
    names = {e.source for e in told}
    ends = {s.name: NUMBERS.sub("", _last_words(s)) for s in job.sources if s.name in names}
    begun = {name for name, end in ends.items() if end and any(x.startswith(end) and len(x) > len(end) for x in reports)}
    return begun | {e.source for e in told if (e.source, e.rank) not in itself}


def _last_words(source: SourceEvents) -> str:
    last = source.scan.lines + (not source.scan.ends_line)
    return next((line.raw.rstrip() for line in source.lines({last})), "")


def _had_ended(job: Job, info: RankInfo, waits: Sequence[Event]) -> bool:
    """A rank that was ended before the others' limit passed did not make them wait: whatever ended it did."""
    reporter = min(waits, key=lambda e: (e.source, e.line or 0))
    fired = min((e.time for e in waits if e.time is not None), default=None)
    for end in job.telling("exit", "signal-sent", "killed"):
        if end.rank != info.rank and not _is_of_host(end, info):
            continue
        if end.source == reporter.source:
            return (end.line or 0) < (reporter.line or 0)
        if end.time is None or fired is None:
            continue
        if end.time < fired - max(ENDED_BEFORE_S, job.clocks.uncertainty_s(end, reporter)):
            return True
    return False


def _is_of_host(event: Event, info: RankInfo) -> bool:
    """An agent ends all its processes: where one of them failed, the others of that host were ended too."""
    return info.host is not None and event.host == info.host and event.rule.tells != "killed"
