"""Which ranks sit on one GPU?

NCCL names a pair: "rank 0 and rank 1 both on CUDA device 34000". One pair: these two are placed wrongly. Where every rank
is named, the launcher or `set_device` is wrong for all, and no rank is at fault. A lone message names the reporting rank
and the lowest other one: of a pair without rank 0 the others are placed well, else that is not sure.
Where the reporter is another rank of the job than the message says, it counts within a smaller communicator, and whose
numbers these are is not told.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from .finding import Certainty, Finding, Sentence, earliest_onset, exhibits

CAUSE = "nccl.invalid-usage"
PAIR = 2


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a single pair of ranks is named."""
    events = [e for e in job.failures() if e.cause == CAUSE and isinstance(e.fields.get("other_rank"), int)]
    reporters = {e.fields.get("group_rank") for e in events}
    ranks = {r for r in (*reporters, *(e.fields["other_rank"] for e in events)) if isinstance(r, int)}
    if len(ranks) != PAIR or any(e.rank not in (None, e.fields.get("group_rank")) for e in events):
        return
    says, onset = Sentence("shared_gpu.pair", {"ranks": ranks}), earliest_onset(events)
    certainty: Certainty = "certain" if ranks <= reporters or min(ranks) > 0 or job.was_alive else "likely"
    yield Finding("shared_gpu", CAUSE, says, exhibits(events), tuple(sorted(ranks)), certainty=certainty, onset=onset)
