"""How much of a report is shown, section by section: one row per level, from everything to the least."""

from __future__ import annotations

from dataclasses import dataclass

ALL = 1_000_000


@dataclass(frozen=True, slots=True)
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


FULL = Limits(*[ALL] * 21)
NORMAL = Limits()
# A Markdown page has to stay under 100 lines: each level gives up what is missed least.
LEVELS = (
    Limits(),
    Limits(
        evidence_lines=9,
        timeline=9,
        ranks=6,
        collectives=6,
        stacks=3,
        frames=6,
        facts=9,
        inputs=4,
        survived=2,
        command_lines=8,
    ),
    Limits(3, 2, 7, 600, 600, 4, 6, 2, 5, 3, 2, 7, 4, 4, 2, 5, 3, 6, 3, 3, 5),
    Limits(3, 1, 5, 600, 500, 3, 5, 1, 4, 2, 1, 5, 3, 3, 2, 3, 2, 4, 2, 2, 3),
    Limits(2, 1, 3, 600, 400, 2, 3, 1, 3, 2, 1, 3, 2, 2, 1, 3, 1, 3, 1, 1, 1),
    Limits(2, 0, 3, 600, 300, 2, 3, 1, 3, 2, 0, 3, 0, 2, 0, 0, 0, 0, 1, 0, 1),
)
