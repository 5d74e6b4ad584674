"""Events and findings in, the verdict out: which candidate nothing else explains, who is at fault, how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..catalogue.load import Catalogue
from ..job.coverage import torn_source
from ..job.event import FAILING
from ..job.job import Job
from ..job.process import is_terminated
from ..questions.finding import Finding
from .candidate import HINTED, SAME_MOMENT_S, STATED, Candidate, gather, names_device
from .certainty import CONFIDENCE, rate
from .explanation import Explanations, ranking
from .scope import Scope, who

Outcome = Literal["failed", "hung", "healthy", "recovered", "unfinished"]


@dataclass(slots=True)
class Verdict:
    """What is at fault, and what lost against it."""

    outcome: Outcome
    cause: str | None  # None: nothing wrong found; "unknown": something is, and nothing names it
    roots: list[Candidate] = field(default_factory=list)  # of the winning cause
    culprits: list[int] = field(default_factory=list)
    culprit_hosts: list[str] = field(default_factory=list)
    certainty: Literal["certain", "likely", "possible"] = "possible"
    cause_reasons: tuple[str, ...] = ()  # why the cause is no surer
    who_reasons: tuple[str, ...] = ()  # why it is no surer who it was
    candidates: list[Candidate] = field(default_factory=list)
    rivals: list[Candidate] = field(default_factory=list)  # unexplained, and beaten

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is no surer, by name."""
        return (*self.cause_reasons, *self.who_reasons)

    @property
    def confidence(self) -> float:
        """The same as a number between 0 and 1."""
        return CONFIDENCE[self.certainty] if self.cause is not None else 0.0


def decide(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> Verdict:
    """Yield the verdict."""
    candidates = gather(job, findings, catalogue)
    Explanations(job, catalogue, candidates).fill()
    free = [c for c in candidates if not c.explained_by] or candidates
    is_torn = torn_source(job.sources) and all(c.is_end and c.direct <= HINTED for c in free)  # no reason yet
    if not free or is_torn or _only_complains_at_the_end(job, free):
        return _nothing_wrong(job)
    died = {e.rank for e in job.telling("exit") if e.rank is not None and not is_terminated(e)}
    died &= {c.rank for c in free if c.direct == STATED and not c.is_end}
    free.sort(key=lambda c: ranking(c, catalogue, died))
    best = free[0]
    roots = [c for c in free if (c.cause, c.signature) == (best.cause, best.signature)]
    outcome: Outcome = "failed" if job.failures() or job.context.failed() else "hung"
    verdict = Verdict(outcome, best.cause, _in_order(roots), candidates=candidates)
    verdict.rivals = [c for c in free if c not in roots]
    scope = Scope.of(job, verdict.roots)
    verdict.culprits, verdict.culprit_hosts = who(job, catalogue.causes[best.cause], verdict.roots, scope, candidates)
    is_concluded = best.finding is not None
    verdict.roots.sort(key=lambda c: _showing(c, verdict.culprits, is_concluded=is_concluded))
    rate(job, catalogue, verdict, scope)
    return verdict


def _showing(c: Candidate, culprits: Sequence[int], *, is_concluded: bool) -> tuple[bool, ...]:
    """The order for showing: why before that it ended, who ended it before who was told to end, the culprits first."""
    is_told = c.rank is not None and bool(c.events) and all(e.rule.tells == "signal-received" for e in c.events)
    return (c.finding is None) == is_concluded, c.is_end, is_told, c.rank not in culprits and not names_device(c.first)


def _in_order(roots: list[Candidate]) -> list[Candidate]:
    """Who states the cause before who hints at it; of several within a moment by place, the rest by time."""
    begin = min((c.first.time for c in roots if c.first is not None and c.first.time is not None), default=0.0)

    def key(c: Candidate) -> tuple[object, ...]:
        first = c.first
        time = first.time if first is not None and first.time is not None else begin
        late = time > begin + SAME_MOMENT_S
        place = (first.source, first.line or 0) if first is not None else ("", 0)
        return (-c.direct, not names_device(first), late, time if late else 0.0, *place)

    return sorted(roots, key=key)


def _only_complains_at_the_end(job: Job, free: Sequence[Candidate]) -> bool:
    """A run that says it finished, and of which no process is told to have failed, only complains while it closes."""
    done = {e.source: e.line or 0 for e in job.telling("finished") if e.rule.teller != "rank"}
    if not done or job.context.failed() or any(e.role in FAILING for e in job.telling("exit")):
        return False
    said = [c.first for c in free if c.first is not None]  # not raised, nor above the line that says the run is done
    is_late = all(e.traceback is None and (e.line or 0) > done.get(e.source, 0) for e in said)
    return is_late and all(c.direct <= HINTED or {e.rule.tells for e in c.events} == {"peer-lost"} for c in free)


def _nothing_wrong(job: Job) -> Verdict:
    if job.context.failed() or (torn_source(job.sources) and not job.telling("finished")):
        return Verdict("failed", "unknown")
    if job.survived or any(e.role in FAILING for e in job.earlier):
        return Verdict("recovered", None)
    finished = any(r.finished for r in job.ranks.values()) or job.telling("finished")
    return Verdict("healthy" if finished else "unfinished", None)
