"""Questions that only many ranks together can answer: one question a file, and the list of them here.

Each takes the `Job` and yields `Finding`s; none knows of another. What several of them read stands in the job room.
"""

from __future__ import annotations

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

QUESTIONS = (
    fingerprints, mismatch, waited_in, named_absent, absent, rank_zero, shared_gpu, early_exit, certificates, lost_peers,
    silent_exit, silence, versions, standing, recorder,
)  # fmt: skip


def correlate(job: Job) -> list[Finding]:
    """Yield all findings, in the order of the questions; of a job that says it is done and outlived all errors none."""
    if any(e.rule.teller == "job" for e in job.telling("finished")) and not job.failures():
        return []
    return [finding for question in QUESTIONS for finding in question.find(job)]


__all__ = ["QUESTIONS", "Exhibit", "Finding", "correlate"]
