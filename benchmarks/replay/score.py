"""A report beside the truth of its case: what of it is right; and how often, per set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from diagnose.advice.statement import Evidence
from diagnose.engine import diagnose
from diagnose.report.report import Report

from .case import Case, find_cases

NEAR_LINES = 3  # an evidence line this close to the expert's counts as the same place
CERTAINTIES = ("certain", "likely", "possible")
QUIET = ("healthy", "unfinished")
ASKED = ("cause", "culprit", "evidence", "mention", "host", "false_blame")


@dataclass(frozen=True)
class Row:
    """One case: what is true, what was said, and what of it was right (None: not asked)."""

    case: str
    kind: str
    truth: str
    said: str
    culprits: str
    certainty: str | None
    cause: bool
    culprit: bool | None = None
    false_blame: bool | None = None
    evidence: bool | None = None
    mention: bool | None = None
    host: bool | None = None

    @property
    def right(self) -> bool:
        """Cause right, and nobody blamed wrongly."""
        return self.cause and self.culprit is not False and not self.false_blame

    def verdict(self) -> str:
        """What was said, in one line that a diff can show."""
        wrong = [name for name in ASKED if getattr(self, name) is (name == "false_blame")]
        return f"{self.said} {self.culprits or '-'} {self.certainty or '-'}{f'  WRONG: {wrong}' if wrong else ''}"


def judge(case: Case, report: Report, page: str) -> Row:
    """Yield what of a report is right; `page` is its Markdown, asked for what the truth demands to be shown."""
    truth, found = case.truth, report.diagnosis
    said = found.cause if found else "unfinished" if report.outcome == "unfinished" else "healthy"
    accepted = {truth["root_cause"], *(truth.get("accept") or [])}
    if accepted & {"healthy", "unknown"}:
        accepted.add("unfinished")
    named = {c.rank for c in found.culprits if c.rank is not None} if found else set()
    hosts = {c.host for c in found.culprits if c.host} if found else set()
    told = ",".join([*map(str, sorted(named)), *sorted(hosts)])
    row = {"culprits": told, "certainty": found.certainty if found else None, "cause": said in accepted}
    if truth["root_cause"] != "healthy":
        row |= _judge_who(truth, named, hosts)
        if truth.get("first_evidence"):
            row["evidence"] = bool(found and found.evidence) and _is_there(found.evidence[0], truth["first_evidence"])
        wanted = truth.get("must_mention") or []
        row["mention"] = all(str(w).casefold() in page for w in wanted) if wanted else None
    return Row(case.name, case.kind, truth["root_cause"], said, **row)


def judge_folder(folder: Path) -> Row:
    """Read one case and judge the report on it; what it has to mention is not asked."""
    (case,) = find_cases([folder.parent], folder.name)
    return judge(replace(case, truth={**case.truth, "must_mention": None}), diagnose(folder / "logs"), "")


def _judge_who(truth: dict, named: set[int], hosts: set[str]) -> dict[str, bool]:
    others = [set(ranks) for ranks in truth.get("accept_culprits") or []]
    if truth.get("culprit_ranks") is not None:
        return {"culprit": named == set(truth["culprit_ranks"]) or named in others}
    who = {"false_blame": bool(named) and named not in others}
    return who | ({"host": hosts == set(truth["culprit_hosts"])} if truth.get("culprit_hosts") else {})


def _is_there(evidence: Evidence, wanted: str | Sequence[str]) -> bool:
    for place in [wanted] if isinstance(wanted, str) else wanted:
        name, _, line = str(place).rpartition(":")
        parts = Path(name.removeprefix("logs/")).parts
        is_near = line.isdigit() and abs((evidence.line or -99) - int(line)) <= NEAR_LINES
        if is_near and Path(evidence.file or "").parts[-len(parts) :] == parts:
            return True
    return False


def share(values: Iterable[bool | None]) -> str:
    """`45/50 = 90%` of the truth values that are not None."""
    told = [v for v in values if v is not None]
    return f"{sum(told)}/{len(told)} = {sum(told) / len(told):.0%}" if told else "-"


def summary(rows: Sequence[Row]) -> str:
    """Yield one line of figures over these rows."""
    figures = [f"{name.replace('_', ' ')} {share(getattr(r, name) for r in rows)}" for name in ASKED]
    figures += [f"{name} right {share(r.right for r in rows if r.certainty == name)}" for name in CERTAINTIES]
    alarms = sum(r.truth == "healthy" and r.said not in QUIET for r in rows)
    missed = sum(r.truth != "healthy" and r.said == "healthy" for r in rows)
    return f"{len(rows)} cases: {', '.join(figures)}, false alarms {alarms}, failures called healthy {missed}"
