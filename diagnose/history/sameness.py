"""A report and the failures like it in, the report with one notice that names them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..advice.statement import Notice
from ..report.report import Report
from ..report.translation import Translator
from .fingerprint import Fingerprint
from .store import Failure

NAMED = 5  # jobs in the sentence


def seen_before(report: Report, found: Fingerprint, same: Sequence[Failure], translator: Translator) -> Report:
    """Yield the report with `Same failure as job 4690 and job 4702, all on gpu-8`."""
    if not same:
        return report
    shared = set(found.hosts).intersection(*(failure.found.hosts for failure in same))
    text = translator.say(
        "history.same", jobs=[failure.job for failure in same[:NAMED]], more=len(same[NAMED:]), hosts=sorted(shared)
    )
    return replace(report, notices=(Notice(topic=translator.say("history.topic"), text=text), *report.notices))
