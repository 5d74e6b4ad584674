"""Suspects + `explains` -> the verdict: which suspect nothing else explains, who is at fault, how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..catalogue.load import Catalogue
from ..job.coverage import are_half_told, is_first_of_a_cut_chain
from ..job.event import FAILING, Event, SourceEvents
from ..job.exit import is_terminated
from ..job.job import Job
from ..job.survival import NOT_FINITE
from ..questions.finding import Finding
from ..traces.quoted import UNHEARD_FORMS
from ..traces.traceback_lines import ELIDED
from .blame import SHARED, blame, failed_alike_unheard, is_everywhere, is_half_told
from .blamed_hosts import is_whole_hosts
from .consequences import EXCEPTION, EXIT_CODE
from .devices import is_at_other_end
from .relation import Relation
from .suspects import SAME_MOMENT_S, Suspect, gather, names_device, when

Outcome = Literal["failed", "hung", "healthy", "recovered", "unfinished"]
NARROWEST, CUT_LINES = 60, 4  # columns of a paste that is cut off, and so many lines of it
CONFIDENCE = {"certain": 0.95, "likely": 0.75, "possible": 0.45}


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


def decide(job: Job, findings: Sequence[Finding], catalogue: Catalogue) -> Verdict:
    """Yield the verdict."""
    suspects = gather(job, findings, catalogue)
    Relation(job, catalogue, suspects).explain()
    candidates = [s for s in suspects if not s.explained_by] or suspects
    if not candidates or _is_teardown(job, candidates) or _only_cleans_up(job, candidates):
        return _nothing_wrong(job)
    found_dead = {e.rank for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and e.rank is not None}
    candidates.sort(key=lambda s: _strength(s, lambda x: catalogue.causes[x.cause].broad, found_dead))
    best = candidates[0]
    roots = [s for s in candidates if s.cause == best.cause and s.signature == best.signature]
    roots = [s for s in roots if s.direct or not best.direct]
    roots.sort(
        key=lambda s: (s.finding is None, not (s.finding and s.finding.ranks)) if best.finding else (s.finding is not None,)
    )
    if best.finding is None:
        roots = _earliest_first(roots)
    outcome: Outcome = "hung" if _is_hung(job, best) else "failed"
    verdict = Verdict(outcome, best.cause, roots, suspects=suspects)
    rooted = {id(s) for s in roots}
    verdict.rivals = [s for s in candidates if id(s) not in rooted]
    blame(job, catalogue, verdict)
    if verdict.culprits and not any(s.finding for s in verdict.roots):
        verdict.roots.sort(key=lambda s: (_is_certificate(s), not _is_of_culprit(verdict, s)))
    _rate(job, catalogue, verdict)
    return verdict


def _is_of_culprit(verdict: Verdict, s: Suspect) -> bool:
    """Whether it is said of a rank that is to blame, or of its host by the kernel, which knows no ranks."""
    return s.rank in verdict.culprits or (s.rank is None and names_device(s.first) and s.host in verdict.culprit_hosts)


def _is_hung(job: Job, best: Suspect) -> bool:
    """Ranks are seen to wait, by stacks, recorders or silence, and nothing tells of a process that ended."""
    return not job.failures() and not job.context.failed()


def _earliest_first(roots: list[Suspect]) -> list[Suspect]:
    """Who states the cause before who shows a symptom, and a line of a kind before one that stands below every failure;
    what several say within a moment by place, the rest by time.
    """
    times = [s.first.time for s in roots if s.first is not None and s.first.time is not None]
    begin = min(times, default=0.0)

    def key(s: Suspect) -> tuple[object, ...]:
        if s.first is None:
            return (True, True, True, True, True, 0.0, "", 0)
        time = s.first.time if s.first.time is not None else begin
        late = time > begin + SAME_MOMENT_S
        order = (late, time if late else 0.0, s.first.source, s.first.line or 0)
        told = (s.direct == 1, not s.specific, _is_relayed(s.first), not names_device(s.first))
        return (s.finding is not None, *told, *order)

    return sorted(roots, key=key)


def _is_relayed(event: Event) -> bool:
    """A launcher tells of the signal that reached it; the scheduler, which names the job or step, sent it."""
    return event.rule.tells == "signal-received" and event.fields.get("step") is None


def _is_certificate(s: Suspect) -> bool:
    """An exit code tells that a process ended and comes last; what it printed before tells more."""
    return s.first is not None and s.first.rule.tells == "exit"


def _strength(s: Suspect, broad: Callable[[Suspect], bool], found_dead: Container[int | None]) -> tuple[object, ...]:
    """Directness, what knows before what guesses, words before an exit code, narrowness, the last words of whom a launcher
    found dead, onset; the rest makes it total.
    """
    onset = s.onset if s.onset is not None else float("inf")
    order = when(s.first) if s.first else (True, 0.0, "", 0)
    ended = s.finding is None and s.first is not None and s.first.rule.tells in ("signal-received", "exit")
    unsure = s.finding is not None and s.finding.certainty == "possible"
    is_of_the_dead = s.first is not None and s.first.traceback is not None and s.rank in found_dead
    return (
        *(-s.direct, s.is_echo, unsure, ended, not s.specific, broad(s), not is_of_the_dead),
        *(onset, order, s.cause, s.place()),
    )


def _is_teardown(job: Job, candidates: Sequence[Suspect]) -> bool:
    """A run that says it finished, and of which no process failed, only complains while it closes.

    What the parent of `mp.spawn` raises is the end of a process, too.
    """
    done = [e for e in job.telling("finished") if e.rule.teller != "rank"]
    if job.context.failed() or not done:
        return False
    ended = [*job.telling("exit"), *(e for e in job.failures() if e.cause == EXIT_CODE)]
    is_trained = not any(s.cause == NOT_FINITE for s in candidates)
    return is_trained and all(s.direct == 1 for s in candidates) and not any(_is_failed_exit(e) for e in ended)


def _only_cleans_up(job: Job, candidates: Sequence[Suspect]) -> bool:
    """A launcher that ends its processes and then breaks off in a traceback of its own has not said over what."""
    sent = all(e.rule.tells == "signal-sent" for s in candidates for e in s.events)
    return sent and all(s.finding is None for s in candidates) and breaks_off_in_a_traceback(job)


def _is_failed_exit(event: Event) -> bool:
    return event.role in FAILING or event.fields.get("exit_code") not in (None, 0)


def _nothing_wrong(job: Job) -> Verdict:
    if job.context.failed() or (breaks_off_in_a_traceback(job) and not job.telling("finished")):
        return Verdict("failed", "unknown")
    if job.survived or job.earlier:
        return Verdict("recovered", None)
    finished = any(r.finished for r in job.ranks.values()) or job.telling("finished")
    return Verdict("healthy" if finished else "unfinished", None)


def breaks_off_in_a_traceback(job: Job) -> bool:
    """Whether a source ends before the name of the exception that was being printed, as a paste of its upper half does."""
    return any(_breaks_off(s) for s in job.sources)


def _breaks_off(source: SourceEvents) -> bool:
    last = max(source.tracebacks, key=lambda tb: tb.end_line, default=None)
    if last is None or last.exception or last.form in UNHEARD_FORMS or not last.frames:
        return False
    return last.end_line >= max((line.number for line in source.tail() if line.message.strip()), default=0)


def _others_may_have_raised(job: Job, verdict: Verdict) -> bool:
    """Whether a rank beside several that raised alike failed too, and its log is not among the inputs."""
    if verdict.roots[0].cause != EXCEPTION or len(verdict.culprits) < 2:
        return False
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e) and e.rank is not None]
    others = {e.rank for e in ends if e.rank is not None} - set(verdict.culprits)
    return any(not job.ranks[rank].failed_in_words() for rank in others if rank in job.ranks)


def _others_raised_otherwise(job: Job, verdict: Verdict) -> bool:
    """Whether another rank raised something else of its own, and no clock tells which of the two came first."""
    root = verdict.roots[0]
    if root.cause != EXCEPTION or root.first is None or root.first.has_own_time or not verdict.culprits:
        return False
    said = {e.text for e in root.events}
    raised = (e for e in job.failures() if e.cause == EXCEPTION and e.role == "cause" and e.traceback is not None)
    return any(e.rank is not None and e.rank not in verdict.culprits and e.text not in said for e in raised)


def _ends_with_the_first(job: Job, verdict: Verdict) -> bool:
    """Whether all that is here ends with the first that raised, before a word of what became of the others.

    They may have raised the same; only what had been running shows that they had not.
    """
    own, root = set(verdict.culprits), verdict.roots[0]
    if not own or not (job.ranks.keys() - own) or root.finding is not None or not root.cause.startswith(SHARED):
        return False
    told = any(e.rank not in own or e.rule.tells in ("exit", "signal-sent") for e in job.failures())
    return not told and not any(info.last_sign for info in job.ranks.values()) and not job.telling("exit", "finished")


def _others_break_off(job: Job, verdict: Verdict) -> bool:
    """Whether another rank's traceback ends before what it raised, as where the middle of a console is left out."""
    own = {f"rank{rank}" for rank in verdict.culprits}
    cut = (tb for s in job.sources for tb in s.tracebacks if not tb.exception and tb.form not in UNHEARD_FORMS)
    return any(tb.frames and tb.speaker.startswith("rank") and tb.speaker not in own for tb in cut)


def _may_be_of_before(job: Job, root: Suspect) -> bool:
    """Whether the run says elsewhere that it is done, and no clock tells which came first: it may have begun anew."""
    first = root.first
    if first is None or job.context.failed() or first.has_own_time:
        return False
    ends = [e for e in job.telling("exit") if e.role in FAILING and not is_terminated(e)]
    last_s = max((e.time for e in ends if e.time is not None), default=0.0)
    done = [e for e in job.telling("finished") if e.source != first.source]
    return any(e.time is None or not e.has_own_time or e.time > last_s for e in done)


def _is_done_unharmed(job: Job) -> bool:
    """Whether the run says that it is done, and nothing tells of a process that failed."""
    return bool(job.telling("finished")) and not job.context.failed() and not any(map(_is_failed_exit, job.telling("exit")))


def _is_of_a_process(job: Job, root: Suspect) -> bool:
    """Whether a process of the job says it, or it is concluded; else a shell, a cluster or a tool beside it is meant.

    Where each rank says that it is done, an exception that names none was raised by something else: a program that a model
    wrote, or what came next in the script.
    """
    if root.finding is not None or root.rank is not None:
        return True
    are_done = bool(job.ranks) and all(info.finished is not None for info in job.ranks.values())
    return any(e.traceback is not None for e in root.events) and not are_done


def _is_ambiguous(root: Suspect) -> bool:
    """Whether another reason prints all that states the cause in the same words."""
    stated = [e for e in root.events if e.role == "cause"]
    return bool(stated) and all(e.rule.ambiguous for e in stated)


def _is_cut_short(job: Job, root: Suspect) -> bool:
    """Whether somebody left out the end of all that was raised, and with it perhaps what it really was."""
    told = [e for e in root.events if e.role == "cause"]
    if root.cause != EXCEPTION or not told:
        return False
    said = [e.text.split("\n", 1)[0].rstrip() for e in told]
    is_elided = all(text.endswith(ELIDED) for text in said)
    is_cut = is_elided or are_half_told(job.sources, told) or _ends_at_the_margin(job, told[0])
    return is_cut or is_first_of_a_cut_chain(job.sources, told[0])


def _ends_at_the_margin(job: Job, event: Event) -> bool:
    """Whether its line is as long as several are, and none is longer: columns were cut off, as by `cut -c` or a screen."""
    lines = next((s.lines() for s in job.sources if s.name == event.source), [])
    width = max((len(line.raw) for line in lines), default=0)
    at_margin = [line.number for line in lines if len(line.raw) == width]
    return width >= NARROWEST and len(at_margin) >= CUT_LINES and event.line in at_margin


def _another_never_came(verdict: Verdict) -> bool:
    """Whether the kernel tells of a rank's GPU, and that rank waited with the others for one that never came."""
    root = verdict.roots[0]
    absent = {s.rank for s in verdict.suspects if s.finding is not None and s.finding.question == "absent"}
    return root.cause.startswith("gpu.") and bool(absent) and absent.isdisjoint({None, *verdict.culprits})


def _rate(job: Job, catalogue: Catalogue, verdict: Verdict) -> None:
    root = max(verdict.roots, key=lambda s: (s.direct, s.finding is not None and s.finding.certainty == "certain"))
    blamed = (root.first.rule.blame if root.first else None) or catalogue.causes[root.cause].blame
    ranks = {s.rank for s in verdict.roots if s.rank is not None}
    placed = bool(verdict.culprits) or blamed != "rank" or is_everywhere(job, ranks)
    placed = placed or (bool(ranks) and is_whole_hosts(job, ranks))
    rivals = [s for s in verdict.rivals if s.direct >= root.direct and s.cause != root.cause]
    if root.finding is not None:
        verdict.certainty = root.finding.certainty
    elif root.direct == 3 and placed and not rivals and (root.specific or root.cause == EXCEPTION):
        verdict.certainty = "certain"
    else:
        verdict.certainty = "likely" if root.direct >= 2 else "possible"
    is_open = catalogue.causes[root.cause].broad or _is_ambiguous(root) or _is_cut_short(job, root)
    is_open = is_open or _others_may_have_raised(job, verdict) or _may_be_of_before(job, root)
    is_open = is_open or _others_raised_otherwise(job, verdict) or _another_never_came(verdict)
    is_open = is_open or is_at_other_end(verdict.roots)
    is_open = is_open or (blamed == "rank" and bool(ranks) and failed_alike_unheard(job, ranks))
    is_open = is_open or (bool(verdict.culprits) and (is_half_told(job, verdict) or _others_break_off(job, verdict)))
    if _is_done_unharmed(job):
        is_open, verdict.certainty = True, verdict.certainty if _is_of_a_process(job, root) else "possible"
    is_told = not (rivals or is_open or _ends_with_the_first(job, verdict))
    if verdict.certainty == "certain" and not is_told:
        verdict.certainty = "likely"
    verdict.confidence = CONFIDENCE[verdict.certainty]
