"""What advice is made of, as frozen values whose names are the keys of the report's contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Literal

from ..catalogue.sentences import Sentence
from ..lines.record import record

When = Literal["now", "fix", "prevent", "collect"]
Value = str | int | float | bool | tuple[int | float | str, ...] | None  # what a rule captures or a fact holds


@record
class Flags:
    """Words of a command, made here of numbers: they are filled in as they are, unquoted."""

    words: str

    def __str__(self) -> str:
        return self.words


@record
class Place:
    """A line of an input, counted from 1 as `sed -n` does; None where the input has no lines."""

    file: str
    line: int | None = None


@record
class Span:
    """A captured part of an evidence text, in characters from its start; `field` is what it was captured as."""

    start: int
    end: int
    field: str = ""


@record
class CodePlace:
    """A frame of a traceback: where in the code, and its source line where it was printed."""

    file: str
    line: int
    function: str
    code: str = ""


@record
class Evidence:
    """One place in the logs, shown as proof; `before` and `after` are the lines around it.

    `own_code`: of a traceback or stack, the frames in no library, inner first. `speaker`: who printed it, by its prefix.
    """

    file: str = ""
    line: int | None = None
    end_line: int | None = None
    rank: int | None = None
    host: str | None = None
    time: str | None = None
    text: str = ""
    rule: str | None = None
    fields: dict[str, Value] = field(default_factory=dict, hash=False)
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    also_in: tuple[Place, ...] = ()
    own_code: tuple[CodePlace, ...] = ()
    speaker: str = ""


@record
class RemedyStep:
    """One thing to do; `command` can be copied as it stands."""

    when: When = "fix"
    text: str = ""
    command: str | None = None


@record
class FactValue:
    """One value of a fact, where it is printed (`file:line`), and which ranks have it (empty: all or unknown)."""

    value: Value = None
    source: str = ""
    ranks: tuple[int, ...] = ()


@record
class Fact:
    """A fact about the job; `others` are the values of ranks that differ."""

    value: Value = None
    source: str = ""
    ranks: tuple[int, ...] = ()
    others: tuple[FactValue, ...] = ()


@record
class Notice:
    """Advice about what did not fail: contradicting versions, idle GPUs."""

    topic: str = ""
    text: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[RemedyStep, ...] = ()


@record
class Remark:
    """A notice whose sentences are not filled yet: `advice.KEY`, `advice.KEY-topic` and, by the key that is its text, that
    of each step, with the same fields."""

    key: str
    fields: dict[str, Any]
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[RemedyStep, ...] = ()

    def told(self, say: Callable[[Sentence], str]) -> Notice:
        """Yield the notice, its sentences filled by `say`."""
        keys = (f"{self.key}-topic", self.key, *(step.text for step in self.remedy))
        topic, text, *steps = (say(Sentence(f"advice.{key}", self.fields)) for key in keys)
        remedy = tuple(replace(step, text=said) for step, said in zip(self.remedy, steps, strict=True))
        return Notice(topic, text, self.evidence, remedy)
