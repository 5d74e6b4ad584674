"""Several jobs in one folder: the one that failed is diagnosed, and the others are named.

Slurm numbers its jobs, and the names of its files hold the number. Files without one (kernel logs, a controller's log)
may tell of any job and stay, as do those beside the folders of several runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..lines.path_identity import PathIdentity
from ..lines.record import record
from .event import FAILING, SourceEvents
from .folders_apart import runs_by_folder


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
    jobs = {f"Slurm job {number}": of_it for number, of_it in sorted(_slurm_jobs(sources, identities).items())}
    if len(jobs) < 2:
        jobs = {f"{run.name}/": run.sources for run in runs_by_folder(sources, identities)}
    if len(jobs) < 2:
        return list(sources), []
    order = {name: place for place, name in enumerate(jobs)}
    decisive = max(jobs, key=lambda name: (_failed(jobs[name]), order[name]))
    apart = [(name, of_it) for name, of_it in jobs.items() if name != decisive]
    left_out = {s.name for _, of_it in apart for s in of_it}
    others = [JobApart(name, tuple(sorted(s.name for s in of_it)), _failed(of_it)) for name, of_it in apart]
    return [s for s in sources if s.name not in left_out], others


def _slurm_jobs(sources: Sequence[SourceEvents], identities: Mapping[str, PathIdentity]) -> dict[int, list[SourceEvents]]:
    jobs: dict[int, list[SourceEvents]] = defaultdict(list)
    for source in sources:
        identity = identities[source.name]
        if identity.kind == "slurm" and identity.job is not None and identity.job.isdigit():
            jobs[int(identity.job)].append(source)
    return jobs


def _failed(sources: Sequence[SourceEvents]) -> bool:
    return any(e.role in FAILING for s in sources for e in s.events)
