"""Is it a host, rather than its ranks? What the ranks of one have in common, and what other hosts tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..job.event import FAILING, Event
from ..job.exit import is_terminated
from ..job.job import Job
from ..job.places import HERE
from .devices import is_of_kernel
from .suspects import STATED, Suspect

if TYPE_CHECKING:
    from .decision import Verdict


NODE_FAILURE = "process.node-failure/slurm-node-failure"
NODE_SIZES = (4, 8, 16)  # GPUs
MANY_HOSTS = 3  # and more than half of them: the others may only have ended before they said it
FEWEST_ALIKE = 4  # processes without a number that say the same: a node of a large job has no fewer GPUs


def share_hosts(job: Job, ranks: Sequence[int]) -> bool:
    """Yield whether the ranks are several of each of their hosts, and others work elsewhere: a host is no rank."""
    hosts = Counter(i.host for r in ranks if (i := job.ranks.get(r)) is not None)
    return None not in hosts and min(hosts.values(), default=0) > 1 and len(hosts) < len(job.hosts)


def without_witnesses(roots: Sequence[Suspect]) -> Sequence[Suspect]:
    """Yield those that state what broke at their own place, where any does: who only lost a peer met it from afar.

    `NET/IB : Got async event : port error` on one host, `Got completion from peer` that host `with error 12` on another.
    """
    own = [s for s in roots if s.direct == STATED or not all(e.rule.tells == "peer-lost" for e in s.events)] or roots
    return [s for s in own if not all(_is_told_on_another(e) for e in s.events) or not s.events]


def _is_told_on_another(event: Event) -> bool:
    """Whether the node that prints it is alive: `*** STEP 7.0 ON n1 CANCELLED AT … DUE TO NODE FAILURE ***`."""
    return event.rule.id == NODE_FAILURE and not event.fields.get("host")


def is_met_by_all_hosts(job: Job, hosts: Sequence[str], at_fault: Sequence[Suspect]) -> bool:
    """Yield whether all hosts that are heard of, or most of several, say the same of themselves, and no kernel of its card.

    `Got completion from peer … with error 4` on each of three hosts: PCIe's access control redirects what the cards read.
    """
    is_own = any(is_of_kernel(e) for s in at_fault for e in s.events)
    heard = {*job.hosts, *(p.host for s in job.sources for p in s.speakers)} - {*HERE, None}
    is_most = heard <= set(hosts) or (len(hosts) >= MANY_HOSTS and 2 * len(hosts) > len(heard))
    return len(hosts) > 1 and not is_own and is_most


def address(suspect: Suspect) -> str | None:
    """Yield the address of its node, which Ray prints before a worker's words, where nothing names the host."""
    return suspect.first.speaker.ip if suspect.first is not None else None


def odd_hosts(job: Job, verdict: Verdict) -> list[str]:
    """Yield the one host where all ranks met it, if those elsewhere met something else, or nothing."""
    ranks = {s.rank for s in verdict.roots if s.rank is not None}
    hosts = {s.host for s in verdict.roots}
    is_odd = len(hosts) == 1 and (complain_elsewhere(job, ranks) or is_met_on_one_host(job, verdict))
    return [h for h in hosts if h is not None] if is_odd else []


def is_met_on_one_host(job: Job, verdict: Verdict) -> bool:
    """Yield whether several processes of one host met it, and none of other hosts whose own logs are here.

    What all hosts have in common, their processes meet within a second of one another.
    """
    events = [e for s in verdict.roots for e in s.events if e.role == "cause" and e.rule.tells is None]
    hosts = {e.host for e in events}
    spoken = {p.host or p.pod for s in job.sources for p in s.speakers}  # in the prefixes of one console
    own = {*job.places.source_host.values(), *spoken} - {*hosts, *HERE, None}
    each = {(e.rank, e.speaker.pid, e.line if e.rank is None and e.speaker.pid is None else None) for e in events}
    ranks = {e.rank for e in events if e.rank is not None}
    is_whole = is_whole_hosts(job, ranks) if ranks else len(each) >= FEWEST_ALIKE
    return len(hosts) == 1 and None not in hosts and bool(own) and len(each) > 1 and is_whole


def where_it_ended(job: Job, at_fault: Sequence[Suspect]) -> list[str]:
    """Yield the one host where processes failed, by the launcher, of what its daemon there says without naming itself.

    `slurmstepd: error: pyxis: container start failed …`, then `srun: error: node7: task 8: Exited with exit code 1`.
    """
    sources = {e.source for s in at_fault for e in s.events}
    ends = [e for e in job.telling("exit") if e.source in sources and e.role in FAILING and not is_terminated(e)]
    hosts = {e.host for e in ends}
    return [host for host in hosts if host is not None] if len(hosts) == 1 else []


def complain_elsewhere(job: Job, ranks: set[int]) -> bool:
    """Yield whether these are all of some hosts, and another host's log tells of others only: then it is no reason of all.

    A host whose environment differs fails before any of its processes names its rank, and the others then wait for it.
    """
    hosts = {i.host for r in ranks if (i := job.ranks.get(r)) is not None}
    known = {*hosts, None, *HERE}
    return is_whole_hosts(job, ranks) and any(e.host not in known for e in job.failures())


def is_whole_hosts(job: Job, ranks: set[int]) -> bool:
    """Yield whether it is all ranks of a host alike, out of several hosts: then the host is at fault, and no rank."""
    hosts = {i.host for r in ranks if (i := job.ranks.get(r)) is not None}
    if hosts == {None}:
        return _are_one_nodes(job, ranks)
    if None in hosts or len(ranks) < 2 or len(job.hosts) <= len(hosts):
        return False
    return all(i.host not in hosts or r in ranks for r, i in job.ranks.items())


def _are_one_nodes(job: Job, ranks: set[int]) -> bool:
    """Yield whether ranks of which no host is known are as many, and begin at such a number, as those of one node do.

    Launchers number the ranks of a node one after the other.
    """
    count, first = len(ranks), min(ranks)
    is_block = count in NODE_SIZES and first % count == 0 and max(ranks) == first + count - 1
    return is_block and max(job.world_size or 0, len(job.ranks)) >= 2 * count
