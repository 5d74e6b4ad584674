"""Do hosts run different versions of what has to be one?

Some versions of NCCL can't set up a communicator together, and they report it in other words: a failed check, a peer
that left. Two versions of PyTorch issue other collectives. Where setup or a collective failed, hosts that log different
versions explain it. Driver and CUDA may differ between hosts that work together: they are a notice, not a finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from .finding import Finding, Sentence, exhibits

CAUSES = {"nccl_version": "nccl.version-mismatch", "torch_version": "software.version-incompatible"}
PAIR = 2  # of versions: the one that a single host has, where several have the other, is the odd one
SYMPTOMS = ("nccl.", "collective.desync", "collective.shape-mismatch", "collective.timeout", "rendezvous.timeout")


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding for each library of which hosts print different versions, where that shows as a failure."""
    failed = [e for e in job.failures() if str(e.cause).startswith(SYMPTOMS)]
    if not failed or any(info.last_step for info in job.ranks.values()):
        return  # ranks that made steps together had found each other's version good enough
    for name, cause in CAUSES.items():
        seen = _by_version(job, name)
        if len(seen) < 2 or any(e.cause == cause for e in failed):
            continue
        rows = [{"version": version, "where": ", ".join(sorted(hosts))} for version, (hosts, _) in seen.items()]
        says = Sentence("versions.differ", {"name": name.removesuffix("_version"), "versions": rows})
        groups = sorted(seen.values(), key=lambda group: len(group[0]))
        odd = groups[0][0] if len(groups) == PAIR and len(groups[0][0]) == 1 < len(groups[1][0]) else ()
        onset = min((e.onset for e in failed if e.onset is not None), default=None)
        shown = exhibits(event for _, event in groups)
        yield Finding("versions", cause, says, shown, hosts=tuple(odd), onset=onset, fields={"versions": rows})


def _by_version(job: Job, name: str) -> dict[str, tuple[set[str], Event]]:
    """Yield the hosts that print each version, with the first line that does; nothing where a host prints two."""
    found: dict[str, tuple[set[str], Event]] = {}
    for value, event in job.facts.get(name, ()):
        if event.host is not None:
            found.setdefault(str(value).partition("+")[0], (set(), event))[0].add(event.host)
    hosts = [host for named, _ in found.values() for host in named]
    return found if len(hosts) == len(set(hosts)) else {}
