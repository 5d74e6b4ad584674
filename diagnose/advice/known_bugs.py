"""Known bugs against the versions that run: which are confirmed, which possible, which refuted.

A rule with `applies_to` says in which versions its bug lives. Where the facts hold such a version, the event may name
the root; where none is known, the rule's own role stands (`cause` where the line is unmistakable, else a possible
reading, with the command that settles it); of another version it says nothing. Bugs without words of their own (a hang
of one version) are rows of a table, each of which stands for such a rule: version and symptom together prove them, or a
notice is all that follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from ..catalogue.load import Catalogue
from ..catalogue.rule import Role, Rule
from ..job.event import FAILING, Event
from ..job.job import Job
from .fact_store import Facts, in_range
from .settings import NAMES, PACKAGES
from .statement import Evidence, Flags, Remark, RemedyStep

BUGS = "software.known-bug"
FIXES = "software/known-bug/fixes.table.yaml"  # what mends each bug, by the name of its rule
PACKAGE_TABLE = "software/import-error/packages.table.yaml"  # import name -> what pip installs
BY_VERSION = "software/known-bug/versions.table.yaml"  # bugs that print nothing of their own
MENDS = ("library", "affected", "fixed_in", "way_round", "command", "upgrade")  # columns that remedies ask for
CONNECTIONS = ("nccl.", "network.")
INSTALLED = "installed"  # symptom of bugs that fail nothing
SIZES_DIFFER = "sizes-differ"
MAX_EVENTS = 64  # of one bug
OPERATORS = ("<", ">", "=", "!", "~")
NOT_BY_PIP = {"driver": None, "kernel": None, "cuda": None, "nccl": NAMES["prints"]["nccl"]}
Row = Mapping[str, Any]
Standing = Literal["confirmed", "possible", "refuted"]


def settle_known_bugs(job: Job, facts: Facts, catalogue: Catalogue) -> tuple[Remark, ...]:
    """Set the role of each versioned bug's event by the facts, join what mends it to its fields; yield the notices."""
    fixes = fixes_of(catalogue)
    versioned = [e for e in job.events if e.rule.applies_to]
    answers = {rule.id: standing(rule, facts) for rule in {id(e.rule): e.rule for e in versioned}.values()}
    confirmed = [e for e in versioned if answers[e.rule.id] == "confirmed"]
    possible = [e for e in versioned if answers[e.rule.id] == "possible" and e.rule.role != "cause"]
    roles = _roles_of_confirmed(job, confirmed, fixes)
    for event in (*possible, *(e for e in versioned if answers[e.rule.id] == "refuted")):
        roles[event] = "context"  # what may be a bug must not explain what is known to have happened
    changed = [e for e in job.events if e in roles or e.cause == BUGS]
    mends = {e: details(e.rule, fixes, facts) if e.cause == BUGS else {} for e in changed}
    told = {e: e.but(role=roles.get(e, e.role), fields={**mends[e], **e.fields}) for e in changed}
    job.revise({event: (new,) for event, new in told.items()})
    settled = [told.get(e, e) for e in versioned]
    heard = {(e.source, e.line) for e in settled if e.role in FAILING} | {(e.source, e.line) for e in confirmed}
    proven, by_version = _of_the_table(job, facts, catalogue)
    gone: dict[Event, list[Event]] = {e: [] for e in job.events if e.rule.generic and (e.source, e.line) in heard}
    job.revise(gone | {event: [event, *bugs] for event, bugs in proven.items() if event not in gone})
    named = {e.rule.id for e in confirmed}
    first = {e.rule.id: e for e in reversed(possible) if e.rule.id not in named}
    notices = (_possible(event.rule, fixes, facts, [event]) for _, event in sorted(first.items()))
    return (*notices, *by_version)


def standing(rule: Rule, facts: Facts) -> Standing:
    """Tell what the facts say of a rule's `applies_to`; a bug of a library of which nothing is seen is refuted."""
    holds, is_seen, is_open = judge(rule.applies_to, facts)
    if holds is not None:
        return "confirmed" if holds else "refuted"
    return "possible" if rule.role == "cause" or (is_open and (is_seen or rule.role == "symptom")) else "refuted"


def _roles_of_confirmed(job: Job, confirmed: Sequence[Event], fixes: Mapping[str, Row]) -> dict[Event, Role]:
    """Let the events of proven bugs name the root; a symptom gives way to another line of the bug or of another reason."""
    aside = {(e.source, e.line) for e in (*job.survived, *job.earlier)}
    named = {_library(e.rule, fixes) for e in confirmed if e.rule.role != "symptom"}
    told = {e.source for e in job.events if e.role in FAILING and str(e.cause).startswith(CONNECTIONS)}
    roles: dict[Event, Role] = {}
    for event in confirmed:
        is_vague, is_named = event.rule.role == "symptom", _library(event.rule, fixes) in named
        if is_vague and event.source in told and not is_named:
            roles[event] = "context"
        elif (not is_vague or not is_named) and (event.source, event.line) not in aside:
            roles[event] = "cause"
    return roles


def fixes_of(catalogue: Catalogue) -> dict[str, Row]:
    """Yield what mends each bug, by the name of its rule."""
    table = catalogue.tables.get(FIXES)
    return {str(row["rule"]): row for row in table.rows if "rule" in row} if table else {}


def details(rule: Rule, fixes: Mapping[str, Row], facts: Facts) -> dict[str, Any]:
    """Yield what is known of a rule's bug: what mends it, its reference, and the versions of what it needs."""
    row, library = fixes.get(rule.id.rpartition("/")[2], {}), _library(rule, fixes)
    found = {"reference": next(iter(rule.references), None), **{k: row[k] for k in MENDS if row.get(k)}}
    if library:
        versions = {n: facts.get(version_fact(n)) for n in (library, *ranges_of(rule.applies_to))}
        beside = ", ".join(f"{n} {v}" for n, v in versions.items() if n != library and v is not None) or None
        affected = rule.applies_to.get(library)
        found |= {"library": library, "affected": affected, "installed": versions[library], "beside": beside}
    return {k: v for k, v in found.items() if v is not None}


def _library(rule: Rule, fixes: Mapping[str, Row]) -> str:
    """Whose bug it is: as the table says, else the first library of `applies_to`."""
    row = fixes.get(rule.id.rpartition("/")[2], {})
    return str(row.get("library") or next(iter(sorted(rule.applies_to)), ""))


def _of_the_table(job: Job, facts: Facts, catalogue: Catalogue) -> tuple[dict[Event, list[Event]], tuple[Remark, ...]]:
    """Yield the events of proven bugs by the event that shows them, and a notice for each allowed bug."""
    table = catalogue.tables.get(BY_VERSION)
    rows: dict[str, Row] = {str(row["bug"]): row for row in table.rows} if table else {}
    proven: dict[Event, list[Event]] = {}
    notices: list[Remark] = []
    survived = set(job.survived)
    for row in rows.values():
        rule = _rule_of(row)
        holds, is_seen, is_open = judge(rule.applies_to, facts)
        if holds is False or (holds is None and not is_seen):
            continue
        told = (e for e in job.telling(str(row.get("symptom"))) if e not in survived)
        of_ops = (e for e in told if not row.get("ops") or str(e.fields.get("op", "")).upper() in row["ops"])
        shown = list(islice(of_ops, MAX_EVENTS))
        is_proof = sizes_differ(shown) if row.get("proves") == SIZES_DIFFER else bool(shown) and "proves" in row
        if holds and is_proof:
            fields = details(rule, rows, facts)
            for event in shown:  # told again as one of the bug: the symptom keeps its own telling
                proven.setdefault(event, []).append(event.but(rule=rule, cause=BUGS, role="cause", fields=fields))
        elif holds and (shown or row.get("symptom") == INSTALLED):
            notices.append(_certain(rule, rows, facts, shown))
        elif is_open and is_proof:
            notices.append(_possible(rule, rows, facts, shown[:2]))
    return proven, tuple(notices)


def sizes_differ(events: Sequence[Event]) -> bool:
    """Whether ranks gave one and the same collective different numbers of elements."""
    sizes: dict[tuple[object, ...], set[object]] = {}
    for event in events:
        fields = event.fields
        if fields.get("seq") is not None and fields.get("numel_in") is not None:
            key = (fields.get("pg"), fields["seq"], fields.get("op"), event.attempt)
            sizes.setdefault(key, set()).add(fields["numel_in"])
    return any(len(seen) > 1 for seen in sizes.values())


def _rule_of(row: Row) -> Rule:
    """The rule that a row of the table stands for."""
    effect, versions = str(row["effect"]), {str(k): str(v) for k, v in row["applies_to"].items()}
    return Rule(
        title=str(row["title"]), role="cause", match="line", why=effect, forms=(),
        says=f"{effect[:1].upper()}{effect[1:]}.", applies_to=versions,
        references=tuple(row.get("references", ())), id=f"{BUGS}/{row['bug']}", cause=BUGS,
    )  # fmt: skip


def _possible(rule: Rule, rows: Mapping[str, Row], facts: Facts, shown: Sequence[Event]) -> Remark:
    """A bug whose symptom is there and whose version nobody told, with what settles it."""
    row = {"title": rule.title, **rows.get(rule.id.rpartition("/")[2], {}), **details(rule, rows, facts)}
    ranges = ranges_of(rule.applies_to)
    unknown = [n for n in ranges if facts.get(version_fact(n)) is None] or list(ranges)
    command = f"pip show {' '.join(unknown)} | grep -E '^(Name|Version)'"
    settle = RemedyStep("now", "print-versions", NAMES["prints"]["nccl"] if unknown == ["nccl"] else command)
    said = {**row, "ranges": ranges, "unknown": unknown}
    return Remark("possible-bug", said, tuple(map(_shown, shown)), (settle, *_way_round(row)))


def _certain(rule: Rule, rows: Mapping[str, Row], facts: Facts, shown: Sequence[Event]) -> Remark:
    """A bug of the version that is installed."""
    row = {"installed": None, **rows[rule.id.rpartition("/")[2]], **details(rule, rows, facts)}
    library, fixed = str(row["library"]), row.get("fixed_in")
    known = next(iter(facts.all(version_fact(library))), None)
    evidence = [_shown(e) for e in shown[:1]]
    if known is not None:
        evidence.append(Evidence(known.stated[0].source, known.stated[0].line, text=f"{library} {known.value}"))
    steps = [RemedyStep("fix", "upgrade", NOT_BY_PIP.get(library, f"pip install -U '{library}>={fixed}'"))]
    said = {**row, "ranges": ranges_of(rule.applies_to)}
    return Remark("known-bug", said, tuple(evidence), (*(steps if fixed else ()), *_way_round(row)))


def _shown(event: Event) -> Evidence:
    where = (event.source, event.line, event.end_line, event.rank, event.host)
    return Evidence(*where, text=event.raw, rule=event.rule.id)


def _way_round(row: Row) -> Iterator[RemedyStep]:
    if row.get("way_round"):
        yield RemedyStep("fix", "way-round", row.get("command"))


def is_range(text: str) -> bool:
    """Whether every clause of `text` compares with a version."""
    return all(part.startswith(OPERATORS) for part in text.split(" or "))


def judge(applies_to: Mapping[str, str], facts: Facts) -> tuple[bool | None, bool, bool]:
    """Tell whether all conditions hold (None: one is unknown), whether one of the libraries is seen at all, and whether
    the version of a library is all that is missing."""
    answers = {name: condition_holds(name, wanted, facts) for name, wanted in sorted(applies_to.items())}
    libraries = ranges_of(applies_to)
    is_seen = any(facts.get(version_fact(n)) is not None or n.replace("-", "_") in facts.packages for n in libraries)
    holds = False if False in answers.values() else None if None in answers.values() else True
    return holds, is_seen, holds is None and all(name in libraries for name, answer in answers.items() if answer is None)


def condition_holds(name: str, wanted: str, facts: Facts) -> bool | None:
    """Tell whether `trl: "==0.15.0"`, `packing: "not true"` or `trainer: "orpo|cpo"` holds; None where nothing tells."""
    if is_range(wanted):
        return in_range(facts.get(version_fact(name)), wanted)
    value = facts.get(name)
    plain = None if value is None else str(value).lower()
    if wanted.startswith("not "):
        return plain != wanted[4:].strip().lower()
    return None if plain is None else plain in wanted.lower().split("|")


def version_fact(library: str) -> str:
    """Yield the name of the fact that holds a library's version."""
    return PACKAGES.get(library.lower(), f"{library.lower().replace('-', '_')}_version")


def ranges_of(applies_to: Mapping[str, str]) -> dict[str, str]:
    """Yield the libraries concerned, sorted, with the versions in which the bug lives."""
    return {n: w for n, w in sorted(applies_to.items()) if is_range(w)}


def package_of(fields: Mapping[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Yield which package brings the module that is missing; what PyPI holds under an unknown name may be another."""
    module = str(fields.get("module") or "")
    top = module.partition(".")[0]
    if not (top.isascii() and top.isidentifier()):
        return {"module": None}
    table = catalogue.tables.get(PACKAGE_TABLE)
    row = table.row(top) if table else {}
    known = top if top.replace("_", "-") in PACKAGES else None
    options = Flags(str(row["options"])) if row.get("options") else None
    found = {"package": row.get("package") or known, "pip_options": options, "is_apex": bool(row.get("is_apex"))}
    return {**found, "top_module": top}
