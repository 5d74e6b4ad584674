"""Does rank 0, for whose broadcast others wait, do something else?

A broadcast comes from rank 0 nearly always, and what a console says without a rank is mostly said by rank 0. Where
several ranks waited in vain for a broadcast, rank 0 does not report it, and the last that the console shows above is that
somebody evaluates, saves or the like, rank 0 was late: also where more ranks than rank 0 are missing in what was pasted.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..collectives import collective_tables, describe
from ..events import Event
from ..job import Job
from ..words.ranges import rank_ranges
from .activities import cause_of_wait, was_doing
from .finding import Exhibit, Finding

FEWEST = 2  # that wait: of one alone nobody knows whether it is the late one


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding on rank 0, where a broadcast was waited for and rank 0 did something else."""
    for table in collective_tables(job):
        if len(table.stuck) < FEWEST or table.majority("op") != "BROADCAST" or _is_heard(job):
            continue
        first = min((s.event for s in table.stuck.values()), key=lambda e: (e.source, e.line or 0))
        doing = _goes_on_above(job, first)
        if doing is not None:
            why = f"Ranks {rank_ranges(sorted(table.stuck))} waited in {describe(table)}; rank 0 {was_doing(doing)}."
            shown = (Exhibit.of_event(doing), Exhibit.of_event(first))
            yield Finding(
                cause_of_wait(doing), why, shown, (0,), certainty="possible", onset=first.onset, question="busy_root"
            )
            return


def _is_heard(job: Job) -> bool:
    """Whether rank 0 tells of a failure itself, or any rank says why it failed."""
    return any(e.rank == 0 or e.role == "cause" for e in job.failures())


def _goes_on_above(job: Job, first: Event) -> Event | None:
    """What rank 0, or nobody who is named, began above the first report, and neither ended nor followed by a step."""
    own = [e for e in job.telling("activity", "activity-end") if e.rank in (0, None) and e.source == first.source]
    own = [e for e in own if (e.line or 0) <= (first.line or 0)]
    if not own or own[-1].rule.tells != "activity" or own[-1].rule.activity == "waiting":
        return None
    last_sign = next((s.last_sign_line for s in job.sources if s.name == first.source), None)
    return own[-1] if (last_sign or 0) <= (own[-1].line or 0) else None
