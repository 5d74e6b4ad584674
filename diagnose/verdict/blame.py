"""Who is at fault: the ranks of the winning suspects, a host, or nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..catalogue.load import Catalogue
from ..catalogue.rule import Cause
from ..job.copies import is_repetition
from ..job.coverage import are_half_told
from ..job.event import FAILING, Event
from ..job.exit import ENTRIES, ENTRY, HEAD, ONCE, ended_at, is_terminated
from ..job.job import CERTIFICATES, Job
from ..job.places import GUESSED
from .blamed_hosts import (
    address,
    complain_elsewhere,
    is_met_by_all_hosts,
    is_met_on_one_host,
    is_whole_hosts,
    odd_hosts,
    share_hosts,
    where_it_ended,
    without_witnesses,
)
from .consequences import EXCEPTION, EXIT_CODE, RAISED
from .devices import is_of_host, is_of_kernel, without_peers
from .going_first import only_went_first
from .nameless import SILENT, first_ended, only_compares, victims
from .said_alike import is_said_by_unknown_ones
from .suspects import LATE, STATED, Suspect

if TYPE_CHECKING:
    from ..questions.finding import Finding
    from .decision import Verdict

EVERYWHERE = 0.8  # of the ranks seen with the same complaint: then it is no rank's own fault
KNOWN_BUG = "software.known-bug"
INTERFACE = "network.interface"
SHARED = ("process.exception", "storage.", KNOWN_BUG, INTERFACE, "numerics.nan")  # seldom the fault of one rank alone
LATENT = (KNOWN_BUG, INTERFACE)  # lies in wait for each rank
OF_FABRICS = "nccl."  # what all hosts say of themselves is a setting, a topology or the fabric between them
OF_A_NODE = ("memory.", "gpu.")  # its address alone is worth telling
HELD_BY_ALL = (
    "numerics.nan/loss-scale-at-minimum",  # an overflow on any rank lowers the scale of all
    "storage.checkpoint-corrupt/state-dict-does-not-fit",  # all load one checkpoint into one model
)
OF_ITSELF = ("process.segfault", "process.bus-error")
UNEVEN = "data.uneven-inputs"
LOST, STANDING = "lost_peers", "standing"  # questions
LEAD_S = 5.0  # by which a process has to have died before the others to be the first of them
REFUSED = "network.connection-refused"  # by a server that is no rank: of metrics, rewards, features
MET_ALONE = (REFUSED, "config.invalid-argument")  # nobody's own, unless one met it in the middle of the steps
OF_HOSTS = ("software.", "hub.", "network.dns", "nccl.shm-exhausted")  # what all hosts have in common, unless one differs
MANY, MANY_SHARE = 3, 0.5  # so many ranks, and more than half: alike by a common reason


def _hosts_of(job: Job, cause: Cause, at_fault: Sequence[Suspect]) -> list[str]:
    """Where it was met; nowhere, if a program raised alike on half of several hosts or more: what they run is at fault."""
    places = {s.host or (address(s) if cause.id.startswith(OF_A_NODE) else None) for s in without_witnesses(at_fault)}
    hosts = sorted(place for place in places if place is not None)
    is_raised = cause.id == EXCEPTION and all(s.rank is None for s in at_fault)
    if not hosts and at_fault and all(cause.blame == "host" or is_of_host(s) for s in at_fault):
        return where_it_ended(job, at_fault)
    if cause.id.startswith(OF_FABRICS) and is_met_by_all_hosts(job, hosts, at_fault):
        return []
    return [] if is_raised and len(hosts) > 1 and 2 * len(hosts) >= len(job.hosts) else hosts


def blame(job: Job, catalogue: Catalogue, verdict: Verdict) -> None:
    """Fill in the culprits and their hosts; none where the cause is nobody's, or everybody's."""
    cause = catalogue.causes[verdict.roots[0].cause]
    finding = next((s.finding for s in verdict.roots if s.finding and not _lost_nobody_known(s.finding, verdict)), None)
    if finding is not None:
        verdict.culprits = [] if finding.question in SILENT and share_hosts(job, finding.ranks) else sorted(finding.ranks)
        infos = (job.ranks.get(rank) for rank in finding.ranks)
        verdict.culprit_hosts = sorted(finding.hosts or {i.host for i in infos if i and i.host})
        return
    if cause.blame == "none" or _is_nobodys(verdict):
        verdict.culprits = _stands_alone(verdict) or _met_alone(job, verdict)
        verdict.culprit_hosts = odd_hosts(job, verdict) if cause.id.startswith(OF_HOSTS) else []
        return
    at_fault = [s for s in without_peers(verdict.roots) if not _only_waited(s)]
    ranks = {s.rank for s in at_fault if s.rank is not None and not only_compares(s) and not is_of_host(s)}
    ranks = _first_dead(verdict, ranks)
    verdict.culprit_hosts = _hosts_of(job, cause, at_fault)
    ranks |= _listed(job, verdict)
    is_of_a_host = complain_elsewhere(job, ranks) or is_met_on_one_host(job, verdict)
    if is_everywhere(job, ranks | _crashed_alike(verdict)) and not is_of_a_host:
        is_of_devices = any(is_of_kernel(e) for s in at_fault for e in s.events)
        verdict.culprit_hosts = verdict.culprit_hosts if is_of_devices else []
        return
    if not ranks and at_fault and cause.blame == "rank" and not all(map(is_of_host, at_fault)):
        ranks = victims(job, verdict) or first_ended(job, verdict)
    if not ranks or cause.blame == "host" or is_whole_hosts(job, ranks) or is_said_by_unknown_ones(verdict, ranks):
        return
    if _is_all_that_is_heard(job, verdict, ranks):
        verdict.culprit_hosts = []  # its host is as little set apart
        return
    if only_went_first(job, cause.id, ranks) or (cause.id == EXIT_CODE and _left_alike_at_the_start(job, ranks)):
        return
    if cause.id.startswith(SHARED) and failed_alike_unheard(job, ranks) and not _has_own_file(job, ranks):
        return
    stated = [e for s in verdict.roots for e in s.events if e.role == "cause"]
    if any(x.failed_in_words() for r, x in job.ranks.items() if r not in ranks) and are_half_told(job.sources, stated):
        return
    verdict.culprits = sorted(ranks)


def _lost_nobody_known(finding: Finding, verdict: Verdict) -> bool:
    """Whether others lost somebody of whom nothing is known, while a line states what broke at its own place."""
    is_placed = verdict.roots[0].direct == STATED and verdict.roots[0].host is not None
    return finding.question == LOST and not finding.ranks and not finding.hosts and is_placed


def _is_nobodys(verdict: Verdict) -> bool:
    """Whether all that states the cause, or else all that shows it, tells of two ends, and not at which the fault lies."""
    shown = [e for s in verdict.roots for e in s.events]
    stated = [e for e in shown if e.role == "cause"] or shown
    return bool(stated) and all(e.rule.blame == "none" for e in stated)


def _stands_alone(verdict: Verdict) -> list[int]:
    """The one rank whose stack stands in it, where all others wait for that one: nobody's fault, but the place to look."""
    ranks = {s.rank for s in verdict.roots}
    told = [e for s in verdict.roots for e in s.events]
    late = (s.finding for s in verdict.suspects if s.finding is not None and s.finding.question == STANDING)
    is_live = bool(told) and all(e.rule.match == "stack" for e in told)
    return [r for r in ranks if r is not None and is_live and len(ranks) == 1 and any(f.ranks == (r,) for f in late)]


def _met_alone(job: Job, verdict: Verdict) -> list[int]:
    """The one rank that a service or a setting refused, and that raised, while the training went on.

    At the start all ranks knock at the same door, and who is heard of it is chance. What a callback or a reward function
    asks in the middle of the steps is that rank's own: the others only lose it, or are ended. Of a setting the others
    have to say that they lost it, and rank 0 does by itself what is only its own business (saving, logging).
    """
    ranks, cause = {s.rank for s in verdict.roots}, verdict.roots[0].cause
    if cause not in MET_ALONE or len(ranks) != 1 or not job.was_alive:
        return []
    others = [s for s in verdict.suspects if s.rank is not None and s.rank not in ranks]
    is_raised = all(e.traceback is not None for s in verdict.roots for e in s.events if e.role == "cause")
    is_followed = bool(others) and all(any(t in verdict.roots for t in s.explained_by) for s in others)
    is_lost = 0 not in ranks and any(job.ranks[s.rank].failed_in_words() for s in others if s.rank in job.ranks)
    is_own = is_raised and is_followed and (is_lost or cause == REFUSED)
    return [r for r in ranks if r is not None and is_own]


def _listed(job: Job, verdict: Verdict) -> set[int]:
    """Who raised what Ray Train prints once for all of them, below a list of these ranks."""
    raised = {(e.source, e.traceback.line) for s in verdict.roots for e in s.events if e.traceback is not None}
    lists = ((e, e.traceback) for e in job.failures() if isinstance(e.fields.get("ranks"), list))
    heads = ((e, tb.end_line) for e, tb in lists if tb is not None)
    return {r for e, end in heads if {(e.source, end + 1), (e.source, end + 2)} & raised for r in e.fields["ranks"]}


def _crashed_alike(verdict: Verdict) -> set[int]:
    """Who crashed of itself as the root did while the launcher ended it: SIGTERM brings about no SIGSEGV."""
    cause = verdict.roots[0].cause
    return {s.rank for s in verdict.suspects if s.cause == cause and s.rank is not None} if cause in OF_ITSELF else set()


def _first_dead(verdict: Verdict, ranks: set[int]) -> set[int]:
    """Of processes of which nothing is known but how they ended, the one that died clearly before the others.

    Each node's launcher tells of its own first: the later ones had lost their peer. Clocks of nodes agree within seconds,
    which is not known to be so here; the verdict is no more than possible either way.
    """
    ends = [e for s in verdict.roots for e in s.events if e.rank in ranks]
    if len(ranks) < 2 or verdict.roots[0].cause != EXIT_CODE or any(e.rule.tells != "exit" for e in ends):
        return ranks
    died: dict[int, float] = {}
    for e in ends:
        if e.rank is not None and (at := ended_at(e)) is not None:
            died[e.rank] = min(at, died.get(e.rank, at))
    first, *others = sorted(died, key=died.__getitem__) or [-1]
    is_first = len(died) == len(ranks) and died[others[0]] - died[first] > LEAD_S
    return {first} if is_first else ranks


def is_everywhere(job: Job, ranks: set[int]) -> bool:
    """Whether so many ranks say the same that it is no rank's own fault."""
    seen = sum(i.has_lines for i in job.ranks.values()) or len(job.ranks)
    world = job.world_size or seen
    share = len(ranks) / max(1, min(seen, world))
    return (len(ranks) > 1 and share >= EVERYWHERE) or (len(ranks) >= MANY and share > MANY_SHARE)


def _is_all_that_is_heard(job: Job, verdict: Verdict, ranks: set[int]) -> bool:
    """Whether rank 0 alone is heard, and what it met is as a rule met by all: a missing file, an attribute, NaN.

    Consoles are filtered to rank 0 (`torchrun --local-ranks-filter 0`), and `[rank0]:` is all that is pasted: where
    nothing tells of another rank, that rank 0 says it does not set it apart. A world of one, stated, is rank 0's own.
    A bug of a library and a name of an interface in the environment of the job lie in wait for each of them, and the loss
    scale and the model are one for all: whichever rank is pasted alone is only the one that was copied.
    """
    cause = verdict.roots[0].cause
    is_latent = cause in LATENT or all(e.rule.id in HELD_BY_ALL for s in verdict.roots for e in s.events)
    printers = {e.speaker.rank for s in verdict.roots for e in s.events}  # one prints what another's exception was
    is_alone = set(job.ranks) <= ranks | printers and (ranks == {0} or (len(ranks) == 1 and is_latent))
    told = {(e.source, e.line) for s in verdict.roots for e in s.events}
    lost = (e for e in job.telling("peer-lost") if (e.source, e.line) not in told)  # whoever did, it had not failed alike
    is_lost = any(e.rank not in ranks for e in lost)
    if not is_alone or is_lost or not cause.startswith(SHARED):
        return False
    is_world_of_one = job.world_size == 1 and job.places.world_from != GUESSED
    return not is_world_of_one and (job.places.local_world or 1) == 1


def _left_alike_at_the_start(job: Job, ranks: set[int]) -> bool:
    """Whether several left by one code before any rank made a step, and the launcher ended the rest: all would have."""
    ends = [e for e in job.telling("exit") if e.rank is not None and e.role in FAILING]
    codes = {e.fields.get("exit_code") for e in ends if e.rank in ranks}
    rest = [e for e in ends if e.rank not in ranks]
    is_start = not any(info.last_sign for info in job.ranks.values())
    return len(ranks) > 1 and len(codes) == 1 and is_start and all(map(is_terminated, rest))


def failed_alike_unheard(job: Job, ranks: set[int]) -> bool:
    """Whether all others that failed by themselves ended with the same code, and of none of them is a word here.

    The end of a console shows the rank that printed last; who lost the others by it would have said so. So does one that
    its launcher was ending, because it had found another one dead that left by an exception too. Where launchers on
    several hosts tell how their ranks ended, each in a file of its own, those of the others are just not all of it.
    """
    ends = [e for e in job.telling("exit") if e.rank is not None and e.role in FAILING and not is_terminated(e)]
    codes = {e.rank: e.fields.get("exit_code") for e in ends}
    own = {codes.get(rank) for rank in ranks}
    others = {rank: code for rank, code in codes.items() if rank is not None and rank not in ranks}
    is_alike = set(others.values()) in (own, {RAISED} if own == {None} else own)
    if not others or not is_alike or len({e.source for e in ends}) > 1:
        return False
    unplaced = {e.host for e in job.failures() if e.rank is None and e.rule.tells not in CERTIFICATES} - {None}
    unplaced -= {i.host for rank in ranks if (i := job.ranks.get(rank))}  # a report may name one that is not heard of
    heard = {e.speaker.rank for e in job.failures() if e.rank in ranks}  # who raise what another failed with: `(RANK 1)`
    return not any(r in heard or job.ranks[r].failed_in_words() or job.ranks[r].host in unplaced for r in others)


def is_half_told(job: Job, verdict: Verdict) -> bool:
    """Whether torchrun's agent alone says who it was, and what it says of the others was not copied.

    It names the first that it found dead. That the others had not failed alike shows in its whole summary, in its ending
    them, or in what one of them lost.
    """
    stated = [e for s in verdict.roots for e in s.events if e.role == "cause"]
    if not stated or not all(map(_is_of_an_agent, stated)):
        return False
    rules = {e.rule.id: e.rule.tells for e in job.events if e.source == stated[0].source}
    is_whole = not {"signal-sent", "peer-lost"}.isdisjoint(rules.values()) or {HEAD, ENTRY} <= rules.keys()
    heads = [e for e in job.events if e.rule.id == HEAD and e.source == stated[0].source and e.attempt == job.attempt]
    if len(heads) > len({e.speaker for e in heads}):
        return True  # those of two agents, woven into one another without a label
    is_world = job.world_size == len(verdict.culprits) and job.places.world_from != GUESSED
    others = (i for rank, i in job.ranks.items() if rank not in verdict.culprits)
    return not is_whole and not is_world and not any(i.has_lines for i in others)


def _is_of_an_agent(event: Event) -> bool:
    """Whether it is what torchrun's agent says of an end, or repeats; of a traceback without its head nobody knows."""
    is_cut = event.traceback is not None and event.traceback.form == "headless"
    return is_cut or is_repetition(event) or event.rule.id in (ONCE, *ENTRIES)


def _has_own_file(job: Job, ranks: set[int]) -> bool:
    return any(rank in ranks for rank in job.places.source_rank.values())


def _only_waited(suspect: Suspect) -> bool:
    """Whether the rank only says that another one did not come, or had no more: `TP rank 1 could finish …`."""
    if suspect.finding is None and suspect.events and all(e.rule.tells == "absent-ranks" for e in suspect.events):
        return suspect.rank not in {rank for e in suspect.events for rank in e.fields.get("absent_ranks") or ()}
    return suspect.cause in (LATE, UNEVEN) and bool(suspect.events) and all(e.role == "symptom" for e in suspect.events)
