"""What became of rank 0, with which all others have to meet?

Every rank asks rank 0's store for the id of a new communicator. "Connection reset": rank 0 is gone. A time-out: rank 0
lives and is late, it has not reached the call. Where every rank but 0 fails to connect to one address, rank 0, which
listens there, never came up or cannot be reached. Source: PyTorch, ProcessGroupNCCL.cpp, broadcastUniqueNCCLID.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.activity import last_phase, wait_for
from ..job.event import Event
from ..job.job import Job, RankInfo
from .finding import Finding, Sentence, earliest_onset, exhibits

UNREACHED = ("network.connect-timeout", "network.connection-refused")
LATE, GONE = "rendezvous.timeout", "network.connection-reset"  # the causes of a wait for the id, and of its loss
FEWEST = 2  # one rank alone that cannot connect proves nothing about the other end


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding on rank 0, where others waited for it, lost it or could not reach it, and it did not itself."""
    yield from _of_its_id(job)
    yield from _of_its_address(job)


def _of_its_id(job: Job) -> Iterator[Finding]:
    asked = [e for e in job.failures() if _asks_for_id(e)]
    waited = [e for e in asked if 0 not in (e.rank, e.fields.get("group_rank"))]
    if not waited or any(e.rank == 0 for e in asked):
        return
    said = [e for e in waited if e.cause == GONE] or waited
    ranks = sorted({r for e in said if isinstance(r := e.rank if e.rank is not None else e.fields["group_rank"], int)})
    onset = earliest_onset(said)
    if said[0].cause == GONE:
        says = Sentence("rank_zero.gone", {"waiting": ranks})
        yield Finding("rank_zero", GONE, says, exhibits(said), (0,), onset=onset)
        return
    phase = last_phase(job, job.ranks.get(0) or RankInfo(0), said[0])
    (cause, does, seen), (first, *others) = wait_for(phase), exhibits(said)
    says = Sentence("rank_zero.late", {"waiting": ranks, "phase": does})
    yield Finding("rank_zero", cause, says, (first, *seen, *others), (0,), onset=onset)


def _asks_for_id(event: Event) -> bool:
    """Whether it is about NCCL's id, as what a rank of a group waits for or loses before there is any connection."""
    is_wait = event.cause == LATE and event.rule.tells == "collective-timeout"
    return is_wait or (event.cause == GONE and event.rule.tells is None and "group_rank" in event.fields)


def _of_its_address(job: Job) -> Iterator[Finding]:
    events = [e for e in job.failures() if e.cause in UNREACHED and e.rank is not None and e.fields.get("peer_host")]
    ranks = {e.rank for e in events if e.rank is not None}
    addresses = {(e.fields["peer_host"], e.fields.get("peer_port")) for e in events}
    world = job.world_size or max(ranks, default=0) + 1
    if not len(ranks) == world - 1 >= FEWEST or 0 in ranks or len(addresses) != 1:
        return
    host, port = next(iter(addresses))
    says = Sentence("rank_zero.unreached", {"ranks": ranks, "host": host, "port": port})
    yield Finding("rank_zero", events[0].cause or UNREACHED[0], says, exhibits(events), (0,), onset=earliest_onset(events))
