"""Whom did the others lose?

"Connection reset" and "closed by peer" are printed by those who stayed. The peer that they name (by address, host or
rank) is the one that left. Where several name the same one, and it says nothing itself, its end is the thing to explain.
An address of the fast network names no host; the one other host whose kernel complains of that network then is it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..job.event import Event
from ..job.job import Job
from ..lines.lazy_pattern import lazy
from ..lines.rank_ranges import rank_ranges
from .finding import Finding, exhibits

ADDRESS = lazy(r"(?:\d{1,3}\.){3}\d{1,3}$|[\da-fA-F]{0,4}:[\da-fA-F:.]+$")
DIED = ("ray.actor-died", "data.worker-died")
UNREACHED, NODE_FAILURE = "network.partition", "process.node-failure"
FAST_NETWORK = "nccl.ib-error"  # status 12: nobody answered, be it that the card, the host or its processes are gone
AROUND_S = 600.0  # retries of a queue pair last seconds, clocks of kernels may be minutes apart


def find(job: Job) -> Iterator[Finding]:
    """Yield a finding for the peer that is named most, if it does not itself complain of others."""
    events = [e for e in job.telling("peer-lost") if e.role in ("cause", "symptom")]
    named = Counter(p for e in events if (p := _peer(job, e)) is not None)
    if not named:
        return
    kind, name = min(named, key=lambda p: (-named[p], str(p)))
    said = [e for e in events if _peer(job, e) == (kind, name)]
    causes = Counter(e.cause for e in said if e.cause)
    cause = min(causes, key=lambda c: (-causes[c], c)) if causes else "network.connection-reset"
    if kind == "rank":
        rank = int(str(name))
        if rank in {e.rank for e in job.failures()}:
            return
        why = f"{_who(said)} lost the connection to rank {rank}, which reports nothing."
        yield Finding(cause, why, exhibits(said), (rank,), onset=_onset(said), question="lost_peers")
        return
    host = str(name)
    if kind == "host" and any(e.host == host for e in job.failures()):
        return
    if kind == "address" and _is_found_dead(job, said):
        return
    own = _of_its_kernel(job, said, cause) if kind == "address" else None
    if own is not None and own.host is not None:
        why = f"{_who(said)} lost connections to {host}; of all hosts only {own.host} tells of a network fault."
        shown, fields = exhibits([own, *said]), {"peer": host}
        yield Finding(cause, why, shown, hosts=(own.host,), onset=_onset(said), fields=fields, question="lost_peers")
        return
    gone = _silent_host(job, said) if kind == "address" and cause in (UNREACHED, FAST_NETWORK) else None
    if gone is not None:
        why = f"{_who(said)} got no answer from {host} any more; the logs of {gone} stop without a word."
        fields, ended = {"peer": host}, NODE_FAILURE if cause == UNREACHED else cause
        yield Finding(ended, why, exhibits(said), hosts=(gone,), onset=_onset(said), fields=fields, question="lost_peers")
        return
    why = f"{_who(said)} lost connections to {host}; no log from there says why."
    yield Finding(
        cause, why, exhibits(said), hosts=(), certainty="possible", onset=_onset(said),
        fields={"peer": host}, question="lost_peers",
    )  # fmt: skip


def _is_found_dead(job: Job, said: list[Event]) -> bool:
    """Whether a rank that does not say so itself lost its loader, or was found dead by Ray: that one is whom they lost."""
    speakers = {e.rank for e in said}
    died = (e for e in job.failures() if e.cause in DIED)
    return any(e.rank is not None and e.rank not in speakers for e in died)


def _of_its_kernel(job: Job, said: list[Event], cause: str) -> Event | None:
    """What the one host whose kernel tells of the same cause says of it, around that time; its ranks may complain, too."""
    began = _onset(said)
    own = [e for e in job.failures() if e.cause == cause and e.rule.tells != "peer-lost" and e.rank is None]
    own = [e for e in own if e.host is not None and e.traceback is None]
    own = [e for e in own if began is None or e.time is None or abs(e.time - began) < AROUND_S]
    return own[0] if own and all(e.host for e in said) and len({e.host for e in own}) == 1 else None


def _silent_host(job: Job, said: list[Event]) -> str | None:
    """The one host of which no rank says anything of a failure, while those of all the others lost the same address.

    A process that dies closes its connections, and the others see that at once. Whoever waits until a limit passes, or is
    told that there is no way to the host, has lost the host.
    """
    lost = {e.host for e in said}
    failed = {e.host for e in job.failures()}
    hosts = {i.host for i in job.ranks.values() if i.has_lines}
    quiet = hosts - failed
    is_whole = len(job.ranks) >= (job.world_size or 1) and None not in hosts | lost
    return next(iter(quiet)) if is_whole and len(quiet) == 1 and hosts - quiet == lost and len(hosts) > 1 else None


def _peer(job: Job, event: Event) -> tuple[str, object] | None:
    rank = event.fields.get("peer_rank")
    if isinstance(rank, int) and rank != event.rank:
        return ("rank", rank)
    ip, host = event.fields.get("peer_ip"), event.fields.get("peer_host")
    if host and ADDRESS.match(str(host)):  # NCCL's peers over InfiniBand: `from peer 10.9.3.4<55120>`
        ip, host = host, None
    host = host or job.places.host_of_ip.get(str(ip))
    if host and host != event.host:
        return ("host", str(host))
    return ("address", str(ip)) if ip and not str(ip).startswith("127.") else None


def _onset(events: list[Event]) -> float | None:
    return min((e.onset for e in events if e.onset is not None), default=None)


def _who(events: list[Event]) -> str:
    ranks, hosts = {e.rank for e in events if e.rank is not None}, sorted({e.host for e in events if e.host})
    if ranks:
        return f"Rank{'s' if len(ranks) > 1 else ''} {rank_ranges(ranks)}"
    return f"Processes of {', '.join(hosts[:3])}" if hosts else "Other processes"
