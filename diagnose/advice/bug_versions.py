"""Known bugs that print nothing of their own: a hang, or a silent wrong result, of certain versions.

A row of the table whose facts hold becomes a notice; where the row says that version and symptom prove it, the events
that show the symptom are doubled as events of the bug, and may then be the root. Unknown versions yield a notice only
where the symptom is the bug's own (sizes that differ): every job has some version that nobody told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..catalogue.load import Catalogue
from ..catalogue.rule import Rule
from ..job.event import Event
from ..job.job import Job
from .bug_conditions import (
    beside,
    judge,
    only_versions_unknown,
    settling_command,
    unknown_libraries,
    version_fact,
    versions_in_words,
)
from .bugs import upgrade_command
from .fact_store import Facts
from .statement import Evidence, Notice, RemedyStep

TABLE = "software/known-bug/versions.table.yaml"
BUGS = "software.known-bug"
INSTALLED = "installed"  # symptom of bugs that fail nothing
SIZES_DIFFER = "sizes-differ"
MAX_EVENTS = 64  # of one bug


def apply_version_rows(job: Job, facts: Facts, catalogue: Catalogue) -> tuple[dict[Event, list[Event]], tuple[Notice, ...]]:
    """Yield the events of proven bugs by the event that shows them, and a notice for each allowed bug."""
    table = catalogue.tables.get(TABLE)
    proven: dict[Event, list[Event]] = {}
    notices: list[Notice] = []
    for row in table.rows if table else ():
        holds, seen = judge(_conditions(row), facts)
        if holds is False or (holds is None and not seen):
            continue
        shown = [] if row.get("symptom") == INSTALLED else _symptoms(job, row)[:MAX_EVENTS]
        telling = _is_proof(row, shown)
        if holds and telling:
            for event in shown:
                proven.setdefault(event, []).append(_as_bug(event, row, facts))
        elif holds and (shown or row.get("symptom") == INSTALLED):
            notices.append(_notice(row, shown, facts))
        elif holds is None and telling and only_versions_unknown(_conditions(row), facts):
            places = [Evidence(e.source, e.line, None, e.rank, e.host, text=e.raw) for e in shown[:2]]
            notices.append(possible_bug(str(row["title"]), _conditions(row), row, places, facts))
    return proven, tuple(notices)


def _is_proof(row: Mapping[str, Any], shown: Sequence[Event]) -> bool:
    """Whether the symptom is what this bug makes of it, not only what any hang looks like."""
    if row.get("proves") == SIZES_DIFFER:
        return sizes_differ(shown)
    return bool(shown) and row.get("proves") == "always"


def sizes_differ(events: Sequence[Event]) -> bool:
    """Whether ranks gave one and the same collective different numbers of elements."""
    sizes: dict[tuple[object, ...], set[object]] = {}
    for event in events:
        fields = event.fields
        if fields.get("seq") is not None and fields.get("numel_in") is not None:
            key = (fields.get("pg"), fields["seq"], fields.get("op"), event.attempt)
            sizes.setdefault(key, set()).add(fields["numel_in"])
    return any(len(seen) > 1 for seen in sizes.values())


def _conditions(row: Mapping[str, Any]) -> Mapping[str, str]:
    stated = row.get("applies_to")
    return {str(k): str(v) for k, v in stated.items()} if isinstance(stated, Mapping) else {"": "never"}


def _symptoms(job: Job, row: Mapping[str, Any]) -> list[Event]:
    ops = row.get("ops")
    survived = set(job.survived)
    found = [e for e in job.telling(str(row.get("symptom"))) if e not in survived]
    return [e for e in found if not ops or str(e.fields.get("op", "")).upper() in ops]


def _as_bug(event: Event, row: Mapping[str, Any], facts: Facts) -> Event:
    """The event told again as one of the bug, so that the symptom keeps its own telling."""
    rule = Rule(
        title=str(row["title"]), role="cause", match="line", why=str(row["effect"]), forms=(),
        says=f"{_sentence(str(row['effect']))}.",
        references=tuple(row.get("references", ())), id=f"{BUGS}/{row['bug']}", cause=BUGS,
    )  # fmt: skip
    fields = {k: row[k] for k in ("library", "fixed_in", "way_round", "command") if row.get(k)}
    fields["affected"] = _conditions(row).get(str(row["library"]), "")
    fields["installed"] = facts.get(version_fact(str(row["library"])))
    fields["beside"] = beside(str(row["library"]), _conditions(row), facts)
    fields["reference"] = next(iter(rule.references), None)
    return event.but(rule=rule, cause=BUGS, role="cause", fields=fields)


def possible_bug(
    title: str, applies_to: Mapping[str, str], row: Mapping[str, Any], evidence: Sequence[Evidence], facts: Facts
) -> Notice:
    """Yield the notice for a bug whose symptom is there and whose version nobody told, with what settles it."""
    unknown = unknown_libraries(applies_to, facts)
    fixed = f", mended in {row['library']} {row['fixed_in']}" if row.get("fixed_in") else ""
    text = (
        f"Possibly a known bug: {title} ({versions_in_words(applies_to)}{fixed}). "
        f"No version of {' and '.join(unknown)} is in the logs."
    )
    steps = (RemedyStep("now", "This settles it.", settling_command(unknown)), *_way_round(row))
    return Notice("possible known bug", text, tuple(evidence), steps)


def _way_round(row: Mapping[str, Any]) -> tuple[RemedyStep, ...]:
    return (RemedyStep("fix", _sentence(str(row["way_round"])), row.get("command")),) if row.get("way_round") else ()


def _notice(row: Mapping[str, Any], shown: Sequence[Event], facts: Facts) -> Notice:
    library = str(row["library"])
    installed = facts.get(version_fact(library))
    fixed = row.get("fixed_in")
    text = (
        f"{library} {installed} has a known bug ({versions_in_words(_conditions(row))}"
        f"{f', mended in {fixed}' if fixed else ''}): {row['effect']}."
    )
    steps = list(_way_round(row))
    if fixed:
        upgrade = RemedyStep("fix", f"Upgrade {library} to {fixed} or later.", upgrade_command(library, str(fixed)))
        steps.insert(0, upgrade)
    evidence = [Evidence(e.source, e.line, None, e.rank, e.host, text=e.raw) for e in shown[:1]]
    known = facts.all(version_fact(library))
    if known and known[0].stated:
        evidence.append(Evidence(known[0].stated[0].source, known[0].stated[0].line, text=f"{library} {installed}"))
    return Notice(f"known bug of {library} {installed}", text, tuple(evidence), tuple(steps))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
