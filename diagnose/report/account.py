"""Job and verdict in, `Report` out: the verdict with its proof, what lost and why, what was missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..advice.fact_store import Facts
from ..advice.known_bugs import BUGS
from ..advice.remedy import restart_of, step_values, steps
from ..advice.statement import Evidence, Remark, RemedyStep
from ..catalogue.load import Catalogue
from ..catalogue.rule import Cause
from ..job.clock import SAME_CLOCK_S, Clocks
from ..job.coverage import torn_source
from ..job.job import Job, RankInfo
from ..lines.record import record
from ..scan.scan import Scan
from ..verdict.candidate import Candidate
from ..verdict.decision import Verdict
from ..verdict.proof import proof_of
from .evidence import Exhibitor, own_code
from .headline import collect_steps, file_name, last_lines, of_verdict, per_rank, suspect, without_verdict
from .parts import Culprit, Diagnosis, LastLine, OtherJob, Reason, Stats
from .report import Report
from .rows import collective_rows, gap_rows, input_rows, rank_rows, stack_rows
from .timeline import alternatives, attempt_rows, chain, symptoms, timeline_rows
from .translation import ENGLISH, Translator

TIMEOUT = "collective.timeout"
UNKNOWN = "unknown"
MAX_HOSTS = 8  # named as culprits
SHOWN_CLOCKS = 6
NEXT_LINES = 2  # over which one message is printed
MAX_TAILS = 6  # last lines that are evidence where nothing names a cause


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
    show = Exhibitor(job, verdict, translator)
    is_open = verdict.cause == UNKNOWN or (verdict.cause is None and verdict.outcome == "unfinished")
    last = last_lines(job) if is_open else ()
    collect = collect_steps(job, verdict, found.facts, translator) if is_open else ()
    diagnosis = _diagnosis(found, catalogue, show)
    if diagnosis is None and verdict.cause is not None:
        diagnosis = _unknown(found, translator, last, collect)
    if verdict.outcome == "recovered":
        collect = (RemedyStep("now", translator.say("recovered.now")),)
    summary = diagnosis.summary if diagnosis else without_verdict(show)
    return Report(
        outcome=verdict.outcome,
        summary=summary,
        diagnosis=diagnosis,
        facts=found.facts.rows(),
        notices=tuple(n.told(translator.sentence) for n in found.notices),
        chain=chain(show),
        alternatives=alternatives(show, catalogue),
        symptoms=symptoms(show, job.failures()),
        survived=symptoms(show, job.survived),
        timeline=timeline_rows(show),
        ranks=rank_rows(job, verdict),
        last_lines=last,
        collect=collect if diagnosis is None else (),
        collectives=collective_rows(job),
        stacks=stack_rows(job),
        attempts=attempt_rows(show, diagnosis.evidence if diagnosis else ()),
        other_jobs=tuple(
            OtherJob(j.name, j.files, translator.say("other-job.failed" if j.failed else "other-job.ran"))
            for j in job.others
        ),
        gaps=gap_rows(job, scan, translator, per_rank(found.facts), is_asked=is_open or verdict.cause is None),
        inputs=input_rows(job, scan),
        stats=Stats(sum(s.bytes for s in scan.sources.values()), len(job.events)),
        time_basis=_time_basis(job.clocks, translator),
        language=translator.language,
    )


def _time_basis(clocks: Clocks, translator: Translator) -> str:
    """Where the zone and the year come from, and by how much which host's clock was off."""
    skewed = [(host, s) for host, s in sorted(clocks.offset_s.items()) if abs(s) > SAME_CLOCK_S]
    zone, year = translator.word(clocks.zone_from), translator.word(clocks.year_from) if clocks.year else None
    shown = {"skewed": skewed[:SHOWN_CLOCKS], "more": len(skewed) > SHOWN_CLOCKS}
    return translator.say("clock.basis", zone=zone, year=year, **shown)


def _diagnosis(found: Found, catalogue: Catalogue, show: Exhibitor) -> Diagnosis | None:
    job, verdict, translator = found.job, found.verdict, show.translator
    if verdict.cause is None or verdict.cause == UNKNOWN or not verdict.roots:
        return None
    cause, first = translator.cause(catalogue.causes[verdict.cause]), verdict.roots[0].first
    title = _title(verdict, cause, translator)
    proof = proof_of(job, verdict)
    evidence = tuple(show.evidence(x) for x in proof)
    fields = {**_code(job, verdict, evidence), **translator.fields(_fields(verdict))}
    values = step_values(job, verdict, proof, found.facts, catalogue, fields)
    names = [name for name in verdict.reasons or ("none",) if translator.knows(f"reason.{name}")]
    return Diagnosis(
        cause=cause.id,
        title=title,
        summary=of_verdict(show, title, _said(verdict.roots[0], translator), next(iter(evidence), None)),
        confidence=verdict.confidence,
        certainty=verdict.certainty,
        reasons=tuple(Reason(name, translator.say(f"reason.{name}")) for name in names),
        culprits=_culprits(job, verdict, translator),
        evidence=evidence,
        remedy=steps(cause, values),
        owner=cause.owner,
        restart=restart_of(cause, first.rule if first else None, values),
        references=(first.rule.references if first and cause.id == BUGS else ()) or cause.references,
    )


def _code(job: Job, verdict: Verdict, evidence: Sequence[Evidence]) -> dict[str, Any]:
    """Where in the user's code the proof was raised, and where ranks at fault were by their own tracebacks."""
    own = next(iter(evidence[0].own_code if evidence else ()), None)
    code = {"code_file": own.file, "code_name": file_name(own.file), "code_line": own.line} if own else {}
    code |= {"code_function": own.function, "code_text": own.code} if own else {}
    raised = (own_code(e.traceback, e.line) for e in job.events if e.rank in verdict.culprits)
    late = next(filter(None, raised), (None,))[0]
    return code | ({"late_at": f"{file_name(late.file)}:{late.line}", "late_in": late.function} if late else {})


def _unknown(
    found: Found, translator: Translator, last: tuple[LastLine, ...], collect: tuple[RemedyStep, ...]
) -> Diagnosis:
    """What is most telling where nothing names a cause: where each rank stopped, and what to collect."""
    job, say = found.job, translator.say
    evidence = tuple(
        Evidence(x.file, x.line, x.line, x.ranks[0] if len(x.ranks) == 1 else None, x.host, x.time, x.text)
        for x in last[:MAX_TAILS]
    )
    told = {"exit_code": job.context.exit_code, "cut": file_name(torn_source(job.sources)), **suspect(job)}
    summary = say("unknown.summary", **told).rstrip(".。")
    return Diagnosis(UNKNOWN, say("unknown.title"), summary, 0.3, evidence=evidence, remedy=collect)


def _fields(verdict: Verdict) -> dict[str, Any]:
    root = verdict.roots[0]
    if root.finding is None or root.first is not None:
        return _told(root)
    paths = [x.event.fields["path"] for x in root.finding.exhibits if x.event and x.event.fields.get("path")]
    return {**({"path": paths[0]} if paths else {}), **root.finding.fields}


def _told(suspect: Candidate) -> dict[str, Any]:
    """What the first event captured; where its line says only that it happened, what the message says right below."""
    first = suspect.first
    if first is None:
        return {}
    near = (e for e in suspect.events if (e.rule, e.source) == (first.rule, first.source) and e.line and first.line)
    below = (e.fields for e in near if 0 < (e.line or 0) - (first.line or 0) <= NEXT_LINES and e.fields)
    return dict(first.fields or next(below, {}))


def _title(verdict: Verdict, cause: Cause, translator: Translator) -> str:
    """The cause's title; of a known bug, which one: `known bug in trl 0.15.0: …`."""
    if verdict.outcome == "hung" and cause.id == TIMEOUT:
        return translator.say("title.no-end")  # its limit has not passed yet
    first = verdict.roots[0].first
    library = first.fields.get("library") if first and cause.id == BUGS else None
    if first is None or library is None:
        return cause.title
    name = f"{library} {first.fields['installed']}" if first.fields.get("installed") else str(library)
    bug = translator.title(first.rule)
    bug = bug if bug != cause.title else translator.sentence(first.rule.title)
    return translator.say("title.bug", name=name, bug=bug)


def _said(suspect: Candidate, translator: Translator) -> str:
    """The sentence of a finding, or of the rule of its first event; that one's text where it cannot be filled."""
    if suspect.finding:
        return translator.sentence(suspect.finding.says)
    try:
        return translator.said(suspect.first.rule, _told(suspect)) if suspect.first else ""
    except ValueError:
        return suspect.first.text.split("\n", 1)[0][:200] if suspect.first else ""


def _culprits(job: Job, verdict: Verdict, translator: Translator) -> tuple[Culprit, ...]:
    found = []
    for rank in verdict.culprits:
        info = job.ranks.get(rank) or RankInfo(rank)
        suspect = next((s for s in verdict.roots if s.rank == rank), verdict.roots[0])
        device = suspect.first.fields.get("device") if suspect.first else None
        gpu = device if isinstance(device, int) else info.device
        found.append(Culprit(rank, info.host or suspect.host, info.local_rank, gpu, info.pid, _said(suspect, translator)))
    for host in () if found else verdict.culprit_hosts[:MAX_HOSTS]:
        suspect = next((s for s in verdict.roots if s.host == host), verdict.roots[0])
        found.append(Culprit(None, host, why=_said(suspect, translator)))
    return tuple(found)
