"""How sure: the lesser of how sure the cause is and how sure it is who, each by named reasons with measured weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..catalogue.load import Catalogue
from ..job.coverage import is_cut
from ..job.identity_table import GUESSED
from ..job.job import Job
from ..lines.cache import tables
from ..traces.traceback_lines import is_library
from .candidate import CONCLUDED, HINTED, STATED, Candidate
from .scope import Scope

if TYPE_CHECKING:
    from .decision import Verdict

Certainty = Literal["certain", "likely", "possible"]
CONFIDENCE: dict[Certainty, float] = {"certain": 0.95, "likely": 0.75, "possible": 0.45}
WEIGHTS = Path(__file__).with_name("certainty.yaml")
FEW_LINES = 8  # of all inputs together: a paste that shows the error and nothing around it


def rate(job: Job, catalogue: Catalogue, verdict: Verdict, scope: Scope) -> None:
    """Fill in how sure the verdict is, and the names of the reasons why it is no surer."""
    verdict.cause_reasons = tuple(cause_reasons(job, catalogue, verdict))
    verdict.who_reasons = tuple(who_reasons(job, catalogue, verdict, scope))
    score = min(_score(verdict.cause_reasons), _score(verdict.who_reasons))
    limits = weights()["thresholds"]
    verdict.certainty = "certain" if score >= limits["certain"] else "likely" if score >= limits["likely"] else "possible"


def weights() -> dict[str, Any]:
    """Yield the table of weights: `base`, `reasons` by name, `thresholds`."""
    return tables(WEIGHTS)


def _score(reasons: Sequence[str]) -> float:
    table = weights()
    return float(table["base"] - sum(table["reasons"][name] for name in reasons))


def cause_reasons(job: Job, catalogue: Catalogue, verdict: Verdict) -> Iterator[str]:
    """Yield what makes the cause less sure."""
    root = max(verdict.roots, key=lambda c: (c.direct, c.specific))
    rule = root.first.rule if root.first is not None else None
    if root.direct == HINTED:
        yield "hinted"
    if root.direct == CONCLUDED and root.finding is not None:
        yield f"concluded-{root.finding.certainty}"
    if root.direct == STATED and not root.specific and not _is_of_own_code(root):
        yield "generic"
    if root.finding is None and catalogue.causes[root.cause].tier == "aftermath":
        yield "aftermath"
    stated = [e for e in root.events if e.role == "cause"] or root.events
    if rule is not None and stated and all(e.rule.ambiguous for e in stated):
        yield "ambiguous"
    if any(c.direct >= root.direct and c.cause != root.cause for c in verdict.rivals):
        yield "rival"
    if job.telling("finished") and not job.context.failed():
        yield "finished"
    yield from _cut(job, root)


def _is_of_own_code(root: Candidate) -> bool:
    """Whether the program itself raised it: of what a library raises and no rule knows, the reason may be anything."""
    frames = root.first.traceback.frames if root.first is not None and root.first.traceback is not None else ()
    return bool(frames) and not is_library(frames[-1].file)


def _cut(job: Job, root: Candidate) -> Iterator[str]:
    if sum(s.scan.lines for s in job.sources) <= FEW_LINES:
        yield "few-lines"
    first = root.first
    if first is not None and first.text.split("\n", 1)[0].rstrip().endswith(("...", "…")):
        yield "cut-line"


def who_reasons(job: Job, catalogue: Catalogue, verdict: Verdict, scope: Scope) -> Iterator[str]:
    """Yield what makes it less sure who it was."""
    root = verdict.roots[0]
    blame = catalogue.causes[root.cause].blame
    if root.finding is not None:
        return
    if not verdict.culprits and blame in ("rank", "shared") and not scope.is_everywhere(job):
        yield "host-only" if verdict.culprit_hosts else "nobody-named"
    if not verdict.culprits and blame in ("none", "common") and _is_met_by_one_of_many(job, scope, root):
        yield "one-of-many"
    if verdict.culprits and not scope.passed and (job.world_size or 0) > 1:
        yield "nobody-passed"
    if verdict.culprits and not scope.passed and is_cut(job.sources):
        yield "rest-unheard"
    is_felt = any(e.fields.get("at_peer") for e in root.events)  # the other end of the link did it
    if verdict.culprits and (not scope.met or is_felt):
        yield "inferred-rank"
    if verdict.culprits and job.places.world_from in ("", GUESSED) and not scope.passed:
        yield "world-unknown"


def _is_met_by_one_of_many(job: Job, scope: Scope, root: Candidate) -> bool:
    """Whether one rank or file alone shows what is as a rule the same for all, and others are heard."""
    sources = {e.source for e in root.events}
    others = any(i.has_lines for r, i in job.ranks.items() if r not in scope.met)
    return len(scope.met) == 1 and others if scope.met else len(sources) == 1 < len(job.sources)
