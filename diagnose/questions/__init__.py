"""Questions that only many ranks together can answer: one question a file, and the list of them here.

Each takes the `Job` and yields `Finding`s; none knows of another. What several of them read stands in the job room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..job.job import Job
from . import (
    absent,
    certificates,
    early_exit,
    fingerprints,
    lost_peers,
    mismatch,
    named_absent,
    rank_zero,
    recorder,
    shared_gpu,
    silence,
    silent_exit,
    standing,
    versions,
    waited_in,
)
from .finding import Exhibit, Finding

QUESTIONS: tuple[Callable[[Job], Iterator[Finding]], ...] = (
    fingerprints.find,  # what do the ranks say of each other's collectives?
    mismatch.find,  # where do the ranks of a group stand in their common order of collectives?
    waited_in.find,  # in which call did each rank wait when it gave up, and what did it handle?
    named_absent.find,  # whom does a message name, or leave out by its count?
    absent.find,  # who did not report the wait that the others did?
    rank_zero.find,  # what became of rank 0 while the others waited for it?
    shared_gpu.find,  # which ranks sit on one GPU?
    early_exit.find,  # who was done while the others still worked?
    certificates.find,  # who was killed, and by whom?
    lost_peers.find,  # whom did the others lose?
    silent_exit.find,  # who left with an error code and no word?
    silence.find,  # whose log just stops?
    versions.find,  # do hosts run different versions of what has to be one?
    standing.find,  # where does each rank's stack stand?
    recorder.find,  # what do the flight recorders say?
)


def correlate(job: Job) -> list[Finding]:
    """Yield all findings, in the order of the questions; of a job that says it is done and outlived all errors none."""
    if any(e.rule.teller == "job" for e in job.telling("finished")) and not job.failures():
        return []
    return [finding for question in QUESTIONS for finding in question(job)]


__all__ = ["QUESTIONS", "Exhibit", "Finding", "correlate"]
