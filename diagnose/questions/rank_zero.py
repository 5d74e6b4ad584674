"""What became of rank 0 while the others waited for it to hand out NCCL's id?

Every rank asks rank 0's store for the id of a new communicator. "Connection reset": rank 0 is gone. A time-out: rank 0
lives and is late, it has not reached the call. Either way rank 0 is the one to look at, unless its own lines say more.
Source: PyTorch, ProcessGroupNCCL.cpp, broadcastUniqueNCCLID.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from ..lines.rank_ranges import rank_ranges
from .activities import awaits_server, cause_of_wait, was_doing
from .finding import Exhibit, Finding, exhibits

LATE = "rendezvous.timeout/unique-id-not-handed-out"
GONE = "network.connection-reset/unique-id-store-reset"


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding on rank 0, where others waited in vain for it and it did not itself wait."""
    waited = [e for e in job.failures() if e.rule.id in (LATE, GONE) and 0 not in (e.rank, e.fields.get("group_rank"))]
    if not waited or any(e.rank == 0 and e.rule.id in (LATE, GONE) for e in job.failures()):
        return
    gone = [e for e in waited if e.rule.id == GONE]
    said = gone or waited
    ranks = sorted({r for e in said if isinstance(r := e.rank if e.rank is not None else e.fields.get("group_rank"), int)})
    who = f"Rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}" if ranks else "Other ranks"
    onset = min((e.onset for e in said if e.onset is not None), default=None)
    if gone:
        why = f"{who} lost rank 0's store while waiting for its NCCL id: rank 0 had gone."
        yield Finding("network.connection-reset", why, exhibits(said), (0,), onset=onset, question="rank_zero")
        return
    doing = _last_activity(job, waited[0])
    if awaits_server(doing):
        return
    why = f"{who} waited in vain for rank 0's NCCL id: rank 0 was alive and had not reached the call"
    why += f"; it {was}." if (was := was_doing(doing)) else "."
    yield Finding(cause_of_wait(doing), why, _shown(waited, doing), (0,), onset=onset, question="rank_zero")


def _shown(waited: list[Event], doing: Event | None) -> tuple[Exhibit, ...]:
    """What rank 0 did comes first where the line says that it was rank 0, else behind the first who waited for it."""
    first, *others = exhibits(waited)
    does = (Exhibit.of_event(doing),) if doing else ()
    return (*does, first, *others) if doing and doing.rank == 0 else (first, *does, *others)


def _last_activity(job: Job, waited: Event) -> Event | None:
    own = [e for e in job.telling("activity", "activity-end") if e.rank in (0, None)]
    own = [e for e in own if e.source != waited.source or (e.line or 0) < (waited.line or 0)]
    return own[-1] if own and own[-1].rule.tells == "activity" else None
