"""Which ranks sit on one GPU?

NCCL names a pair: "rank 0 and rank 1 both on CUDA device 34000". One pair: these two are placed wrongly. Where every rank
is named, the launcher or `set_device` is wrong for all, and no rank is at fault. A lone message names the reporting rank
and the lowest other one. That others are placed well has to be known from elsewhere: they are heard of, it is said that
there are more, or steps were made before this communicator was set up.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job import Job
from ..placement.places import GUESSED
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

CAUSE = "nccl.invalid-usage"
PAIR = 2


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a single pair of ranks is named."""
    events = [e for e in job.failures() if e.cause == CAUSE and isinstance(e.fields.get("other_rank"), int)]
    ranks = {r for e in events for r in (e.fields.get("group_rank"), e.fields["other_rank"]) if isinstance(r, int)}
    if len(ranks) == PAIR and _are_others_known(job, ranks):
        why = f"NCCL says that ranks {rank_ranges(ranks)} are on the same GPU."
        onset = min((e.onset for e in events if e.onset is not None), default=None)
        yield Finding(
            CAUSE, why, exhibits(events), tuple(sorted(ranks)), certainty="certain", onset=onset, question="shared_gpu"
        )


def _are_others_known(job: Job, ranks: set[int]) -> bool:
    """Whether more ranks than these are heard of, it is said that there are more, or all had worked together before."""
    is_told = job.places.world_from not in ("", GUESSED) and (job.world_size or 0) > PAIR
    return is_told or job.was_alive or not ranks.issuperset(job.ranks)
