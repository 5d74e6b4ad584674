"""A report in, what an assistant needs of it out: plain values, redacted before, bounded in size here."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..advice.statement import Evidence
from ..lines.rank_ranges import rank_ranges
from ..report.parts import Symptom
from ..report.report import Report

MOST_BYTES = 24_000  # of one answer, about 6,000 tokens
FIRST_CUT = (40, 2_000)  # items of a list and characters of a text, then half of both until the answer fits
EVIDENCE, CONSEQUENCES, OTHERS = 4, 6, 6  # shown of each
BLANKS: tuple[Any, ...] = (None, "", [], {}, ())


def verdict(report: Report, name: str) -> dict[str, Any]:
    """Yield the answer on a report: what failed, who, how sure, the proof, what to do; `name` is for later questions."""
    found = report.diagnosis
    states: dict[str, list[int]] = {}
    for row in report.ranks:
        states.setdefault(row.state, []).append(row.rank)
    about: dict[str, Any] = {"report": name, "outcome": report.outcome, "summary": report.summary}
    if found is not None:
        about |= row_of(found, "cause", "title", "certainty", "owner", "restart")
        about["reasons"] = [reason.text for reason in found.reasons]
        about["culprits"] = [row_of(culprit) for culprit in found.culprits]
        about["evidence"] = [_proof(evidence) for evidence in found.evidence[:EVIDENCE]]
        about["remedy"] = [row_of(step) for step in found.remedy]
    about |= {
        "consequences": [_consequence(s) for s in report.symptoms[:CONSEQUENCES]],
        "alternatives": [row_of(a, "cause", "title", "why_not") for a in report.alternatives[:OTHERS]],
        "last_lines": [row_of(line) for line in report.last_lines[:OTHERS]],
        "collect": [row_of(step) for step in report.collect],
        "ranks": {state or "unknown": rank_ranges(ranks) for state, ranks in states.items()},
        "notices": [notice.text for notice in report.notices[:OTHERS]],
        "gaps": [gap.text for gap in report.gaps[:OTHERS]],
        "inputs": {"files": len(report.inputs), "bytes": report.stats.bytes},
        "not_read": [f"{row.file}: {row.skipped}" for row in report.inputs if row.skipped][:OTHERS],
    }
    return {key: value for key, value in about.items() if value not in BLANKS}


def bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """Yield the answer within `MOST_BYTES`; long lists and texts are cut, and `cut` says that they are."""
    items, characters = FIRST_CUT
    fitted = answer
    while items and len(json.dumps(fitted, ensure_ascii=False).encode("utf-8", "replace")) > MOST_BYTES:
        fitted = {**_cut(answer, items, characters), "cut": "lists and texts are shortened; ask for less"}
        items, characters = items // 2, characters // 2
    return fitted


def _cut(value: Any, items: int, characters: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else value[:characters] + "…"
    if isinstance(value, dict):
        return {key: _cut(part, items, characters) for key, part in value.items()}
    if isinstance(value, list):
        return [_cut(part, items, characters) for part in value[:items]]
    return value


def row_of(value: Any, *names: str) -> dict[str, Any]:
    """Yield these fields of a record (none named: all) that say anything."""
    row = {name: getattr(value, name) for name in names} if names else asdict(value)
    return {name: part for name, part in row.items() if part not in BLANKS}


def _proof(evidence: Evidence) -> dict[str, Any]:
    row = row_of(evidence, "file", "line", "rank", "host", "time", "text", "rule")
    codes = [f"{code.file}:{code.line} in {code.function}" for code in evidence.own_code[:1]]
    return {**row, "your_code": codes[0]} if codes else row


def _consequence(found: Symptom) -> dict[str, Any]:
    ranks = {"ranks": rank_ranges(found.ranks)} if found.ranks else {}
    place = {"place": f"{found.first.file}:{found.first.line}"} if found.first else {}
    return {**row_of(found, "title", "cause"), **ranks, **row_of(found, "count", "explained_by"), **place}
