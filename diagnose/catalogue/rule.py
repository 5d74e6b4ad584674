"""What one rule and one cause are: the words of the catalogue, as plain frozen values.

Comes in: nothing (these types are filled by `catalogue`). They are standard dataclasses so that a run pays no
start-up for validation; `catalogue` has pydantic check every YAML file against these very classes (unknown keys refused).
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeVar

from ..lines.record import dataclass_transform, record

Role = Literal["cause", "symptom", "confirmation", "context", "harmless"]
Match = Literal["line", "block", "traceback", "stack", "exit"]
FieldType = Literal["int", "float", "str", "ranks"]  # ranks: "0, 3-5" -> (0, 3, 4, 5)
Where = Literal["same-rank", "same-host", "any"]
When = Literal["now", "fix", "prevent", "collect"]
Owner = Literal["user code", "config", "platform", "hardware"]
Restart = Literal["yes", "no", "elsewhere"]
# Who can be at fault. shared: seldom one rank's alone, so not who is heard alone; common: of all who run the same, so only
# where others are seen to have got past it.
Blame = Literal["rank", "host", "shared", "common", "none"]
Tier = Literal["origin", "carrier", "aftermath"]
# What questions read from a line; rules/README.md explains each, and says by which fields.
Tells = Literal[
    "collective-timeout", "collective-status", "collective-mismatch", "absent-ranks", "ready-ranks", "heartbeat",
    "peer-lost", "identity", "aborting", "exit", "signal-sent", "launch", "signal-received", "killed", "progress",
    "activity", "activity-end", "finished", "closing", "attempt", "fact",
]  # fmt: skip
Teller = Literal["box", "entry", "rest", "agent", "rank", "job"]
Activity = Literal[
    "saving", "loading", "evaluating", "tokenising", "compiling", "downloading", "generating", "waiting", "leaving"
]  # fmt: skip
T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def strict(cls: type[T]) -> type[T]:
    """Yield the class as a record of which pydantic, where it checks a file, takes no key that is no field."""
    made = record(cls)
    made.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    return made


@strict
class Example:
    """A real text, and what the rule must read from it."""

    text: str
    fields: dict[str, int | float | str | list[int] | None] = field(default_factory=dict)


@strict
class CounterExample:
    """A text that looks alike and must not fire the rule, with the reason."""

    text: str
    because: str


@strict
class Form:
    """One wording of a message. `literals`: at least one of them is in every text that `pattern` matches."""

    literals: tuple[str, ...]
    pattern: str
    examples: tuple[Example, ...] = ()
    since: str | None = None
    until: str | None = None
    ignore_case: bool = False
    prefix: str | None = None  # match: line - what stands before the message has to match this too
    is_timed: bool = False  # of a user's rule: the patterns of ours are tested to take linear time


@strict
class TableRef:
    """A table beside the rule: the captured `key` picks a row, whose columns join the fields."""

    file: str
    key: str


@strict
class Rule:
    """One meaning, with all its wordings over time. `id` is its path: `layer.cause/what-it-says`."""

    title: str
    role: Role
    match: Match
    why: str
    forms: tuple[Form, ...]
    says: str
    counter_examples: tuple[CounterExample, ...] = ()
    fields: dict[str, FieldType] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    id: str = ""
    cause: str | None = None  # from the path; None for rules under harmless/ and context/
    tells: Tells | None = None
    teller: Teller | None = None  # torchrun's summary, an entry of it, what is left of one, its agent; a rank, the job
    activity: Activity | None = None  # with tells: activity, activity-end, finished
    stalls: str | None = None  # with tells: activity - the cause that it suggests where every log ends with it
    census: bool = False  # correlators read every occurrence per speaker: never capped away
    generic: bool = False  # speaks only where no other cause or symptom rule spoke about the same lines
    at_start: bool = False  # ends a job before its first step or not at all: something else was taken instead
    undoes: tuple[str, ...] = ()  # ids of rules: what they told, of the same object and before, is over
    ambiguous: str | None = None  # role cause: what else gives the same line; the verdict is then at most likely
    unanchored: str | None = None  # why a rule of role cause needs no anchor
    onset: str | None = None  # name of a field in ms that the reported thing had lasted already; "unknown"
    lines: int = 1  # match: block - how many lines from the first one the pattern may read
    rest_of: str | None = None  # match: block - id of the rule that reads the whole block: not asked of lines within it
    frame: str | None = None  # match: traceback - some frame ("file in function", or that and ": code") has to match
    table: TableRef | None = None
    restart: Restart | None = None  # where this message tells otherwise than its cause: offline mode stays on
    blame: Blame | None = None  # the same: a switch belongs to a host, and to none of its GPUs
    blames: tuple[str, ...] = ()  # fields that hold the ranks at fault, where a message names them: two that collide
    applies_to: dict[str, str] = field(default_factory=dict)  # library -> version range, for known bugs
    disable: bool = False  # in a user's overlay: takes the shipped rule of this id out

    @property
    def table_name(self) -> str:
        """Where its table lies, as the catalogue names it: `gpu/xid/xid.table.yaml`; empty without one."""
        return f"{self.id.replace('.', '/', 1).rpartition('/')[0]}/{self.table.file}" if self.table else ""


@strict
class Explains:
    """A cause (or every cause of a layer, `layer.*`) that this cause brings about, and how far it reaches."""

    cause: str
    because: str  # how it does, in half a sentence
    where: Where = "any"
    within_s: float | None = None  # how long after the cause its consequence begins at the latest; None: any time
    told_late: bool = False  # of this consequence alone, as `told_late` of the cause is of all


@strict
class Remedy:
    """One piece of advice. `condition` (YAML: `if`) is a Jinja expression over fields and facts."""

    when: When
    text: str
    command: str | None = None
    condition: str | None = None


@strict
class Said:
    """A row of `sentences.yaml`: one sentence, a Jinja template over its fields, in each language."""

    en: str
    zh: str


@strict
class Cause:
    """Something that can end a job. `id` is its path: `layer.cause`."""

    title: str
    means: str
    owner: Owner
    remedy: tuple[Remedy, ...]
    restart: Restart | None = None  # none: the cause alone does not decide whether a restart helps
    restart_if: str | None = None  # a condition, as of a step: where the evidence decides it
    tier: Tier = "origin"  # carrier: passes on what happened elsewhere; aftermath: follows what stalls or ends a rank
    explains: tuple[Explains, ...] = ()  # what it brings about beyond what its tier says
    blame: Blame = "rank"  # who can be at fault: a rank, a host, or nobody (configuration, scheduler, operator)
    only_ends: bool = False  # says of a process that it ended, and nothing of why
    told_late: bool = False  # its line may be printed after the lines of what it brought about
    collect_next_time: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    id: str = ""
    findings_only: str | None = None  # why no message names it: a correlator finds it


@strict
class Table:
    """Rows by key. A row may hold `cause` and `role`, which then override the rule's."""

    key: str
    rows: tuple[dict[str, object], ...]
    source: str = ""
    default: dict[str, object] = field(default_factory=dict)

    def row(self, value: object) -> dict[str, object]:
        """Yield the row whose key column equals `value` (as text), or the default row."""
        wanted = str(value)
        return next((row for row in self.rows if str(row.get(self.key)) == wanted), self.default)
