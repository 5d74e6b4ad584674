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
from dataclasses import asdict, fields, replace
from datetime import datetime, timezone
from pathlib import Path

from ..advice.statement import Notice
from ..catalogue.load import load_rules
from ..errors import UsageError
from ..lines.record import record
from ..report.report import Report
from ..report.translation import Translator
from ..report.written_files import make_private_folder

BUSY_S = 5.0  # how long a reader waits for another one's write
MAX_HOSTS = 32  # remembered of one failure
MAX_NAME = 80  # characters of a job's name
NAMED = 5  # jobs in the notice
VARIABLE = "DIAGNOSE_HISTORY"  # names the file: a team may share one
_JOB_IN_A_NAME = re.compile(r"(?:^|[^a-z])(?:slurm|job|jobid|run)[-_.]?(\d{2,12})(?!\d)", re.IGNORECASE)
_TABLE = """
create table if not exists failure (
  key text not null, job text not null, cause text not null, rule text not null, place text not null, hosts text not null,
  ranks text not null, outcome text not null, ended text not null, remembered text not null, primary key (key, job)
)"""


@record
class Failure:
    """One job's failure; `place` is `file in function` of the user's own code, without its folder and line."""

    job: str
    remembered: str  # RFC 3339, when it was written
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


_COLUMNS = [f.name for f in fields(Failure)]


def failure_of(report: Report, job: str) -> Failure | None:
    """Yield what is to be remembered of a job's report; None where no cause is named."""
    found = report.diagnosis
    if found is None or found.cause == "unknown":
        return None
    proof = found.evidence[0] if found.evidence else None
    code = proof.own_code[0] if proof and proof.own_code else None
    ended = max((row.last_time for row in report.ranks if row.last_time), default="")
    now = datetime.now(timezone.utc).isoformat(timespec="seconds").replace("+00:00", "Z")
    hosts = tuple(sorted({culprit.host for culprit in found.culprits if culprit.host})[:MAX_HOSTS])
    ranks = tuple(c.rank for c in found.culprits if c.rank is not None)[:MAX_HOSTS]
    place = f"{os.path.basename(code.file)} in {code.function}" if code else ""
    rule = (proof.rule if proof else None) or ""
    return Failure(job or f"pasted-{ended or now}", now, found.cause, rule, place, hosts, ranks, report.outcome, ended)


def job_name(inputs: Sequence[str]) -> str:
    """Yield a job's name: the number in `slurm-4711.out` or `job_4711/`, else the first input's; a paste has none."""
    for given in (inputs := [given for given in inputs if given != "-"]):
        for part in reversed(os.path.abspath(given).split(os.sep)):
            if match := _JOB_IN_A_NAME.search(part):
                return match[1]
    return os.path.basename(os.path.abspath(inputs[0]))[:MAX_NAME] if inputs else ""


def history_file() -> Path:
    """Yield where the history is kept."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(state) / "diagnose" / "history.sqlite3"


def remembered(report: Report, inputs: Sequence[str], rules: Sequence[str] = ()) -> Report:
    """Write a failure down; yield the report with `Same failure as job 4690, both on gpu-8`. Raises `UsageError`."""
    found = failure_of(report, job_name(inputs))
    same = _remember(found) if found is not None else []
    if found is None or not same:
        return report
    hosts = set(found.hosts).intersection(*(failure.hosts for failure in same))
    say = Translator(report.language, sentences=load_rules(*rules).sentences).say
    jobs = [failure.job for failure in same[:NAMED]]
    text = say("history.same", jobs=jobs, more=len(same[NAMED:]), hosts=sorted(hosts))
    return replace(report, notices=(Notice(say("history.topic"), text), *report.notices))


def _remember(found: Failure) -> list[Failure]:
    """The failures of other jobs with the same fingerprint, the latest first."""
    row = {"key": found.key, **asdict(found), "hosts": " ".join(found.hosts), "ranks": " ".join(map(str, found.ranks))}
    with _opened(make=True) as history:
        same = _read(history, "where key = ? and job != ?", (found.key, found.job))
        into = f"insert or replace into failure ({', '.join(row)}) values ({', '.join('?' * len(row))})"
        history.execute(into, [*row.values()])
    return same


def failures(cause: str | None = None) -> list[Failure]:
    """Yield what is remembered, the latest first; `cause`: only ids that begin so. Raises `UsageError`."""
    with _opened() as history:
        return _read(history, "where substr(cause, 1, ?) = ?", (len(cause or ""), cause or ""))


def forget(job: str) -> int:
    """Drop what is remembered of a job; yield how many failures that were. Raises `UsageError`."""
    with _opened() as history:
        return history.execute("delete from failure where job = ?", (job,)).rowcount


def _read(history: sqlite3.Connection, where: str, values: tuple[object, ...]) -> list[Failure]:
    order = "order by coalesce(nullif(ended, ''), remembered) desc, job"
    rows = history.execute(f"select {', '.join(_COLUMNS)} from failure {where} {order}", values)
    found = [Failure(*row) for row in rows]
    return [replace(f, hosts=tuple(str(f.hosts).split()), ranks=tuple(map(int, str(f.ranks).split()))) for f in found]


@contextmanager
def _opened(*, make: bool = False) -> Iterator[sqlite3.Connection]:
    path = history_file()
    try:
        if make and VARIABLE not in os.environ:
            make_private_folder(path.parent)
        with closing(sqlite3.connect(path if make or path.exists() else ":memory:", timeout=BUSY_S)) as history:
            history.execute(_TABLE)
            yield history
            history.commit()
    except (OSError, sqlite3.Error, ValueError) as error:
        raise UsageError(f"{path}: the history cannot be used: {error}") from error
