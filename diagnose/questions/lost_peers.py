"""Whom did the others lose?

"Connection reset" and "closed by peer" are printed by those who stayed. The peer that they name (by address, host or
rank) is the one that left. Where several name the same one, and it says nothing itself, its end is the thing to explain.
An address of the fast network names no host; the one other host whose kernel complains of that network then is it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..job.event import Event
from ..job.identity_table import ADDRESS
from ..job.job import Job
from ..job.process import is_terminated
from .finding import Finding, Sentence, earliest_onset, exhibits

Peer = tuple[str, object]  # its kind (rank, host, address), and which


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for the peer that is named most, if it does not itself complain of others."""
    events = [e for e in job.failures() if e.rule.tells == "peer-lost"]
    named = Counter(p for e in events if (p := _peer(job, e)) is not None)
    if not named:
        return
    peer = min(named, key=lambda p: (-named[p], str(p)))
    said = [e for e in events if _peer(job, e) == peer]
    causes = Counter(e.cause for e in said if e.cause)
    cause = min(causes, key=lambda c: (-causes[c], c)) if causes else "network.connection-reset"
    if peer[0] == "rank":
        rank = int(str(peer[1]))
        if rank not in {e.rank for e in job.failures()}:
            says = Sentence("lost_peers.rank", {"who": _who(said), "rank": rank})
            yield Finding("lost_peers", cause, says, exhibits(said), (rank,), onset=earliest_onset(said))
        return
    own = [e for e in job.failures() if e.host == peer[1]]
    if not own:
        yield _host(job, said, cause, peer)
    elif all(e.rule.tells == "exit" and e.cause and not is_terminated(e) for e in own):
        yield _ended(said, own[0], str(peer[1]))


def _ended(said: list[Event], end: Event, host: str) -> Finding:
    """The launcher saw a process of that host end."""
    says = Sentence("lost_peers.ended", {"who": _who(said), "peer": host, **end.fields})
    shown, ranks = exhibits([end, *said]), () if end.rank is None else (end.rank,)
    return Finding("lost_peers", str(end.cause), says, shown, ranks, (host,), onset=earliest_onset(said), fields=end.fields)


def _host(job: Job, said: list[Event], cause: str, peer: Peer) -> Finding:
    """The host behind an address is the one whose kernel tells of it, or the one of the process that a message names."""
    own = _of_its_kernel(job, said, cause) if peer[0] == "address" else None
    host = own.host if own is not None else None
    pid = next((e.fields["peer_pid"] for e in said if e.fields.get("peer_pid")), None)
    key = "lost_peers.faulty" if host else "lost_peers.address"
    return Finding(
        "lost_peers", cause, Sentence(key, {"who": _who(said), "peer": peer[1], "host": host, "pid": pid}),
        exhibits([*([own] if own else []), *said]), hosts=(host or str(peer[1]),) if host or pid else (),
        certainty="likely" if host else "possible", onset=earliest_onset(said), fields={"peer": str(peer[1])},
    )  # fmt: skip


def _of_its_kernel(job: Job, said: list[Event], cause: str) -> Event | None:
    """What the one host whose kernel tells of the same cause says of it; its ranks may complain, too."""
    own = [e for e in job.failures() if e.cause == cause and e.rule.tells != "peer-lost" and e.rank is None]
    own = [e for e in own if e.host is not None and e.traceback is None]
    return own[0] if own and all(e.host for e in said) and len({e.host for e in own}) == 1 else None


def _peer(job: Job, event: Event) -> Peer | None:
    rank = event.fields.get("peer_rank")
    if isinstance(rank, int) and rank != event.rank:
        return ("rank", rank)
    ip, host = event.fields.get("peer_ip"), event.fields.get("peer_host")
    if host and ADDRESS.match(str(host)):  # NCCL's peers over InfiniBand: `from peer 10.9.3.4<55120>`
        ip, host = host, None
    host = job.places.host(host or job.places.host_of_ip.get(str(ip)))
    if host and host != event.host:
        return ("host", str(host))
    return ("address", str(ip)) if ip and not str(ip).startswith("127.") else None


def _who(events: list[Event]) -> Sentence:
    ranks, hosts = {e.rank for e in events if e.rank is not None}, sorted({e.host for e in events if e.host})
    return Sentence("lost_peers.who", {"ranks": ranks, "hosts": hosts[:3]})
