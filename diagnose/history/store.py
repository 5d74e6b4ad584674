"""The fingerprints of earlier reports, in one SQLite file of the user's own; and the notice that names those alike.

A fingerprint is what tells a failure from others: ids, hosts and a place in code, and no text of any log.
"""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from ..advice.statement import Notice
from ..catalogue.load import load_rules
from ..errors import UsageError
from ..lines.record import record
from ..report.report import Report
from ..report.translation import Translator
from ..report.written_files import make_private_folder

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


# --- the file --------------------------------------------------------------------------------------------------------

BUSY_S = 5.0  # how long a reader waits for another one's write
NAMED = 5  # jobs in the notice
VARIABLE = "DIAGNOSE_HISTORY"  # names the file: a team may share one
_TABLE = """
create table if not exists failure (
  key text not null, job text not null, cause text not null, rule text not null, place text not null, hosts text not null,
  ranks text not null, outcome text not null, ended text not null, remembered text not null, primary key (key, job)
)"""


@record
class Failure:
    """One remembered failure, and of which job."""

    job: str
    found: Fingerprint
    remembered: str = ""  # RFC 3339, when it was written


def history_file() -> Path:
    """Yield where the history is kept."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "diagnose" / "history.sqlite3"


def remembered(report: Report, inputs: Sequence[str], rules: Sequence[str] = ()) -> Report:
    """Write a failure down; yield the report with `Same failure as job 4690, both on gpu-8`. Raises `UsageError`."""
    found = fingerprint(report)
    same = _remember(found, job_name(inputs)) if found is not None else []
    if found is None or not same:
        return report
    hosts = set(found.hosts).intersection(*(failure.found.hosts for failure in same))
    say = Translator(report.language, sentences=load_rules(*rules).sentences).say
    jobs = [failure.job for failure in same[:NAMED]]
    text = say("history.same", jobs=jobs, more=len(same[NAMED:]), hosts=sorted(hosts))
    return replace(report, notices=(Notice(say("history.topic"), text), *report.notices))


def _remember(found: Fingerprint, job: str) -> list[Failure]:
    """The failures of other jobs with the same fingerprint, the latest first."""
    now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    row = (found.key, job, found.cause, found.rule, found.place, _packed(found.hosts), _packed(found.ranks),
           found.outcome, found.ended, now)  # fmt: skip
    with _opened(make=True) as history:
        same = _read(history, "where key = ? and job != ?", (found.key, job))
        history.execute(f"insert or replace into failure values ({', '.join('?' * len(row))})", row)
        history.commit()
    return same


def failures(cause: str | None = None) -> list[Failure]:
    """Yield what is remembered, the latest first; `cause`: only ids that begin so. Raises `UsageError`."""
    if not history_file().exists():
        return []
    with _opened() as history:
        return _read(history, "where substr(cause, 1, ?) = ?", (len(cause or ""), cause or ""))


def forget(job: str) -> int:
    """Drop what is remembered of a job; yield how many failures that were. Raises `UsageError`."""
    if not history_file().exists():
        return 0
    with _opened() as history:
        count = history.execute("delete from failure where job = ?", (job,)).rowcount
        history.commit()
        return count


def _read(history: sqlite3.Connection, where: str, values: tuple[object, ...]) -> list[Failure]:
    columns = "job, cause, rule, place, hosts, ranks, outcome, ended, remembered"
    order = "order by coalesce(nullif(ended, ''), remembered) desc, job"
    rows = history.execute(f"select {columns} from failure {where} {order}", values)
    return [_failure(*row) for row in rows]


def _failure(*row: str) -> Failure:
    job, cause, rule, place, hosts, ranks, outcome, ended, at = row
    who = (tuple(hosts.split()), tuple(map(int, ranks.split())))
    return Failure(job, Fingerprint(cause, rule, place, *who, outcome, ended), at)


def _packed(values: tuple[object, ...]) -> str:
    return " ".join(map(str, values))


@contextmanager
def _opened(*, make: bool = False) -> Iterator[sqlite3.Connection]:
    path = history_file()
    try:
        if make and VARIABLE not in os.environ:
            make_private_folder(path.parent)
        with closing(sqlite3.connect(path, timeout=BUSY_S)) as history:
            history.execute(_TABLE)
            yield history
    except (OSError, sqlite3.Error, ValueError) as error:
        raise UsageError(f"{path}: the history cannot be used: {error}") from error
