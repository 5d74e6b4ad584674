"""Who was killed, and by whom?

An exit code tells the signal, the kernel (or a cgroup, Slurm, the kubelet, Ray's memory monitor) tells who sent it. They
are joined by host: the proof comes last and in another file; a process id that it prints led to the rank already.
SIGKILL without proof stays `process.sigkill`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.job import Job
from ..job.process import is_sigkill
from ..job.survival import may_be_of_a_job
from .finding import Finding, Sentence, exhibits

NOBODY_ELSE = "process.sigkill"


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for each kill that names a host, but no rank, where just one rank died by SIGKILL there."""
    kills = [e for e in job.telling("killed") if e.rank is None and e.cause is not None and may_be_of_a_job(e)]
    ended = {e.rank for e in job.telling("signal-sent")}  # by their own launcher
    dead = [e for e in job.telling("exit") if e.rank is not None and is_sigkill(e) and e.rank not in ended]
    for kill in kills:
        proofs = [e for e in dead if None in (kill.host, e.host) or kill.host == e.host]
        if len({e.rank for e in proofs}) == 1 and proofs[0].rank is not None:
            rank = proofs[0].rank
            says = Sentence("certificates.killed", {"rank": rank, "host": kill.host})
            yield Finding(
                "certificates", kill.cause or NOBODY_ELSE, says, exhibits([kill, proofs[0]]), (rank,), certainty="certain",
                onset=kill.onset, fields=kill.fields,
            )  # fmt: skip
            return
    yield from _by_elimination(job)


def _by_elimination(job: Job) -> Iterator[Finding]:
    """An exit that names no rank belongs to the one known rank that says nothing, where all others complain."""
    ends = [e for e in job.telling("exit") if e.rank is None and e.role == "cause" and e.cause is not None]
    quiet = [r for r, info in job.ranks.items() if not info.failures()]
    is_whole = len(job.ranks) >= max(job.world_size or 0, 2)
    if len({e.cause for e in ends}) == 1 and len(quiet) == 1 and is_whole:
        how = {"signal": ends[0].fields.get("signal"), "code": ends[0].fields.get("exit_code")}
        says = Sentence("certificates.only-quiet-one", {"rank": quiet[0], **how})
        yield Finding(
            "certificates", ends[0].cause or NOBODY_ELSE, says, exhibits(ends[:1]), (quiet[0],), onset=ends[0].onset,
            fields=ends[0].fields,
        )  # fmt: skip
