"""The fingerprints of earlier reports, in one SQLite file of the user's own; and the notice that names those alike."""

from __future__ import annotations

import os
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
from .fingerprint import Fingerprint, fingerprint, job_name

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
