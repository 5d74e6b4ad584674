"""Questions that only many ranks together can answer: one question a file, and the list of them here.

Each takes the `Job` and yields `Finding`s; none knows of another.
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
    master,
    mismatch,
    named_absent,
    odd_one,
    rank_zero,
    recorder,
    shared_gpu,
    silence,
    silent_exit,
    standing,
    store_count,
    stuck_watchdog,
    together,
    waited_in,
)
from .finding import Exhibit, Finding

QUESTIONS: tuple[Callable[[Job], Iterator[Finding]], ...] = (
    fingerprints.find,  # what do the ranks say of each other's collectives?
    mismatch.find,  # who issued something else at the same number?
    waited_in.find,  # in which call did each rank wait when it gave up?
    named_absent.find,  # whom does a message name as not having come?
    absent.find,  # who did not report the time-out that the others did?
    stuck_watchdog.find,  # on whom did even the watchdog stand still?
    rank_zero.find,  # what became of rank 0 while the others waited for it?
    shared_gpu.find,  # which ranks sit on one GPU?
    master.find,  # does nobody reach the address on which rank 0 listens?
    early_exit.find,  # who was done while the others still worked?
    certificates.find,  # who was killed, and by whom?
    odd_one.find,  # who lost something else than the others did?
    lost_peers.find,  # whom did the others lose?
    silent_exit.find,  # who left with an error code and no word?
    silence.find,  # whose log just stops?
    together.find,  # do all ranks wait in one and the same collective?
    standing.find,  # where does each rank's stack stand?
    store_count.find,  # whom does the host of the store miss, which only counts them?
    recorder.find,  # what do the flight recorders say?
)


def correlate(job: Job) -> list[Finding]:
    """Yield all findings, in the order of the questions."""
    return [finding for question in QUESTIONS for finding in question(job)]


__all__ = ["QUESTIONS", "Exhibit", "Finding", "correlate"]
