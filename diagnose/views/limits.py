"""How much of a report is shown, section by section, by form and level."""

from __future__ import annotations

from dataclasses import fields

from ..lines.record import record

ALL = 1_000_000


@record
class Limits:
    """How many rows of each section are shown; `line` and `prose` are characters, `context` lines on either side."""

    evidence: int = 4
    context: int = 2
    evidence_lines: int = 12
    line: int = 600
    prose: int = 600
    culprits: int = 6
    remedy: int = 8
    references: int = 3
    consequences: int = 8
    alternatives: int = 4
    survived: int = 3
    timeline: int = 12
    ranks: int = 8
    collectives: int = 8
    stacks: int = 4
    frames: int = 8
    attempts: int = 4
    facts: int = 12
    gaps: int = 4
    inputs: int = 6
    command_lines: int = 12


FULL = Limits(**{f.name: ALL for f in fields(Limits)})
NORMAL = Limits()
# A Markdown page has to stay under 100 lines: each level gives up what is missed least.
LEVELS = (
    NORMAL,
    Limits(
        evidence_lines=9, timeline=9, ranks=6, collectives=6, stacks=3, frames=6, facts=9, inputs=4, survived=2,
        command_lines=8,
    ),
    Limits(
        evidence=3, evidence_lines=7, culprits=4, remedy=6, references=2, consequences=5, alternatives=3, survived=2,
        timeline=7, ranks=4, collectives=4, stacks=2, frames=5, attempts=3, facts=6, gaps=3, inputs=3, command_lines=5,
    ),
    Limits(
        evidence=3, context=1, evidence_lines=5, prose=500, culprits=3, remedy=5, references=1, consequences=4,
        alternatives=2, survived=1, timeline=5, ranks=3, collectives=3, stacks=2, frames=3, attempts=2, facts=4, gaps=2,
        inputs=2, command_lines=3,
    ),
    Limits(
        evidence=2, context=1, evidence_lines=3, prose=400, culprits=2, remedy=3, references=1, consequences=3,
        alternatives=2, survived=1, timeline=3, ranks=2, collectives=2, stacks=1, frames=3, attempts=1, facts=3, gaps=1,
        inputs=1, command_lines=1,
    ),
    Limits(
        evidence=2, context=0, evidence_lines=3, prose=300, culprits=2, remedy=3, references=1, consequences=3,
        alternatives=2, survived=0, timeline=3, ranks=0, collectives=2, stacks=0, frames=0, attempts=0, facts=0, gaps=1,
        inputs=0, command_lines=1,
    ),
)  # fmt: skip
