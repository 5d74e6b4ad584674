"""Which ranks sit on one GPU?

NCCL names a pair: "rank 0 and rank 1 both on CUDA device 34000". One pair: these two are placed wrongly. Where every rank
is named, the launcher or `set_device` is wrong for all, and no rank is at fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

CAUSE = "nccl.invalid-usage"
PAIR = 2


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a single pair of ranks is named."""
    events = [e for e in job.failures() if e.cause == CAUSE and isinstance(e.fields.get("other_rank"), int)]
    ranks = {r for e in events for r in (e.fields.get("group_rank"), e.fields["other_rank"]) if isinstance(r, int)}
    if len(ranks) == PAIR:
        why = f"NCCL says that ranks {rank_ranges(ranks)} are on the same GPU."
        onset = min((e.onset for e in events if e.onset is not None), default=None)
        yield Finding(
            CAUSE, why, exhibits(events), tuple(sorted(ranks)), certainty="certain", onset=onset, question="shared_gpu"
        )
