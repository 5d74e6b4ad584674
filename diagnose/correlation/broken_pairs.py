"""Which one host is in every pair of hosts between which the fast network failed?

A transfer that fails names both ends, and either may be at fault. Where several others failed with one and the same host
only, and that host with one of them, its own card, cable or port is the one thing they share. Of an address that nobody
places, those who name it are not the owner; the only one left that reports too is.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..events import Event
from ..job import Job
from .finding import Finding, exhibits

CAUSE = "nccl.ib-error"
FEWEST_OTHERS = 2  # of one pair alone nobody can tell which end it is
Pair = tuple[str, str]


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for the host that all broken pairs share."""
    told = [e for e in job.telling("peer-lost") if e.cause == CAUSE and e.host is not None]
    pairs = {pair: e for e in reversed(told) if (pair := _pair(job, e)) is not None}
    host = _shared(set(pairs))
    if host is None:
        return
    others = sorted({end for pair in pairs for end in pair} - {host})
    why = f"Each of the {len(pairs)} broken connections has {host} at one end; the other ends are {len(others)} hosts."
    onset = min((e.onset for e in told if e.onset is not None), default=None)
    shown = sorted(pairs.values(), key=lambda e: (e.host != host, e.time or 0.0, e.source, e.line or 0))
    yield Finding(CAUSE, why, exhibits(shown), hosts=(host,), onset=onset, question="broken_pairs")


def _pair(job: Job, event: Event) -> Pair | None:
    told = event.fields.get("peer_ip") or event.fields.get("peer_host")
    if told is None or event.host is None:
        return None
    peer = job.places.host_of_ip.get(str(told), str(told))
    return (event.host, peer) if peer != event.host else None


def _shared(pairs: set[Pair]) -> str | None:
    """Return the end that is in all pairs and reports a failure itself."""
    reporting = {host for host, _ in pairs}
    shared = [h for h in reporting if all(h in pair for pair in pairs) and _is_among_enough(h, pairs)]
    if len(shared) == 1:
        return shared[0]
    for address in {peer for _, peer in pairs} - reporting:
        naming = {host for host, peer in pairs if peer == address}
        left = reporting - naming
        if len(naming) >= FEWEST_OTHERS and len(left) == 1:
            return left.pop()
    return None


def _is_among_enough(host: str, pairs: set[Pair]) -> bool:
    return len({end for pair in pairs for end in pair} - {host}) >= FEWEST_OTHERS
