"""What a view is made of: rows of short printable phrases, as renderers and templates read them, and how many are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Generic, TypeVar

from ..lines.record import record

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
ALL = 1_000_000


@record
class Limits:
    """How many rows of each section are shown; `line` and `prose` are characters, `context` lines before a proof."""

    evidence: int = 4
    context: int = 2
    evidence_lines: int = 6
    line: int = 600
    prose: int = 600
    culprits: int = 3
    remedy: int = 7
    references: int = 2
    consequences: int = 4
    alternatives: int = 2
    survived: int = 2
    timeline: int = 6
    ranks: int = 3
    last_lines: int = 6
    collectives: int = 4
    stacks: int = 3
    frames: int = 6
    attempts: int = 3
    facts: int = 8
    gaps: int = 2
    inputs: int = 3
    command_lines: int = 3

    @property
    def is_full(self) -> bool:
        """Whether nothing is folded."""
        return self.evidence == ALL


NORMAL = Limits()
FULL = Limits(**{f.name: ALL for f in fields(Limits)})


@record
class Cut(Generic[T_co]):
    """The rows that are shown, and how many more there are."""

    shown: tuple[T_co, ...] = ()
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.shown)


def cut(rows: Iterable[T], most: int, convert: Callable[[T], T_co]) -> Cut[T_co]:
    """Yield the first rows, converted, and how many more there are."""
    rows = list(rows)
    return Cut(tuple(map(convert, rows[:most])), max(0, len(rows) - most))


@record
class LineView:
    """One line of a log; `is_hit` where it is the evidence itself; `marks` are (start, end) of captured parts."""

    number: int | None
    text: str
    is_hit: bool
    marks: tuple[tuple[int, int], ...] = ()


@record
class EvidenceView:
    """One proof: where it is, who printed it and when, and its lines; lines are left out after index `gap_after`."""

    where: str
    who: str
    time: str
    rule: str
    lines: tuple[LineView, ...]
    left_out: int
    gap_after: int  # -1: none are left out
    also_in: str
    own_code: tuple[str, ...]  # `shards.py:113, parse_record`, and its source line where none of `lines` shows it


@record
class StepView:
    """One step of the remedy; `command` may have several lines."""

    when: str
    when_word: str
    text: str
    command: str


@record
class MessageView:
    """One folded message: a consequence, a survived error, an alternative. `line` is the first text that says it."""

    cause: str
    title: str
    who: str
    note: str  # how often, how long after the root
    why: str  # why it is not the root
    line: str
    where: str


@record
class TimeView:
    """One moment."""

    time: str
    who: str
    layer: str
    text: str
    where: str
    is_culprit: bool


@record
class StopView:
    """Where ranks, or a file, stopped."""

    who: str
    last_step: str
    phase: str
    time: str
    last_line: str
    where: str
    is_behind: bool


@record
class RankLine:
    """Ranks in the same state at the same step."""

    who: str
    hosts: str
    state: str
    last_step: str
    last_seen: str
    is_culprit: bool


@record
class CollectiveLine:
    """Ranks that got equally far in one process group."""

    group: str
    who: str
    operation: str
    sizes: str
    stuck: str
    enqueued: str
    completed: str
    verdict: str


@record
class StackLine:
    """Ranks with the same stack, outermost frame first; the middle may be left out."""

    who: str
    count: int
    frames: tuple[str, ...]


@record
class FactView:
    """One fact; `others` says which ranks have another value."""

    name: str
    value: str
    others: str
    where: str


@record
class NoteView:
    """A gap or a notice: what, and what to do about it."""

    text: str
    how: str
    command: str


@record
class InputView:
    """One input."""

    file: str
    size: str
    kind: str
    who: str
    skipped: str


@record
class View:
    """What a report shows, as phrases. `headline` is always there; the rest may be empty."""

    language: str
    outcome: str
    outcome_word: str
    headline: str  # the answer in one sentence
    title: str
    summary: str
    cause: str
    certainty: str
    certainty_word: str
    confidence: str
    reason: str  # why it is no surer
    culprits: Cut[str]
    culprit_names: str  # one phrase, for a headline: `rank 2`
    nobody: str  # what stands where no culprit is named
    owner: str
    restart: str
    evidence: Cut[EvidenceView]
    remedy: Cut[StepView]
    references: tuple[str, ...]
    consequences: Cut[MessageView]
    alternatives: Cut[MessageView]
    survived: Cut[MessageView]
    timeline: Cut[TimeView]
    ranks: Cut[RankLine]
    last_lines: Cut[StopView]
    collectives: Cut[CollectiveLine]
    stacks: Cut[StackLine]
    attempts: Cut[MessageView]
    other_jobs: Cut[NoteView]
    facts: Cut[FactView]
    notices: Cut[NoteView]
    gaps: Cut[NoteView]
    inputs: Cut[InputView]
    read: str
    time_basis: str
    redacted: str
