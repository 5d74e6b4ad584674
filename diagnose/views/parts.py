"""What a view is made of: rows of short printable phrases, as renderers and templates read them."""

from __future__ import annotations

from typing import Generic, TypeVar

from ..lines.record import record
from .evidence import EvidenceView
from .tables import CollectiveLine, RankLine, StackLine

T_co = TypeVar("T_co", covariant=True)


@record
class Cut(Generic[T_co]):
    """The rows that are shown, and how many more there are."""

    shown: tuple[T_co, ...] = ()
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.shown)


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
    """What a report shows, as phrases. `title` and `summary` are always there; the rest may be empty."""

    language: str
    outcome: str
    outcome_word: str
    title: str
    summary: str
    cause: str
    certainty: str
    certainty_word: str
    confidence: str
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
