"""Jobs with nothing wrong at the end: quiet, noisy, with survived errors, restarted and then finished."""

from __future__ import annotations

from . import chatter, clock, raytext
from .fault import ANYWHERE, NO_RAY, Fault
from .job import Job, Truth
from .noise import mid_noise, rank_noise, teardown_noise
from .restarts import earlier_attempt


def done(title: str) -> Truth:
    return Truth("healthy", title, symptoms=["retried errors", "warnings at exit"], remedy="None needed.", keep_all=True)


def quiet(job: Job, time_s: float) -> Truth:
    chatter.finish(job, time_s)
    return done("the job finished")


def teardown(job: Job, time_s: float) -> Truth:
    chatter.finish(job, time_s)
    for rank in range(job.world) if job.world <= 64 else job.rng.sample(range(job.world), 40):
        if job.rng.random() < 0.6 or rank == 0:
            teardown_noise(job, rank, time_s + job.rng.uniform(1, 4))
    if job.launcher == "ray":
        for host in job.hosts:
            raytext.raylet_says(job, time_s + 5, host, "W", "store.cc:368: Disconnecting client due to connection error with code 2: End of file")
    return done("the job finished, its teardown complains")


def retries(job: Job, time_s: float) -> Truth:
    """Errors in the middle that the program itself got over."""
    moment = time_s
    for _ in range(job.rng.randrange(3, 9)):
        rank = job.any_rank()
        job.rank_says(moment, rank, mid_noise(job, rank, moment))
        job.rank_says(moment + 1, rank, rank_noise(job, rank, moment + 1))
        moment = chatter.train(job, moment + 2, job.rng.uniform(0.5, 3))
    if job.rng.random() < 0.5:
        rank = job.any_rank()
        stamp = clock.comma(job.at(rank, moment))
        job.rank_says(moment, rank, f"{stamp} WARNING rank {rank}: CUDA out of memory. Tried to allocate 1.21 GiB; emptying the cache and retrying this batch with half the size")
        moment = chatter.train(job, moment + 2, 2)
    chatter.finish(job, moment)
    return done("errors in between were survived, the job finished")


def recovered(job: Job, time_s: float) -> Truth:
    """A first attempt failed; the second ran to the end."""
    moment = chatter.start(job, earlier_attempt(job, time_s))
    moment = chatter.train(job, moment, job.rng.uniform(3, 30))
    chatter.finish(job, moment)
    for rank in range(min(job.world, 16)):
        teardown_noise(job, rank, moment + 2)
    return done("restarted after a failure, then finished")


FAULTS = [
    Fault("healthy", quiet, ANYWHERE), Fault("healthy-teardown", teardown, ANYWHERE), Fault("healthy-retries", retries, ANYWHERE),
    Fault("recovered", recovered, NO_RAY, silent=True),
]
