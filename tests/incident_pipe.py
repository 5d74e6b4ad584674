"""From text or files to facts, notices, verdict and advice: the pipe as the incidents' tests need it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from diagnose.advice.fact_store import Facts, differences, gather_facts
from diagnose.advice.facts import read_facts
from diagnose.advice.known_bugs import settle_known_bugs
from diagnose.advice.remedy import step_values, steps
from diagnose.advice.settings import Stated, Value
from diagnose.advice.sizes import idle_notices
from diagnose.advice.statement import Notice, RemedyStep
from diagnose.catalogue.load import Catalogue, load_rules
from diagnose.catalogue.sentences import Sentence
from diagnose.job.event_reader import EventReader
from diagnose.job.job import Job
from diagnose.job.reduction import build_job
from diagnose.questions import correlate
from diagnose.scan.reading import Deadline, read_all
from diagnose.scan.scanner import ScanRules
from diagnose.verdict.decision import Verdict, decide
from diagnose.verdict.proof import proof_of

FIXTURES = Path(__file__).parent.parent / "fixtures"


@dataclass(frozen=True)
class Outcome:
    """What came of one incident."""

    job: Job
    facts: Facts
    verdict: Verdict
    notices: tuple[Notice, ...]
    advice: tuple[RemedyStep, ...]

    @property
    def words(self) -> str:
        """All advice and notices as one text."""
        steps = [f"{a.text} {a.command or ''}" for a in self.advice]
        return "\n".join([*steps, *(n.text for n in self.notices)])


@cache
def catalogue() -> Catalogue:
    """Yield the shipped rules, read once."""
    return load_rules()


def facts_of(**values: Value) -> Facts:
    """Yield facts as given."""
    return Facts(gather_facts(Stated(name, value, "given", None, 3) for name, value in values.items()))


@cache
def scan_rules() -> ScanRules:
    """Yield them compiled."""
    return ScanRules(catalogue())


def look(*paths: Path | str) -> Outcome:
    """Yield what the tool makes of these files."""
    scan = read_all([str(p) for p in paths], scan_rules(), Deadline())
    reader = EventReader(catalogue())
    job = build_job([reader.read(s) for s in scan.sources.values() if s.skipped is None and s.kind != "recorder"])
    facts = read_facts(job)
    bugs = settle_known_bugs(job, facts, catalogue())
    verdict = decide(job, correlate(job), catalogue())
    advice: tuple[RemedyStep, ...] = ()
    if verdict.roots:
        root = verdict.roots[0]
        fields: dict[str, Any] = dict(root.first.fields) if root.first else dict(root.finding.fields) if root.finding else {}
        values = step_values(job, verdict, proof_of(job, verdict), facts, catalogue(), fields)
        advice = steps(catalogue().causes[root.cause], values)
    notices = tuple(n.told(say) for n in (*differences(facts), *bugs, *idle_notices(facts)))
    return Outcome(job, facts, verdict, notices, advice)


def say(sentence: Sentence) -> str:
    """Yield a sentence in English."""
    return sentence.filled(catalogue().sentences)


def write(folder: Path, **files: str) -> list[Path]:
    """Write `name_ext=text` as `name.ext`; `__` in a name is a dash."""
    paths = []
    for name, text in files.items():
        path = folder / ".".join(name.replace("__", "-").rsplit("_", 1))
        path.write_text(text)
        paths.append(path)
    return paths
