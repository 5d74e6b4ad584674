"""Several jobs of Slurm among the inputs: the last one that failed is diagnosed, and the others are named.

Slurm numbers its jobs, and the names of its files hold the number. Files without one (kernel logs, a controller's log)
may tell of any job and stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..lines.path_identity import PathIdentity
from ..lines.record import record
from .event import FAILING, SourceEvents


@record
class JobApart:
    """A job among the inputs that the verdict is not about."""

    name: str
    files: tuple[str, ...]
    failed: bool


def set_jobs_apart(
    sources: Sequence[SourceEvents], identities: Mapping[str, PathIdentity]
) -> tuple[list[SourceEvents], list[JobApart]]:
    """Yield the sources of the last job that failed (of the last one, where none did), and the other jobs.

    `identities`: what the path of each source says by itself.
    """
    jobs: dict[int, list[SourceEvents]] = defaultdict(list)
    for source in sources:
        identity = identities[source.name]
        if identity.kind == "slurm" and identity.job is not None and identity.job.isdigit():
            jobs[int(identity.job)].append(source)
    if len(jobs) < 2:
        return list(sources), []
    decisive = max(jobs, key=lambda number: (_failed(jobs[number]), number))
    apart = [(number, of_it) for number, of_it in sorted(jobs.items()) if number != decisive]
    left_out = {s.name for _, of_it in apart for s in of_it}
    others = [JobApart(f"Slurm job {n}", tuple(sorted(s.name for s in of_it)), _failed(of_it)) for n, of_it in apart]
    return [s for s in sources if s.name not in left_out], others


def _failed(sources: Sequence[SourceEvents]) -> bool:
    return any(e.role in FAILING for s in sources for e in s.events)
