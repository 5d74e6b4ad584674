"""Did the one that raised only go first, through what all the others were to do after it?

    with training_args.main_process_first(desc="tokenise"):
        data = data.map(tokenise)

Rank 0 of the job, or of each node, tokenises and writes the cache, while the others wait at a barrier inside of the same
statement. What it meets there they would have met too, so that it is no fault of its own.
"""

from __future__ import annotations

from ..job.job import Job
from ..lines.lazy_pattern import lazy

COMMON = ("process.exception", "data.bad-sample", "storage.checkpoint-corrupt", "storage.io-error")
# accelerate, transformers, datasets' examples; `torch_distributed_zero_first` of YOLO, `zero_first` of axolotl
WAITS_FOR_FIRST = lazy(r"(?:^|_)(?:goes|process|zero|rank_?0|master|main)_first$")


def only_went_first(job: Job, cause: str, ranks: set[int]) -> bool:
    """Whether a rank that did not raise stood, when it lost the others, where all wait for the first to be done."""
    if cause not in COMMON or not ranks:
        return False
    traced = (e for e in job.failures() if e.traceback is not None and e.rank is not None and e.rank not in ranks)
    return any(WAITS_FOR_FIRST.search(f.function) for e in traced if e.traceback for f in e.traceback.frames)
