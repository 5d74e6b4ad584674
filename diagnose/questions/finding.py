"""What a question concludes from many ranks together, with the lines that show it."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal

from ..catalogue.sentences import Sentence
from ..job.event import Exhibit, earliest_onset, exhibits
from ..lines.record import record

Certainty = Literal["certain", "likely", "possible"]


@record
class Finding:
    """A cause that no single line states."""

    question: str
    cause: str
    says: Sentence  # one sentence with the numbers; its key begins with the question's name
    exhibits: tuple[Exhibit, ...]
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    certainty: Certainty = "likely"
    onset: float | None = None
    fields: dict[str, Any] = field(default_factory=dict, hash=False)
    reads: tuple[str, ...] = ()  # what the lines tell that it is drawn from: they say the same, less exactly


__all__ = ["Certainty", "Exhibit", "Finding", "Sentence", "earliest_onset", "exhibits"]
