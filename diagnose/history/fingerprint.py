"""A report in, what tells its failure from others out: ids, hosts and a place in code, and no text of any log."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence

from ..lines.record import record
from ..report.report import Report

MAX_HOSTS = 32  # remembered of one failure
MAX_NAME = 80  # characters of a job's name
_JOB_IN_A_NAME = re.compile(r"(?:^|[^a-z])(?:slurm|job|jobid|run)[-_.]?(\d{2,12})(?!\d)", re.IGNORECASE)


@record
class Fingerprint:
    """One failure; `place` is `file in function` of the user's own code, without its folder and line."""

    cause: str
    rule: str = ""
    place: str = ""
    hosts: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    outcome: str = ""
    ended: str = ""  # RFC 3339; empty where the logs have no clock

    @property
    def key(self) -> str:
        """What failures of one kind share: cause, rule and place, not who it was."""
        return hashlib.sha256("\0".join((self.cause, self.rule, self.place)).encode("utf-8", "replace")).hexdigest()[:16]


def fingerprint(report: Report) -> Fingerprint | None:
    """Yield the fingerprint; None where no cause is named."""
    found = report.diagnosis
    if found is None or found.cause == "unknown":
        return None
    proof = found.evidence[0] if found.evidence else None
    code = proof.own_code[0] if proof and proof.own_code else None
    hosts = sorted({culprit.host for culprit in found.culprits if culprit.host})
    times = [row.last_time for row in report.ranks if row.last_time]
    return Fingerprint(
        cause=found.cause,
        rule=(proof.rule if proof else None) or "",
        place=f"{os.path.basename(code.file)} in {code.function}" if code else "",
        hosts=tuple(hosts[:MAX_HOSTS]),
        ranks=tuple(c.rank for c in found.culprits if c.rank is not None)[:MAX_HOSTS],
        outcome=report.outcome,
        ended=max(times, default=""),
    )


def job_name(inputs: Sequence[str]) -> str:
    """Yield what a job may be called: the number in `slurm-4711.out` or `job_4711/`, else the first input's name."""
    for given in inputs:
        for part in reversed(os.path.abspath(given).split(os.sep)):
            if match := _JOB_IN_A_NAME.search(part):
                return match[1]
    return os.path.basename(os.path.abspath(inputs[0]))[:MAX_NAME] if inputs else ""
