"""Who: of the ranks that could show a thing, who met it, who got past it, and of whom nobody knows.

Some got past it and few met it: those few. Nobody got past it: nobody, it is the same for all. All of one host met it and
others got past it: that host.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..catalogue.rule import Cause
from ..job.event import FAILING, Event
from ..job.identity_table import GUESSED, HERE
from ..job.job import CERTIFICATES, Job
from ..job.process import CRASHES, is_sigkill, is_terminated
from ..traces.traceback import is_above
from .candidate import STATED, Candidate, alike, names_device

EVERYWHERE = 0.8  # of the ranks seen with the same complaint: then it is no rank's own
MANY, MANY_SHARE = 3, 0.5  # so many ranks, and more than half: the same for all
NODE_SIZES = (4, 8, 16)  # GPUs
LEAD_S = 5.0  # by which a process has to have died before the others to be the first of them
WAITS = ("collective-timeout", "heartbeat", "peer-lost", "absent-ranks")
MANY_STACKS = 100  # in which one cause was raised: no line of the program then parts those who waited from them
RAISED = 1  # the exit code of Python after an exception


@dataclass(frozen=True, slots=True)
class Scope:
    """The ranks of a job beside one cause."""

    met: frozenset[int]
    passed: frozenset[int]  # they waited for others, lost them, made steps afterwards, or were ended by their launcher
    behind: frozenset[int]  # they wait, before any step, at a line above the one that was not passed
    hosts: frozenset[str]  # where it was met
    seen: int  # how many ranks are heard of

    @classmethod
    def of(cls, job: Job, roots: Sequence[Candidate]) -> Scope:
        """Yield the scope of the candidates that share the winning cause."""
        met = _listed(job, roots) or {c.rank for c in _at_fault(roots) if c.rank is not None}
        own = {(e.source, e.line) for c in roots for e in c.events}
        heard = {e.rank for e in job.telling(*WAITS) if (e.source, e.line) not in own}
        sent = [e for e in job.telling("signal-sent", "exit") if e.rule.tells == "signal-sent" or is_terminated(e)]
        ended = {r for e in sent for r in _ranks_told(job, e)}
        passed = {r for r, i in job.ranks.items() if r in heard or r in ended or i.finished or i.failed_in_words()} - met
        behind = _still_before(job, roots)
        seen = sum(i.has_lines for i in job.ranks.values()) or len(job.ranks)
        hosts = {c.host for c in _at_fault(roots) if c.host is not None}
        return cls(frozenset(met), frozenset(passed - behind), frozenset(behind), frozenset(hosts), seen)

    def is_everywhere(self, job: Job) -> bool:
        """Whether so many ranks met it that it is none's own."""
        world = min(self.seen, job.world_size or self.seen)
        share = len(self.met) / max(1, world)
        return (len(self.met) > 1 and share >= EVERYWHERE) or (len(self.met) >= MANY and share > MANY_SHARE)


def who(
    job: Job, cause: Cause, roots: Sequence[Candidate], scope: Scope, candidates: Sequence[Candidate]
) -> tuple[list[int], list[str]]:
    """Yield the ranks at fault, and the hosts; both empty where it is nobody's or nobody can tell."""
    finding = next((c.finding for c in roots if c.finding is not None), None)
    if finding is not None:
        of_ranks = [i.host for r in finding.ranks if (i := job.ranks.get(r)) is not None and i.host]
        return sorted(finding.ranks), sorted({*(finding.hosts or of_ranks)})
    blame = _blame(cause, roots)
    hosts = _hosts(job, roots, scope, blame)
    named = _named(roots)
    if named and len(named) <= max(2, MANY_SHARE * (job.world_size or scope.seen)):
        return named, hosts
    if blame in ("none", "common"):
        is_own = blame == "common" and _is_past_by_others(job, scope)
        own = set(scope.met) if is_own else _missed(candidates, roots) if blame == "common" and not scope.met else set()
        return sorted(own), hosts if _is_one_host(job, scope) else []
    if scope.is_everywhere(job):
        return [], []
    ranks = set(scope.met) or _missed(candidates, roots)
    if cause.id in CRASHES and len(ranks) < _voices(roots):
        ranks = set()  # of several that crashed the launcher names one
    if not ranks and blame != "host" and not _said_by_several(roots):
        ranks = _felt(roots, candidates) or _first_dead(job, roots)
    if not ranks or blame == "host" or is_whole_hosts(job, ranks):
        return [], hosts
    return ([], []) if blame == "shared" and _may_be_all(job, roots, scope, ranks) else (sorted(ranks), hosts)


def _blame(cause: Cause, roots: Sequence[Candidate]) -> str:
    """Who can be at fault: what the messages say goes before what their cause says as a rule."""
    shown = _events(roots)
    stated = [e for e in shown if e.role == "cause"] or shown
    told = {e.rule.blame for e in stated}
    return (told.pop() if len(told) == 1 else None) or cause.blame


def _events(roots: Sequence[Candidate]) -> list[Event]:
    return [e for c in roots for e in c.events]


def _at_fault(roots: Sequence[Candidate]) -> list[Candidate]:
    """Those that broke, where any did: not who only compares itself with another, waited for it, or lost it.

    Where the kernel names the device that broke, not who only felt it at the other end of a link.
    """
    own = [c for c in roots if c.finding is not None or any(e.rule.tells != "collective-mismatch" for e in c.events)]
    told = [c for c in own if any(_is_of_kernel(e) for e in c.events)]
    if told:
        near = [c for c in told if any(e.role == "cause" and not e.fields.get("at_peer") for e in c.events)]
        return near or told
    broke = (c for c in own if c.direct == STATED or c.finding or all(e.rule.tells not in WAITS for e in c.events))
    return [*broke] or own


def _is_of_kernel(event: Event) -> bool:
    return names_device(event) and event.traceback is None


def _ranks_told(job: Job, end: Event) -> Sequence[int | None]:
    """Of whom a launcher tells an end: of one rank, or of a list of tasks, where these are the ranks."""
    tasks = end.fields.get("ranks") if end.rank is None and job.places.tasks_are_ranks else None
    return tasks if isinstance(tasks, list) else (end.rank,)


def _listed(job: Job, roots: Sequence[Candidate]) -> set[int]:
    """Who raised what a driver prints once for all of them, below a list of these ranks."""
    raised = {(e.source, e.traceback.line) for e in _events(roots) if e.traceback is not None}
    heads = ((e, e.traceback.end_line) for e in job.failures() if isinstance(e.fields.get("ranks"), list) and e.traceback)
    return {r for e, end in heads if {(e.source, end + 1), (e.source, end + 2)} & raised for r in e.fields["ranks"]}


def _still_before(job: Job, roots: Sequence[Candidate]) -> set[int]:
    """The ranks that waited, before any step was made, in a line of the program above the one where it was raised.

    `with main_process_first(): …`: rank 0 goes first through what all the others are to do after it.
    """
    raised = {e.traceback.frames for e in _events(roots) if e.traceback is not None and e.role == "cause"}
    if job.was_alive or not raised or len(raised) > MANY_STACKS:
        return set()
    waiting = {(e.rank, e.traceback.frames) for e in job.failures() if e.traceback is not None and e.rank is not None}
    return {rank for rank, frames in waiting if any(is_above(frames, those) for those in raised)}


def _may_be_all(job: Job, roots: Sequence[Candidate], scope: Scope, ranks: set[int]) -> bool:
    """Whether all may have met it: nobody is heard to have got past it, and one stands for the rest or some is nobody's."""
    if scope.behind:
        return True
    is_world_of_one = job.world_size == 1 and job.places.world_from != GUESSED
    is_alone = (scope.seen <= 1 or any(c.rank is None for c in roots)) and (job.places.local_world or 1) == 1
    return not scope.passed and ranks == {0} and not is_world_of_one and is_alone


def _named(roots: Sequence[Candidate]) -> list[int]:
    """The ranks that the messages themselves say to be at fault, both of two that collide among them."""
    told = [e.fields.get(name) for e in _events(roots) if e.role == "cause" for name in e.rule.blames]
    return sorted({r for value in told for r in (value if isinstance(value, list | tuple) else [value]) if r is not None})


def _is_past_by_others(job: Job, scope: Scope) -> bool:
    """Whether few met it, and all others are heard without it, or more than they are known to have gone on."""
    world = job.world_size or scope.seen
    others = sum(i.has_lines for r, i in job.ranks.items() if r not in scope.met)
    is_past = others >= world - len(scope.met) or len(scope.passed) > len(scope.met)
    return 0 < len(scope.met) <= max(1, world // 4) and is_past


# --- hosts --------------------------------------------------------------------------------------------------------


def _hosts(job: Job, roots: Sequence[Candidate], scope: Scope, blame: str) -> list[str]:
    """Where it was met; of what a daemon says without naming its node, where its launcher found processes dead."""
    hosts = scope.hosts or {ip for c in _at_fault(roots) if c.first is not None and (ip := c.first.speaker.ip)}
    if not hosts and blame == "host":
        sources = {e.source for e in _events(roots)}
        ends = [e for e in job.telling("exit") if e.source in sources and e.role in FAILING and not is_terminated(e)]
        hosts = {e.host for e in ends if e.host} if len({e.host for e in ends}) == 1 else set()
    return [] if len(hosts) > 1 and not scope.met else sorted(hosts)


def _is_one_host(job: Job, scope: Scope) -> bool:
    """Whether it was met on one host, and others are heard of that did not meet it."""
    others = {*job.hosts} - {*HERE} - scope.hosts
    return len(scope.hosts) == 1 and bool(others) and bool(scope.passed or not scope.met)


def is_whole_hosts(job: Job, ranks: set[int]) -> bool:
    """Yield whether these are all ranks of some hosts, out of several: then the host is at fault, and no rank."""
    hosts = {i.host for r in ranks if (i := job.ranks.get(r)) is not None}
    if len(ranks) < 2 or not hosts:
        return False
    if hosts == {None}:
        count, first = len(ranks), min(ranks)
        is_block = count in NODE_SIZES and first % count == 0 and max(ranks) == first + count - 1
        return is_block and max(job.world_size or 0, len(job.ranks)) >= 2 * count
    return len(job.hosts) > len(hosts) and all(i.host not in hosts or r in ranks for r, i in job.ranks.items())


# --- errors that name no rank -------------------------------------------------------------------------------------


def _said_by_several(roots: Sequence[Candidate]) -> bool:
    """Whether several hosts or processes say it, or one console says it more than once."""
    return len({e.host for e in _events(roots) if _is_own_word(e) and e.host}) > 1 or _voices(roots) > 1


def _voices(roots: Sequence[Candidate]) -> int:
    """How many processes say it at least: by their ids, or as who raises or crashes does so once."""
    said = [e for e in _events(roots) if _is_own_word(e)]
    texts = Counter((e.source, e.rule.id, alike(e)) for e in said if e.traceback is not None or e.cause in CRASHES)
    return max(len({(e.host, e.speaker.pid) for e in said if e.speaker.pid is not None}), max(texts.values(), default=0))


def _is_own_word(event: Event) -> bool:
    return event.rule.tells != "exit" and (event.role == "cause" or event.cause in CRASHES)


def _felt(roots: Sequence[Candidate], candidates: Sequence[Candidate]) -> set[int]:
    """The one rank of that host which says what it felt of it, or fell silent by it."""
    hosts = {c.host for c in roots}
    there = [c for c in candidates if c.rank is not None and (c.host in hosts or hosts == {None})]
    of_kernel = any(_is_of_kernel(e) for e in _events(roots))
    there = [c for c in there if (of_kernel and c in roots) or any(t in roots for t in c.explained_by)]
    there = [c for c in there if c.direct == STATED or c.finding is not None]
    ranks = {c.rank for c in there if c.rank is not None}
    return ranks if len(ranks) == 1 else set()


def _missed(candidates: Sequence[Candidate], roots: Sequence[Candidate]) -> set[int]:
    """The one rank that all others say they lost, or those that they name, by what was said without a rank."""
    seen = (c for c in candidates if c.finding is not None and c.finding.question in ("lost_peers", "named_absent"))
    told = {c.finding.ranks for c in seen if c.finding is not None and any(t in roots for t in c.explained_by)}
    return set(told.pop()) if len(told) == 1 else set()


def _first_dead(job: Job, roots: Sequence[Candidate]) -> set[int]:
    """An error that names no rank is that of the one process which its launcher then finds dead first, on the same host."""
    root = roots[0].first
    if root is None or root.rule.tells == "exit":
        return set()
    said = {e.rank for e in job.failures() if e.source == root.source and e.rule.tells not in CERTIFICATES}
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and e.rank not in (None, *said)]
    ends = [e for e in ends if _is_of_same_host(e, root) and (e.source != root.source or (e.line or 0) > (root.line or 0))]
    ends = _by_kind_of_end(ends, root)
    ends.sort(key=lambda e: (e.time is None, e.time or 0.0, e.source, e.line or 0))
    first, others = next(iter(ends), None), ends[1:]
    return set() if first is None or first.rank is None or _are_alike(first, others) else {first.rank}


def _by_kind_of_end(ends: list[Event], root: Event) -> list[Event]:
    """Of several ends those that fit: of a kill who was killed, of a crash who died by its signal."""
    if root.rule.tells == "killed":
        return [e for e in ends if is_sigkill(e)]
    by_signal = [e for e in ends if e.cause == root.cause]
    raised = [e for e in ends if e.fields.get("exit_code") == RAISED] if root.traceback is not None else []
    return by_signal or raised or ends


def _are_alike(first: Event, others: Iterable[Event]) -> bool:
    """Whether another process of another rank ended in the same way, and not clearly later."""
    rest = [e for e in others if e.rank != first.rank and e.fields.get("exit_code") == first.fields.get("exit_code")]
    return any(first.time is None or e.time is None or e.time - first.time < LEAD_S for e in rest)


def _is_of_same_host(end: Event, root: Event) -> bool:
    return end.host == root.host if end.host is not None and root.host is not None else end.source == root.source
