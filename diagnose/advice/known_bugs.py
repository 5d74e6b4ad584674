"""Known bugs against the versions that run: which are confirmed, which possible, which refuted.

A rule with `applies_to` says in which versions its bug lives. Where the facts hold such a version, the event may name
the root; where none is known, the rule's own role stands (`cause` where the line is unmistakable, else a possible
reading, with the one command that settles it); where the version is another one, the event says nothing. Where it does
not speak, what a catch-all says of the same exception stands. Bugs without words of their own (a hang of one version)
are rows of a table: `by_version`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from ..catalogue.load import Catalogue
from ..catalogue.rule import Role, Rule
from ..job.event import FAILING, Event
from ..job.job import Job
from ..lines.record import record
from .bug_conditions import beside, judge, only_versions_unknown, version_fact
from .bug_versions import BUGS, apply_version_rows, possible_bug
from .fact_store import Facts
from .statement import Evidence, Notice

TABLE = "software/known-bug/fixes.table.yaml"  # what mends each bug, by the name of its rule
CONNECTIONS = ("nccl.", "network.")
Standing = Literal["confirmed", "possible", "refuted"]


@record
class BugReading:
    """The events of rules with `applies_to`, by what the facts say of them, and a notice for each possible bug."""

    confirmed: tuple[Event, ...] = ()
    possible: tuple[Event, ...] = ()
    refuted: tuple[Event, ...] = ()
    notices: tuple[Notice, ...] = ()


def apply_known_bugs(
    events: Iterable[Event], facts: Facts, fixes: Mapping[str, Mapping[str, Any]] | None = None
) -> BugReading:
    """Yield how the facts stand to each event of a versioned bug; nothing is changed. `fixes`: rule name -> row."""
    sorted_out: dict[Standing, list[Event]] = {"confirmed": [], "possible": [], "refuted": []}
    answers: dict[str, Standing] = {}  # by rule: thousands of ranks may print one line
    for event in events:
        if event.rule.applies_to:
            if event.rule.id not in answers:
                answers[event.rule.id] = standing(event.rule, facts)
            sorted_out[answers[event.rule.id]].append(event)
    confirmed, possible, refuted = (tuple(sorted_out[s]) for s in ("confirmed", "possible", "refuted"))
    named = {e.rule.id for e in confirmed}
    first = {e.rule.id: e for e in reversed(possible) if e.rule.id not in named and e.rule.role != "cause"}
    notices = tuple(_notice(first[i], fixes or {}, facts) for i in sorted(first))
    return BugReading(confirmed, possible, refuted, notices)


def settle_known_bugs(job: Job, facts: Facts, catalogue: Catalogue) -> tuple[Notice, ...]:
    """Set the role of each versioned bug's event by the facts, join what mends it to its fields; yield the notices.

    Called once, between `build_job` and the correlators. A bug of the table that its facts prove joins `job.events`.
    """
    fixes = fixes_of(catalogue)
    reading = apply_known_bugs(job.events, facts, fixes)
    aside = {(e.source, e.line) for e in (*job.survived, *job.earlier)}
    named = {_library(e.rule, fixes) for e in reading.confirmed if e.rule.role != "symptom"}
    told = {e.source for e in job.events if e.role in FAILING and str(e.cause).startswith(CONNECTIONS)}
    roles: dict[Event, Role] = {}
    for event in reading.confirmed:
        is_vague = event.rule.role == "symptom"  # it says that something broke; another line of the same bug says what
        if is_vague and event.source in told and _library(event.rule, fixes) not in named:
            roles[event] = "context"  # and here another line names another reason
        elif (not is_vague or _library(event.rule, fixes) not in named) and (event.source, event.line) not in aside:
            roles[event] = "cause"
    for event in (*reading.refuted, *(e for e in reading.possible if e.rule.role != "cause")):
        roles[event] = "context"  # what may be a bug must not explain what is known to have happened
    of_bugs = {e for e in job.events if e.cause == BUGS}
    changed = {e: e.but(role=roles.get(e, e.role), fields=_with_details(e, fixes, facts)) for e in {*roles, *of_bugs}}
    job.revise({event: (new,) for event, new in changed.items()})
    heard = {(e.source, e.line) for e in job.events if e.rule.applies_to and e.role in FAILING}
    heard |= {(e.source, e.line) for e in reading.confirmed}
    proven, by_version = apply_version_rows(job, facts, catalogue)
    gone: dict[Event, list[Event]] = {e: [] for e in job.events if e.rule.generic and (e.source, e.line) in heard}
    job.revise(gone | {event: [event, *bugs] for event, bugs in proven.items() if event not in gone})
    return (*reading.notices, *by_version)


def _with_details(event: Event, fixes: Mapping[str, Mapping[str, Any]], facts: Facts) -> dict[str, Any]:
    """Yield the fields of an event, of one of a bug with what mends it."""
    return {**details(event.rule, fixes, facts), **event.fields} if event.cause == BUGS else event.fields


def standing(rule: Rule, facts: Facts) -> Standing:
    """Tell what the facts say of a rule's `applies_to`; a bug of a library of which nothing is seen is refuted."""
    holds, seen = judge(rule.applies_to, facts)
    if holds is not None:
        return "confirmed" if holds else "refuted"
    if rule.role == "cause":
        return "possible"
    return "possible" if only_versions_unknown(rule.applies_to, facts) and (seen or rule.role == "symptom") else "refuted"


def fixes_of(catalogue: Catalogue) -> dict[str, Mapping[str, Any]]:
    """Yield what mends each bug, by the name of its rule."""
    table = catalogue.tables.get(TABLE)
    return {str(row["rule"]): row for row in table.rows if "rule" in row} if table else {}


def details(rule: Rule, fixes: Mapping[str, Mapping[str, Any]], facts: Facts) -> dict[str, Any]:
    """Yield what is known of a rule's bug: library, affected, fixed_in, way_round, command, installed."""
    row = {k: v for k, v in fixes.get(rule.id.rpartition("/")[2], {}).items() if k != "rule" and v is not None}
    library = _library(rule, fixes)
    if library:
        row["library"] = library
        row["affected"] = row.get("affected") or rule.applies_to.get(library)
        row["installed"] = facts.get(version_fact(library))
        row["beside"] = beside(library, rule.applies_to, facts)
    row["reference"] = next(iter(rule.references), None)
    return {k: v for k, v in row.items() if v is not None}


def _library(rule: Rule, fixes: Mapping[str, Mapping[str, Any]]) -> str:
    """Whose bug it is: as the table says, else the first library of `applies_to`."""
    row = fixes.get(rule.id.rpartition("/")[2], {})
    return str(row.get("library") or next(iter(sorted(rule.applies_to)), ""))


def _notice(event: Event, fixes: Mapping[str, Mapping[str, Any]], facts: Facts) -> Notice:
    rule = event.rule
    evidence = Evidence(event.source, event.line, event.end_line, event.rank, event.host, text=event.raw, rule=rule.id)
    return possible_bug(rule.title, rule.applies_to, details(rule, fixes, facts), (evidence,), facts)
