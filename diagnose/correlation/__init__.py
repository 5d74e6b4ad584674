"""Questions that only many ranks together can answer: one question a file, and the list of them here.

Each takes the `Job` and yields `Finding`s; none knows of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..job import Job
from . import (
    absent,
    awaited_server,
    broken_pairs,
    busy_root,
    certificates,
    confirmed,
    early_exit,
    fingerprints,
    found_nobody,
    given_twice,
    hidden_reason,
    late_call,
    lost_peers,
    master,
    mismatch,
    name_unknown,
    named_absent,
    odd_one,
    odd_words,
    other_group,
    outside,
    rank_zero,
    ready_ranks,
    recorder,
    shapes_by_process,
    shared_gpu,
    silence,
    silent_exit,
    standing,
    start_barrier,
    step_wait,
    still_pending,
    store_count,
    store_gone,
    stuck_watchdog,
    together,
    told_alone,
    waited_in,
    world_sizes,
)
from .finding import Exhibit, Finding

QUESTIONS: tuple[Callable[[Job], Iterator[Finding]], ...] = (
    fingerprints.find,  # what do the ranks say of each other's collectives?
    mismatch.find,  # who issued something else at the same number?
    shapes_by_process.find,  # whose tensors have another shape than all the others'?
    other_group.find,  # who waits in another process group than all the others of its own?
    hidden_reason.find,  # who waited while it handled an exception of its own?
    waited_in.find,  # in which call did each rank wait when it gave up?
    world_sizes.find,  # was a rank told another number of ranks than the others?
    named_absent.find,  # whom does a message name as not having come?
    found_nobody.find,  # did the one for whom they waited find nobody there?
    ready_ranks.find,  # who is not among those that a message lists as ready?
    odd_words.find,  # whose last words are of another kind than all the others'?
    absent.find,  # who did not report the time-out that the others did?
    busy_root.find,  # does the rank from which they wait for a broadcast do something else?
    stuck_watchdog.find,  # on whom did even the watchdog stand still?
    late_call.find,  # whom did a remote call wait for until its limit passed?
    rank_zero.find,  # what became of rank 0 while the others waited for it?
    shared_gpu.find,  # which ranks sit on one GPU?
    master.find,  # does nobody reach the address on which rank 0 listens?
    early_exit.find,  # who was done while the others still worked?
    step_wait.find,  # did srun end the step because a task had ended long before?
    certificates.find,  # who was killed, and by whom?
    confirmed.find,  # what does the kernel say of a process that died?
    outside.find,  # was the job ended from outside?
    told_alone.find,  # was one rank alone interrupted?
    odd_one.find,  # who lost something else than the others did?
    lost_peers.find,  # whom did the others lose?
    broken_pairs.find,  # which host is in every pair between which the fast network failed?
    silent_exit.find,  # who left with an error code and no word?
    silence.find,  # whose log just stops?
    together.find,  # do all ranks wait in one and the same collective?
    standing.find,  # where does each rank's stack stand?
    given_twice.find,  # does each node take itself for the first one?
    store_count.find,  # whom does the host of the store miss, which only counts them?
    start_barrier.find,  # whom do the others wait for at their first barrier?
    store_gone.find,  # did the store go away, and nothing else is heard?
    awaited_server.find,  # did the trainer ask for its generation server to the end?
    still_pending.find,  # does a request to Ray wait, and nothing else is heard?
    name_unknown.find,  # is one name looked up in vain, and nothing else is heard?
    recorder.find,  # what do the flight recorders say?
)


def correlate(job: Job) -> list[Finding]:
    """Yield all findings, in the order of the questions."""
    return [finding for question in QUESTIONS for finding in question(job)]


__all__ = ["QUESTIONS", "Exhibit", "Finding", "correlate"]
