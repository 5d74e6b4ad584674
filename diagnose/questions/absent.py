"""Who did not report the time-out that the others did?

A watchdog reports on each rank that waited. The rank that everybody waited for had not issued the collective, so it has
nothing to report: the culprit is usually the silent one. It counts only where its log shows that it lived before the
stall; a rank without any input is a gap. What it did last says why: saving or loading past the limit is a slow save,
anything else a straggler.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..job.event import FAILING, Event
from ..job.exit import is_terminated
from ..job.job import Job, RankInfo
from ..job.places import GUESSED
from ..lines.prefix import Line
from ..lines.rank_ranges import rank_ranges
from .activities import awaits_server, cause_of_wait, was_doing
from .calls import find_elsewhere, find_hidden, find_who_gave_up
from .collectives import GroupTable, collective_tables, describe
from .finding import MOST_RANKS, Certainty, Exhibit, Finding
from .last_words import breaks_off_like, last_complaint

ENDED_BEFORE_S = 30.0  # agents end the survivors within seconds of a failure, watchdogs fire minutes later
BEGAN_BEFORE_S = 300.0
GROUPS_SHARE = 0.13  # of them, where membership in the groups is not known
CROWD = 4  # ranks that wait, to tell how many there are where nobody says it
PAIR, FEW = 2, 3  # where their launcher tells of all others that it ended them; where their numbers leave one out
MAX_SHARE = 0.34  # of the ranks may be absent; more of them, and rather the reports are incomplete
ABORTED = {"-6", "6", "134", "SIGABRT"}
QUOTED = "watchdog thread terminated with exception: "
ACTOR_DIED = "ray.actor-died"
FOR_ITS_ID = "rendezvous.timeout/unique-id-not-handed-out"  # whoever waits for that says for whom: `rank_zero` asks
NOT_DOING = ("SIGTERM", "NCCL INFO ", ".cpp:", "Warning: ")  # what a library says, or the end, is not what a rank was doing


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for the first process group in which few known ranks are absent, else for all groups together."""
    tables = collective_tables(job)
    if not tables or job.context.world_size == 1 or _is_deduplicated(job) or find_hidden(job):
        return
    for table in [*filter(_is_whole_world, tables), *_all_together(tables)]:
        if any(s.event.rule.id != FOR_ITS_ID for s in table.stuck.values()) and (absent := _absent(job, table)):
            if not any(awaits_server(_last_activity(job, info, table)) for info in absent):
                yield _finding(job, table, absent)
            return


def _all_together(tables: list[GroupTable]) -> list[GroupTable]:
    """Tensor, pipeline and data groups wait for one another: a rank that waits in none of them holds up all."""
    if len(tables) < 2 and all(map(_is_whole_world, tables)):
        return []
    return [GroupTable(tables[0].group, {r: stuck for t in reversed(tables) for r, stuck in t.stuck.items()}, is_all=True)]


def _is_deduplicated(job: Job) -> bool:
    """Ray folds lines of several workers into one; then absence proves nothing."""
    folded = (line.raw for s in job.sources if s.is_folded for line in s.lines())
    return any("repeated" in text and "across cluster" in text for text in folded)


def _absent(job: Job, table: GroupTable) -> list[RankInfo]:
    reported = _reported(job, table)
    world = _size(job, reported) or len(job.ranks)
    here = sorted(job.ranks.keys() - reported - find_elsewhere(job))
    alive = [job.ranks[rank] for rank in here if rank < world and job.is_heard(rank)]
    fired = min((s.event.time for s in table.stuck.values() if s.event.time is not None), default=None)
    alive = [info for info in alive if not _had_ended(job, info, fired, table)]
    streams = {job.places.by_source[s.event.source].stream for s in table.stuck.values()}
    alive = [x for x in alive if len(streams) > 1 or job.is_heard_on(x.rank, next(iter(streams), None))]
    alive = [info for info in alive if _has_own_file(job, info, streams)] or alive  # a log got lost, the driver told of it
    gave_up = find_who_gave_up(job)
    alive = [info for info in alive if info.rank not in gave_up] or alive
    if gave_up.issuperset(info.rank for info in alive):
        came = reported | gave_up if alive else reported
        unheard = _unheard(job, table, came, _size(job, came) or max(came) + 1) if len(came) >= _enough(job, came) else []
        alive = unheard or alive
    if _has_died(job, reported | gave_up | {info.rank for info in alive}, fired):
        return []
    cut = _cut_off(job)
    alive = [info for info in alive if not (_is_aborted(job, info) or (cut and cut.issuperset(info.sources)))]
    alive = [info for info in alive if _is_dead(job, info)] or alive  # the others of its host were ended for its sake
    share = GROUPS_SHARE if table.is_all else MAX_SHARE
    few = 0 < len(alive) <= max(1, share * world) and len(reported) >= len(alive)
    return alive if few and (len(reported) > 1 or world == 2) else []


def _size(job: Job, reported: set[int]) -> int | None:
    """How many ranks there are, as far as is known, and no fewer than the numbers of those that report."""
    return job.world_size and max(job.world_size, max(reported, default=0) + 1)


def _enough(job: Job, reported: set[int]) -> int:
    """How many have to wait, for a rank that is never heard to be the one: two in a paste may be all that was copied."""
    if _is_told(job):
        return 1
    if _are_ended_by_launcher(job, reported):
        return 1 if _is_pair_at_work(job) else PAIR
    return FEW if job.world_size else CROWD


def _is_told(job: Job) -> bool:
    """Whether it is said how many ranks there are."""
    return job.places.world_from not in ("", GUESSED)


def _is_pair_at_work(job: Job) -> bool:
    """Whether the console of two ranks also shows them at work: nobody copied only what one of them raised."""
    return job.world_size == 2 and any(s.last_sign_line is not None for s in job.sources)


def _are_ended_by_launcher(job: Job, reported: set[int]) -> bool:
    """Whether a launcher lists whom else it ended: they lived to the end, and print where the others do."""
    ended = {e.rank for e in job.telling("exit") if e.rank is not None and is_terminated(e)}
    return bool(ended) and set(range(max(ended | reported) + 1)) - reported <= ended


def _has_own_file(job: Job, info: RankInfo, streams: set[str | None]) -> bool:
    """Whether a file of the rank alone is there, of the stream in which the others report."""
    own = (name for name in info.sources if job.places.source_rank.get(name) == info.rank)
    return any(job.places.by_source[name].stream in streams for name in own)


def _reported(job: Job, table: GroupTable) -> set[int]:
    """The ranks that say of themselves that they wait, or have come as far as the others that do."""
    told = {e.rank for e in job.telling("collective-timeout", "heartbeat") if e.rank is not None}
    status = [e for e in job.telling("collective-status") if e.rank is not None and e.rank not in told]
    return told | {e.rank for e in status if e.rank is not None and not _is_behind(e, table)}


def _is_behind(status: Event, table: GroupTable) -> bool:
    """Another rank's signal makes a rank dump its state as well, which may tell that it never came to the collective."""
    enqueued, seq = status.fields.get("last_enqueued"), table.majority("seq")
    pg = status.fields.get("pg")
    same_group = pg is None or table.group in ("", str(pg))
    return isinstance(enqueued, int) and isinstance(seq, int) and same_group and enqueued < seq


def _had_ended(job: Job, info: RankInfo, fired: float | None, table: GroupTable) -> bool:
    """A rank that was ended before the others' limit passed did not make them wait: whatever ended it did."""
    reporter = min((s.event for s in table.stuck.values()), key=lambda e: (e.source, e.line or 0))
    ends = [e for e in job.telling("exit", "signal-sent", "killed") if e.rank == info.rank or _is_of_host(e, info)]
    for event in ends:
        if event.source == reporter.source:
            return (event.line or 0) < (reporter.line or 0)
        if event.time is None or fired is None:
            continue
        if event.time < fired - max(ENDED_BEFORE_S, job.clocks.uncertainty_s(event, reporter)):
            return True
    return False


def _is_dead(job: Job, info: RankInfo) -> bool:
    """Whether it is known to have failed by itself, and not to have been ended by its launcher."""
    ends = [e for e in job.telling("exit", "signal-sent") if e.rank == info.rank and e.role in FAILING]
    return bool(ends) and not any(is_terminated(e) or e.rule.tells == "signal-sent" for e in ends)


def _has_died(job: Job, others: set[int], fired: float | None) -> bool:
    """Whether a rank that is none of the others ended of itself, and not after the limit had passed: they waited for it."""
    ends = [e for e in job.telling("exit") if e.rank is not None and e.rank not in others]
    dead = [job.ranks[e.rank] for e in ends if e.rank is not None and (fired is None or e.time is None or e.time < fired)]
    return any(_is_dead(job, i) and not _is_aborted(job, i) for i in dead)


def _is_aborted(job: Job, info: RankInfo) -> bool:
    """Whether it ended itself by SIGABRT, as a watchdog ends the process that waited: its report was not kept."""
    ends = [e for e in job.telling("exit") if e.rank == info.rank]
    return any({str(e.fields.get("exit_code")), str(e.fields.get("signal"))} & ABORTED for e in ends)


def _cut_off(job: Job) -> set[str]:
    """Files without their head (a report is quoted that is not in them) or without their end (a report breaks off)."""
    told = [e for e in job.events if e.rule.tells == "collective-timeout" and e.rank is not None]
    itself = {(e.source, e.rank) for e in told if QUOTED not in e.raw}
    ends = breaks_off_like(job, [*told, *job.telling("collective-status")])
    return ends | {e.source for e in told if (e.source, e.rank) not in itself}


def _is_of_host(event: Event, info: RankInfo) -> bool:
    """An agent ends all its processes: where one of them failed, the others of that host were ended too."""
    return info.host is not None and event.host == info.host and event.rule.tells != "killed"


def _unheard(job: Job, table: GroupTable, reported: set[int], world: int) -> list[RankInfo]:
    """In the consoles of all ranks, a rank that is not heard while all others are is silent, not missing.

    One of two is so only where the size is told: a paste of rank 1's lines alone has "seen" a world of two.
    """
    consoles = Counter(s.event.source for s in table.stuck.values())
    pair = world == 2 and _enough(job, reported) == 1
    missing = [r for r in range(min(world, MOST_RANKS)) if r not in reported]
    if not _are_all(consoles, world) or consoles.keys() & job.places.source_rank.keys() or _has_lost_somebody(job):
        return []
    return [job.ranks.get(r) or RankInfo(r) for r in missing] if len(missing) * 3 <= world or pair else []


def _are_all(consoles: Counter[str], world: int) -> bool:
    """Whether they are the one console of the job, or those of all hosts, each as full as the fullest one."""
    most = max(consoles.values(), default=0)
    return len(consoles) == 1 or (most > 1 and most * len(consoles) == world)


def _has_lost_somebody(job: Job) -> bool:
    """Whether Ray tells of a dead worker whose rank nobody knows: it may be the one that is not heard any more."""
    lost = (e for e in job.failures() if e.cause == ACTOR_DIED and e.fields.get("pid") is not None)
    return any(e.rank is None for e in lost)


def _is_only_unseen(job: Job, table: GroupTable, absent: list[RankInfo]) -> bool:
    """Whether a filter may have left the absent ones out: the first of a world that nobody states, and not heard of.

    Lines of ranks 1 to 3 alone have "seen" a world of four, of which rank 0 said nothing; mostly it is the one, but a
    paste may just begin behind its lines.
    """
    consoles = {s.event.source for s in table.stuck.values()}
    if job.places.world_from != GUESSED or any(job.is_heard(i.rank) for i in absent):
        return False
    heard = (e for source in job.sources if source.name in consoles for e in source.all_events())
    return sorted(i.rank for i in absent) == list(range(len(absent))) and all(e.rank is not None for e in heard)


def _is_whole_world(table: GroupTable) -> bool:
    """Whether the group is the default one: the number of a rank within it equals its number in the job."""
    checked = [s for s in table.stuck.values() if isinstance(s.event.fields.get("group_rank"), int)]
    return all(s.event.fields["group_rank"] == s.rank for s in checked)


def _finding(job: Job, table: GroupTable, absent: list[RankInfo]) -> Finding:
    ranks = tuple(sorted(i.rank for i in absent))
    crowd = sorted(table.stuck)
    usual = min(table.stuck.values(), key=lambda s: (s.event.time or 0.0, s.event.source, s.event.line or 0))
    doing = next((a for i in absent if (a := _last_activity(job, i, table))), None)
    who = f"rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}"
    waiting = f"Rank{'s' if len(crowd) > 1 else ''} {rank_ranges(crowd)}"
    why = f"{waiting} waited in {describe(table)}; {who} never reported it"
    why += f" and {was}." if (was := was_doing(doing)) else "."
    shown = [Exhibit.of_event(doing)] if doing else [*last_complaint(job, absent[0]), *_last_words(job, absent[0])]
    fields = {**usual.event.fields, "activity": doing.rule.activity if doing else None}
    onset = next((e.onset for e in (doing, usual.event) if e and e.onset is not None and e.has_own_time), None)
    is_guess = _is_only_unseen(job, table, absent) or not (job.is_heard(ranks[0]) or _is_told(job) or len(crowd) > 1)
    is_guess = is_guess or len(ranks) > 1  # all but one of them may have waited for that one in a group of their own
    certainty: Certainty = "possible" if is_guess else "likely"
    return Finding(
        cause_of_wait(doing), why, (*shown, Exhibit.of_event(usual.event)), ranks, onset=onset, fields=fields,
        question="absent", certainty=certainty,
    )  # fmt: skip


def _last_activity(job: Job, info: RankInfo, table: GroupTable) -> Event | None:
    """What the rank began last and had not ended when the others began to wait.

    Lines without a rank speak for rank 0; those on one host only, for the one there that did not come.
    """
    stuck = min((s.event for s in table.stuck.values()), key=lambda e: (e.time or 0.0, e.source, e.line or 0))
    unplaced = [e for e in job.telling("activity", "activity-end") if e.rank is None]
    if info.rank:
        elsewhere = {e.rule.id for e in unplaced if e.host != info.host}
        unplaced = [e for e in unplaced if info.host is not None and e.rule.id not in elsewhere and e.host == info.host]
    own = [*info.activities, *unplaced]
    own = [e for e in own if e.source != stuck.source or (e.line or 0) < (stuck.line or 0)]
    own.sort(key=lambda e: (e.time or 0.0, e.line or 0))
    if not own or own[-1].rule.tells == "activity-end" or not _was_going_on(own[-1], info, stuck):
        return None
    return own[-1]


def _was_going_on(doing: Event, info: RankInfo, stuck: Event) -> bool:
    """Steps keep ranks together: what began long before the others waited, or before a later step, was over."""
    sign = info.last_sign
    if sign is not None and sign.source == doing.source and (sign.line or 0) > (doing.line or 0) and "%|" not in sign.raw:
        return False
    if doing.time is None or stuck.onset is None or (doing.source != stuck.source and doing.host != stuck.host):
        return True
    return doing.time >= stuck.onset - BEGAN_BEFORE_S


def _last_words(job: Job, info: RankInfo) -> list[Exhibit]:
    raised = {e.source: e.traceback.line for e in reversed(info.failures()) if e.traceback is not None}
    lines = [(s, x) for s, x in job.lines_of(info.rank) if x.message.strip() and x.number < raised.get(s, x.number + 1)]
    before = [(s, x) for s, x in lines if not any(word in x.raw for word in NOT_DOING)]
    sign = info.last_sign
    if sign is not None and (not before or sign.source == before[-1][0]):
        is_own = job.places.source_rank.get(sign.source) == info.rank
        if not (is_own and before and _is_said_after(before[-1][1], sign)):
            return [Exhibit.of_event(sign)]
    return [Exhibit.of_line(before[-1][0], before[-1][1], info.rank, info.host)] if before else []


def _is_said_after(line: Line, sign: Event) -> bool:
    """Whether the program went on to say what it does after its last step: `[rank2] running extended evaluation`."""
    is_later = line.number > (sign.end_line or sign.line or 0)
    is_dated = line.prefix.stamp is not None or not sign.has_own_time
    return is_later and is_dated and not line.message[0].isspace()
