"""Job and verdict in, `Report` out: the verdict told with its proof, what lost and why, what was missing."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from ..advice.fact_store import Facts
from ..advice.known_bugs import BUGS
from ..advice.remedy import step_values, steps
from ..advice.statement import Remark
from ..catalogue.load import Catalogue
from ..catalogue.rule import Cause
from ..job.event import Event
from ..job.exhibit import Exhibit
from ..job.job import Job
from ..lines.record import record
from ..scan.scan import Scan
from ..verdict.candidate import Candidate
from ..verdict.decision import Verdict
from ..verdict.ending import breaks_off_in_a_traceback
from ..verdict.proof import MAX_EVIDENCE, proof_of
from .account_words import Words
from .collective_rows import collective_rows
from .evidence import Exhibitor
from .losers import alternatives, chain, symptoms
from .recorder_rows import recorder_rows
from .report import Culprit, Diagnosis, OtherJob, RemedyStep, Report, Stats
from .rows import attempt_rows, gap_rows, input_rows, rank_rows, stack_rows, timeline_rows
from .time_bounds import bounded_times
from .translation import ENGLISH, Translator

TIMEOUT = "collective.timeout"


@record
class Found:
    """What the reduce step leaves: the job, the verdict on it, what is known of it, and advice beside the verdict."""

    job: Job
    verdict: Verdict
    facts: Facts
    notices: tuple[Remark, ...] = ()


def account(found: Found, catalogue: Catalogue, scan: Scan, translator: Translator = ENGLISH) -> Report:
    """Yield the report."""
    job, verdict = found.job, found.verdict
    bounds = bounded_times(job)
    show = Exhibitor(job, bounds)
    diagnosis = _diagnosis(found, catalogue, show, translator)
    return Report(
        outcome=verdict.outcome,
        diagnosis=diagnosis,
        facts=found.facts.rows(),
        notices=tuple(n.told(translator.sentence) for n in found.notices),
        chain=chain(verdict, catalogue, translator, bounds),
        alternatives=alternatives(verdict, catalogue, show, translator),
        symptoms=symptoms(job, verdict, translator, show, job.failures()),
        survived=symptoms(job, verdict, translator, show, job.survived),
        timeline=timeline_rows(job, verdict, translator, bounds),
        ranks=rank_rows(job, verdict),
        collectives=recorder_rows(job) or collective_rows(job),
        stacks=stack_rows(job),
        attempts=attempt_rows(job, diagnosis.evidence if diagnosis else (), show),
        other_jobs=tuple(OtherJob(j.name, j.files, translator.words.other_job(failed=j.failed)) for j in job.others),
        gaps=gap_rows(job, scan, translator),
        inputs=input_rows(job, scan),
        stats=Stats(sum(s.bytes for s in scan.sources.values()), len(job.events)),
        time_basis=translator.sentence(job.clocks.basis),
    )


# --- the verdict --------------------------------------------------------------------------------------------------


def _diagnosis(found: Found, catalogue: Catalogue, show: Exhibitor, translator: Translator) -> Diagnosis | None:
    job, verdict = found.job, found.verdict
    if verdict.cause is None:
        return None
    if verdict.cause == "unknown" or not verdict.roots:
        return _unknown(job, show, translator.words)
    cause = translator.cause(catalogue.causes[verdict.cause])
    cause = replace(cause, title=_title(verdict, cause, translator), references=_references(verdict, cause))
    proof = proof_of(job, verdict)
    values = step_values(job, verdict, proof, found.facts, catalogue, translator.fields(_fields(verdict)))
    return Diagnosis(
        cause=cause.id,
        title=cause.title,
        summary=_summary(verdict, cause, translator),
        confidence=verdict.confidence,
        certainty=verdict.certainty,
        culprits=_culprits(job, verdict, translator),
        evidence=tuple(show.evidence(x) for x in proof),
        remedy=steps(cause, values),
        owner=cause.owner,
        restart=_restart(verdict, cause),
        references=cause.references,
    )


def _unknown(job: Job, show: Exhibitor, words: Words) -> Diagnosis:
    """What is most telling where nothing names a cause: the last words of those who said something of their own."""
    tails = ((s.name, tail[-1]) for s in job.sources if (tail := s.tail()))
    last = [Exhibit.of_line(name, line, None, None) for name, line in islice(tails, MAX_EVIDENCE)]
    switches = "export NCCL_DEBUG=WARN TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1"
    cut = [RemedyStep("collect", words.say("unknown-traceback"))] if breaks_off_in_a_traceback(job) else []
    remedy = (
        RemedyStep("now", words.say("unknown-now")),
        *cut,
        RemedyStep("collect", words.say("unknown-logs"), "dmesg -T"),
        RemedyStep("collect", words.say("unknown-switches"), switches),
        RemedyStep("collect", words.say("unknown-files"), "torchrun --log-dir logs --redirects 3 --tee 3 …"),
    )
    evidence = tuple(show.evidence(x) for x in last)
    return Diagnosis("unknown", words.say("unknown-title"), words.say("unknown-summary"), 0.3, "possible",
                     evidence=evidence, remedy=remedy, restart="no", owner="")  # fmt: skip


def _fields(verdict: Verdict) -> dict[str, Any]:
    root = verdict.roots[0]
    if root.first is not None:
        return dict(root.first.fields)
    if root.finding is None:
        return {}
    paths = [x.event.fields["path"] for x in root.finding.exhibits if x.event and x.event.fields.get("path")]
    return {**({"path": paths[0]} if paths else {}), **root.finding.fields}


def _summary(verdict: Verdict, cause: Cause, translator: Translator) -> str:
    said = translator.sentence(_said(verdict.roots[0], translator))
    return translator.words.summary(cause.title, verdict.culprits, verdict.culprit_hosts, said)


def _title(verdict: Verdict, cause: Cause, translator: Translator) -> str:
    """The cause's title; of a known bug, which one: `a known bug of trl 0.15.0: …`."""
    if verdict.outcome == "hung" and cause.id == TIMEOUT:
        return translator.words.say("no-end")  # its limit has not passed yet
    first = verdict.roots[0].first
    library = first.fields.get("library") if first and cause.id == BUGS else None
    if first is None or library is None:
        return cause.title
    name = f"{library} {first.fields['installed']}" if first.fields.get("installed") else str(library)
    bug = translator.title(first.rule)
    bug = bug if bug != cause.title else translator.sentence(first.rule.title)
    return translator.words.say("bug", name=name, bug=bug)


def _restart(verdict: Verdict, cause: Cause) -> str:
    """Whether a plain restart helps: what the message tells goes before what its cause does as a rule."""
    first = verdict.roots[0].first
    return (first.rule.restart if first is not None else None) or cause.restart


def _references(verdict: Verdict, cause: Cause) -> tuple[str, ...]:
    """The cause's pages; of a known bug, its reports."""
    first = verdict.roots[0].first
    return first.rule.references if first and cause.id == BUGS and first.rule.references else cause.references


def _said(suspect: Candidate, translator: Translator) -> str:
    if suspect.finding:
        return translator.sentence(suspect.finding.says)
    return says(suspect.first, translator) if suspect.first else ""


def says(event: Event, translator: Translator) -> str:
    """Yield the sentence of an event's rule, filled; its text where the sentence cannot be."""
    try:
        return translator.said(event.rule, event.fields)
    except ValueError:
        return event.text.split("\n", 1)[0][:200]


def _culprits(job: Job, verdict: Verdict, translator: Translator) -> tuple[Culprit, ...]:
    found = []
    for rank in verdict.culprits:
        info = job.ranks.get(rank)
        suspect = next((s for s in verdict.roots if s.rank == rank), verdict.roots[0])
        why = translator.sentence(_said(suspect, translator))
        host = info.host if info and info.host else suspect.host
        local = info.local_rank if info else None
        device = suspect.first.fields.get("device") if suspect.first else None
        gpu = device if isinstance(device, int) else info.device if info else None
        found.append(Culprit(rank, host, local, gpu, info.pid if info else None, why))
    if not found:
        found = [
            Culprit(None, h, why=translator.sentence(_host_why(verdict, h, translator))) for h in verdict.culprit_hosts[:8]
        ]
    return tuple(found)


def _host_why(verdict: Verdict, host: str, translator: Translator) -> str:
    suspect = next((s for s in verdict.roots if s.host == host), verdict.roots[0])
    return _said(suspect, translator)
