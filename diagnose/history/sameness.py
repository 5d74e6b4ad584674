"""A report in, the same with one notice that names earlier jobs that failed like it out; the failure is written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..advice.statement import Notice
from ..catalogue.load import load_rules
from ..report.report import Report
from ..report.translation import Translator
from .fingerprint import fingerprint, job_name
from .store import remember

NAMED = 5  # jobs in the sentence


def remembered(report: Report, inputs: Sequence[str], rules: Sequence[str] = ()) -> Report:
    """Yield the report with `Same failure as job 4690 and job 4702, all on gpu-8`. Raises `UsageError`."""
    found = fingerprint(report)
    if found is None:
        return report
    same = remember(found, job_name(inputs))
    if not same:
        return report
    shared = set(found.hosts).intersection(*(failure.found.hosts for failure in same))
    jobs, more = [failure.job for failure in same[:NAMED]], len(same[NAMED:])
    translator = Translator(report.language, sentences=load_rules(*rules).sentences)
    text = translator.say("history.same", jobs=jobs, more=more, hosts=sorted(shared))
    return replace(report, notices=(Notice(topic=translator.say("history.topic"), text=text), *report.notices))
