"""Do all ranks wait in one and the same collective?

Then no rank holds up the others, and the fault lies below them. A group whose very first collective never completes was
never connected: interfaces, fabric, NCCL's topology. One that worked for long lost a link, a GPU or a kernel's progress.
Source: PyTorch, ProcessGroupNCCL's work sequence numbers, which count from 0 or 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from .collectives import GroupTable, collective_tables, describe
from .finding import Exhibit, Finding

FIRST = 1
FEWEST = 2


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding where every rank of the job reports the same collective as stuck."""
    for table in collective_tables(job):
        ranks, calls = set(table.stuck), {(s.seq, s.op) for s in table.stuck.values()}
        if len(calls) != 1 or None in next(iter(calls)) or not FEWEST <= len(ranks) == job.world_size == max(ranks) + 1:
            continue
        first = min(table.stuck.values(), key=lambda s: (s.event.time or 0.0, s.event.source, s.event.line or 0))
        yield Finding(
            "collective.timeout", _why(table), (Exhibit.of_event(first.event),), certainty="possible",
            onset=first.event.onset, fields=dict(first.event.fields), question="together",
        )  # fmt: skip
        return


def _why(table: GroupTable) -> str:
    seq = table.majority("seq")
    many = len(table.stuck)
    said = f"{f'All {many}' if many > 2 else 'Both'} ranks wait in {describe(table)}"
    if seq is not None and seq <= FIRST:
        return f"{said}, the first of its group: they were never connected, so look at interfaces, fabric and topology."
    return f"{said}: those before it worked, so suspect a link, a GPU or its driver."
