"""Suspects + `explains` -> the verdict: which suspect nothing else explains, who is at fault, how sure that is.

An edge from A to B needs: A's cause explains B's cause, A can reach B, and A did not begin after B (within what the
clocks can tell). Causes may explain each other both ways; of two events that do, the more direct one stands.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .attempts import FAILING, is_terminated
from .catalogue import Catalogue
from .clocks import UNALIGNED_S
from .correlation.finding import Finding
from .doubles import is_repetition
from .events import Event
from .job import Job
from .rule import Explains
from .suspects import EXCEPTION, SAME_MOMENT_S, Suspect, gather, when

Outcome = Literal["failed", "hung", "healthy", "recovered", "unfinished"]
STATED = 3  # a line states the cause
EVERYWHERE = 0.8  # of the ranks seen with the same complaint: then it is no rank's own fault
MANY, MANY_SHARE = 3, 0.5  # so many ranks, and more than half: alike by a common reason
ANOTHER_ZONE_S = 3600.0 * 0.9  # a host of which no clock is known may print another zone's time
DEATH_S = 60.0  # within which a launcher sees that a process has died
CERTIFICATE_S = 600.0  # how much later than its consequences a certificate may be printed


@dataclass(slots=True)
class Verdict:
    """What is at fault, and what lost against it."""

    outcome: Outcome
    cause: str | None  # None: nothing wrong found; "unknown": something is, and nothing names it
    roots: list[Suspect] = field(default_factory=list)  # of the winning cause
    culprits: list[int] = field(default_factory=list)
    culprit_hosts: list[str] = field(default_factory=list)
    certainty: Literal["certain", "likely", "possible"] = "possible"
    confidence: float = 0.0
    suspects: list[Suspect] = field(default_factory=list)
    rivals: list[Suspect] = field(default_factory=list)  # unexplained, and beaten
    findings: list[Finding] = field(default_factory=list)


def decide(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> Verdict:
    """Yield the verdict."""
    suspects = gather(job, findings, catalogue)
    _Relation(job, catalogue, suspects).explain()
    candidates = [s for s in suspects if not s.explained_by] or suspects
    if not candidates or _is_teardown(job, candidates):
        return _nothing_wrong(job, findings)
    candidates.sort(key=lambda s: _strength(s, lambda x: catalogue.causes[x.cause].broad))
    best = candidates[0]
    roots = [s for s in candidates if s.cause == best.cause and s.signature == best.signature]
    roots = [s for s in roots if s.direct or not best.direct]
    roots.sort(
        key=lambda s: (
            (s.finding is None, not (s.finding and s.finding.ranks)) if best.finding else (s.finding is not None,)
        )
    )
    if best.finding is None:
        roots = _earliest_first(roots)
    verdict = Verdict("hung" if _is_hung(job) else "failed", best.cause, roots, suspects=suspects, findings=list(findings))
    verdict.rivals = [s for s in candidates if s not in roots]
    _blame(job, catalogue, verdict)
    if verdict.culprits and best.direct == STATED and not any(s.finding for s in verdict.roots):
        verdict.roots.sort(key=lambda s: (_is_certificate(s), s.rank not in verdict.culprits))
    _rate(job, catalogue, verdict)
    return verdict


def _earliest_first(roots: list[Suspect]) -> list[Suspect]:
    """What several ranks say within the same moment is ordered by place, the rest by time."""
    times = [s.first.time for s in roots if s.first is not None and s.first.time is not None]
    begin = min(times, default=0.0)

    def key(s: Suspect) -> tuple[object, ...]:
        if s.first is None:
            return (True, True, 0.0, "", 0)
        time = s.first.time if s.first.time is not None else begin
        late = time > begin + SAME_MOMENT_S
        return (s.finding is not None, late, time if late else 0.0, s.first.source, s.first.line or 0)

    return sorted(roots, key=key)


def _is_drawn_from(t: Suspect, s: Suspect) -> bool:
    """Whether t is what all the lines of s together come to."""
    reads = t.finding.reads if t.finding is not None and t.finding.certainty == "certain" else ()
    return s.finding is None and bool(reads) and all(e.rule.tells in reads for e in s.events)


def _is_certificate(s: Suspect) -> bool:
    """An exit code tells that a process ended and comes last; what it printed before tells more."""
    return s.first is not None and s.first.rule.tells == "exit"


def _strength(s: Suspect, broad: Callable[[Suspect], bool]) -> tuple[object, ...]:
    """Directness, then narrowness and specificity, then onset; the rest only makes the order total."""
    onset = s.onset if s.onset is not None else float("inf")
    order = when(s.first) if s.first else (True, 0.0, "", 0)
    ended = s.finding is None and s.first is not None and s.first.rule.tells in ("signal-received", "exit")
    return (-s.direct, _is_echo(s), broad(s), not s.specific, ended, onset, order, s.cause, s.place())


def _is_echo(s: Suspect) -> bool:
    """An exception that only tells of another one (a pipe broke, a worker raised); it says nothing of why."""
    return s.cause == EXCEPTION and s.direct == 1


def _is_teardown(job: Job, candidates: Sequence[Suspect]) -> bool:
    """A run that says it finished, and of which no process failed, only complains while it closes."""
    if job.context.failed() or not job.telling("finished"):
        return False
    return all(s.direct == 1 for s in candidates) and not any(_is_failed_exit(e) for e in job.telling("exit"))


def _is_failed_exit(event: Event) -> bool:
    return event.role in FAILING or event.fields.get("exit_code") not in (None, 0)


def _is_hung(job: Job) -> bool:
    """Ranks are seen to wait, by stacks, recorders or silence, and nothing tells of a process that ended."""
    return not job.failures() and not job.context.failed()


def _nothing_wrong(job: Job, findings: Sequence[Finding]) -> Verdict:
    if job.context.failed():
        return Verdict("failed", "unknown", findings=list(findings))
    if job.survived or job.earlier:
        return Verdict("recovered", None, findings=list(findings))
    finished = any(r.finished for r in job.ranks.values()) or job.telling("finished")
    return Verdict("healthy" if finished else "unfinished", None, findings=list(findings))


# --- who explains whom --------------------------------------------------------------------------------------------


class _Relation:
    """Looks up explainers by cause and place, so that the cost is near-linear in ranks."""

    def __init__(self, job: Job, catalogue: Catalogue, suspects: Sequence[Suspect]) -> None:
        self._job, self._catalogue, self._suspects = job, catalogue, suspects
        self._by_cause: dict[str, list[Suspect]] = defaultdict(list)
        self._at_rank: dict[tuple[str, int | None], list[Suspect]] = defaultdict(list)
        self._at_host: dict[tuple[str, str | None], list[Suspect]] = defaultdict(list)
        for s in suspects:
            self._by_cause[s.cause].append(s)
            self._at_rank[s.cause, s.rank].append(s)
            self._at_host[s.cause, s.host].append(s)
        for group in self._by_cause.values():
            group.sort(key=lambda s: s.onset if s.onset is not None else float("inf"))
        self._links = {
            (a, b): links for a in self._by_cause for b in self._by_cause if (links := catalogue.explains(a, b))
        }

    def explain(self) -> None:
        """Fill in `explained_by` of every suspect: the strongest few that beat it."""
        for s in self._suspects:
            for cause in self._by_cause:
                for link in self._links.get((cause, s.cause), ()):
                    winner = next((t for t in self._reaching(link, cause, s) if t is not s and self._beats(t, s)), None)
                    if winner is not None and winner not in s.explained_by:
                        s.explained_by.append(winner)

    def _reaching(self, link: Explains, cause: str, s: Suspect) -> Iterable[Suspect]:
        if link.where == "same-rank" and s.rank is not None:
            return [*self._at_rank[cause, s.rank], *self._at_rank[cause, None]]
        if link.where == "same-host" and s.host is not None:
            return [*self._at_host[cause, s.host], *self._at_host[cause, None]]
        return self._by_cause[cause][:64]

    def _beats(self, t: Suspect, s: Suspect) -> bool:
        """Whether t explains s, and not s t rather."""
        if s.direct and not t.direct:
            return False
        if _is_drawn_from(s, t) or _is_drawn_from(t, s):
            return _is_drawn_from(t, s)
        if _is_echo(t) and not _is_echo(s) and (s.cause != "process.exit-code" or s.finding is not None):
            return False
        asked = (t.finding and t.finding.question, s.finding and s.finding.question)
        if set(asked) == {"silent_exit", "lost_peers"}:
            return asked[0] == "silent_exit"  # the peer that they lost is the one that left
        if self._is_death(t, s) or self._is_death(s, t):
            return self._is_death(t, s)
        order = self._order(t, s)
        if order > 0 and not self._is_certificate(t, s):
            return False
        if not self._links.get((s.cause, t.cause)) or (order < 0 and self._waited_before(t, s)):
            return True
        ours, theirs = self._weight(t), self._weight(s)
        return ours > theirs if ours != theirs else order < 0

    def _is_death(self, t: Suspect, s: Suspect) -> bool:
        """Whether t says that the rank died which, says s, the others began to wait for at that moment."""
        if t.first is None or t.first.rule.tells != "exit" or not t.direct or not self._job.is_heard(t.rank):
            return False
        if t.rank != s.rank or s.finding is None or s.finding.question != "absent" or is_terminated(t.first):
            return False
        if t.onset is not None and s.onset is not None and t.first.has_own_time:
            waiting = next((x.event for x in reversed(s.finding.exhibits) if x.event is not None), t.first)
            apart_s, slack_s = abs(t.onset - s.onset), self._job.clocks.uncertainty_s(t.first, waiting)
            if slack_s < UNALIGNED_S or apart_s < ANOTHER_ZONE_S:
                return apart_s < max(DEATH_S, slack_s)
        return self._is_first_found_dead(t)

    def _is_first_found_dead(self, t: Suspect) -> bool:
        """Whether its launcher found no other process dead before, those aside that it ended itself."""
        ended = {e.rank for e in self._job.telling("signal-sent")}
        ends = [e for e in self._job.telling("exit") if t.first is not None and e.source == t.first.source]
        ends = [e for e in ends if e.role in FAILING and not is_terminated(e) and e.rank not in ended]
        return bool(ends) and min(ends, key=lambda e: e.line or 0).rank == t.rank

    def _waited_before(self, t: Suspect, s: Suspect) -> bool:
        """Whether t is a wait that had run out, after all its time, before s was said: nothing then made it wait."""
        waited = t.first is not None and t.first.rule.tells == "collective-timeout" and t.first.fields.get("ran_ms")
        return bool(waited) and not self._is_certificate(s, t)

    def _weight(self, s: Suspect) -> tuple[bool, int, bool]:
        return (not self._catalogue.causes[s.cause].broad, s.direct, s.specific)

    def _is_certificate(self, t: Suspect, s: Suspect) -> bool:
        """The kernel, the scheduler or a monitor may say last what began first."""
        if not self._catalogue.causes[t.cause].told_late:
            return False
        return t.onset is None or s.onset is None or t.onset - s.onset < CERTIFICATE_S

    def _order(self, t: Suspect, s: Suspect) -> int:
        """-1: t began first, 1: s did, 0: not known."""
        a, b = t.first, s.first
        if a is not None and b is not None and a.source == b.source and not _tell_time(t, s):
            return 0 if a.line == b.line else -1 if (a.line or 0) < (b.line or 0) else 1
        if t.onset is None or s.onset is None or a is None or b is None:
            return 0
        slack = self._job.clocks.uncertainty_s(a, b)
        if t.onset < s.onset - slack and a.has_own_time:
            return -1
        return 1 if s.onset < t.onset - slack and b.has_own_time else 0


def _tell_time(t: Suspect, s: Suspect) -> bool:
    """Whether the times of two lines of one file order them; two that were taken from lines nearby do not."""
    borrowed = t.first is not None and s.first is not None and not t.first.has_own_time and not s.first.has_own_time
    return t.onset is not None and s.onset is not None and not borrowed


# --- who is at fault, and how sure ----------------------------------------------------------------------------------


def _blame(job: Job, catalogue: Catalogue, verdict: Verdict) -> None:
    cause = catalogue.causes[verdict.roots[0].cause]
    finding = next((s.finding for s in verdict.roots if s.finding), None)
    if finding is not None:
        verdict.culprits = sorted(finding.ranks)
        hosts = {i.host for r in finding.ranks if (i := job.ranks.get(r)) and i.host}
        verdict.culprit_hosts = sorted(finding.hosts or hosts)
        return
    if cause.blame == "none":
        return
    ranks = {s.rank for s in verdict.roots if s.rank is not None}
    verdict.culprit_hosts = sorted({s.host for s in verdict.roots if s.host is not None})
    if _is_everywhere(job, ranks):
        verdict.culprit_hosts = []
        return
    if not ranks and cause.blame == "rank":
        ranks = _victims(verdict) or _first_ended(job, verdict)
    if not ranks or cause.blame == "host" or _is_whole_hosts(job, ranks):
        return
    verdict.culprits = sorted(ranks)


def _is_everywhere(job: Job, ranks: set[int]) -> bool:
    seen = sum(i.has_lines for i in job.ranks.values()) or len(job.ranks)
    world = job.world_size or seen
    share = len(ranks) / max(1, min(seen, world))
    return (len(ranks) > 1 and share >= EVERYWHERE) or (len(ranks) >= MANY and share > MANY_SHARE)


def _others_may_have_raised(job: Job, verdict: Verdict) -> bool:
    """Whether a rank beside several that raised alike failed too, and its log is not among the inputs."""
    if verdict.roots[0].cause != EXCEPTION or len(verdict.culprits) < 2:
        return False
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and e.rank is not None]
    others = {e.rank for e in ends if e.rank is not None} - set(verdict.culprits)
    return any(not job.ranks[rank].failed_in_words() for rank in others)


def _victims(verdict: Verdict) -> set[int]:
    """A cause known by its host alone (a kernel line) fell on the one rank there that says what it felt."""
    hosts = {s.host for s in verdict.roots}
    felt = {
        s.rank
        for s in verdict.suspects
        if s.direct == STATED
        and s.rank is not None
        and (s.host in hosts or hosts == {None})
        and any(t in verdict.roots for t in s.explained_by)
    }
    return felt if len(felt) == 1 else set()


def _first_ended(job: Job, verdict: Verdict) -> set[int]:
    """An error that names no rank is that of the first process which its launcher then finds dead, on the same host."""
    root = verdict.roots[0].first
    if root is None or root.rule.tells == "exit" or _is_said_by_several(verdict):
        return set()
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and _may_tell_of(e, root)]
    later = [e for e in ends if e.source != root.source or (e.line or 0) > (root.line or 0)]
    later.sort(key=lambda e: (e.time is None, e.time or 0.0, e.source, e.line or 0))
    return {r for e in later[:1] if (r := e.rank) is not None}


def _may_tell_of(end: Event, root: Event) -> bool:
    """Whether a process of the host where the error was printed has ended; one console may hold several hosts."""
    if end.host is not None and root.host is not None:
        return end.host == root.host
    return end.source == root.source


def _is_said_by_several(verdict: Verdict) -> bool:
    """The same error on several hosts, or of several processes in one console, is not the fault of the first that ends."""
    said = [e for s in verdict.roots for e in s.events if e.role == "cause" and e.rule.tells != "exit"]
    said = [e for e in said if not is_repetition(e)]
    hosts = {e.host for e in said if e.host is not None}
    texts = Counter((e.source, e.rule.id, e.text.split("\n", 1)[0]) for e in said if e.traceback is not None)
    return len(hosts) > 1 or max(texts.values(), default=0) > 1


def _is_whole_hosts(job: Job, ranks: set[int]) -> bool:
    """All ranks of a host alike, out of several hosts: then the host is at fault, and no rank."""
    hosts = {i.host for r in ranks if (i := job.ranks.get(r)) is not None}
    if None in hosts or len(ranks) < 2 or len(job.hosts) <= len(hosts):
        return False
    return all(i.host not in hosts or r in ranks for r, i in job.ranks.items())


def _rate(job: Job, catalogue: Catalogue, verdict: Verdict) -> None:
    root = max(verdict.roots, key=lambda s: (s.direct, s.finding is not None and s.finding.certainty == "certain"))
    blame = catalogue.causes[root.cause].blame
    ranks = {s.rank for s in verdict.roots if s.rank is not None}
    placed = bool(verdict.culprits) or blame != "rank" or _is_everywhere(job, ranks)
    placed = placed or (bool(ranks) and _is_whole_hosts(job, ranks))
    rivals = [s for s in verdict.rivals if s.direct >= root.direct and s.cause != root.cause]
    if root.finding is not None:
        verdict.certainty = root.finding.certainty
    elif root.direct == 3 and placed and not rivals and (root.specific or root.cause == EXCEPTION):
        verdict.certainty = "certain"
    else:
        verdict.certainty = "likely" if root.direct >= 2 else "possible"
    is_told = not (rivals or catalogue.causes[root.cause].broad or _others_may_have_raised(job, verdict))
    if verdict.certainty == "certain" and not is_told:
        verdict.certainty = "likely"
    verdict.confidence = {"certain": 0.95, "likely": 0.75, "possible": 0.45}[verdict.certainty]
