"""What is said of a case and of its altered copies, and which of it is right."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnose.engine import diagnose
from diagnose.errors import SourceError

from . import mutants
from .files import Case, Mutant

NOTHING = frozenset({"healthy", "unknown"})


@dataclass(frozen=True)
class Said:
    """A verdict, as far as an alteration must not change it."""

    cause: str
    culprits: frozenset[int]
    certainty: str | None

    @classmethod
    def on(cls, *inputs: Path) -> Said:
        """Diagnose files and folders."""
        try:
            report = diagnose(*inputs)
        except SourceError:  # what is left of it is no log
            return cls("unknown", frozenset(), None)
        found = report.diagnosis
        if found is None:
            return cls("unknown" if report.outcome == "unfinished" else "healthy", frozenset(), None)
        return cls(found.cause, frozenset(c.rank for c in found.culprits if c.rank is not None), found.certainty)

    def is_right(self, case: Case) -> bool:
        """Whether cause and culprits are the true ones."""
        return self.cause in case.causes and self.culprits in case.accepted_culprits

    def is_wrong(self, case: Case) -> bool:
        """Whether it names another cause than the case has, or a rank that is not at fault; to say less is no error."""
        return self.cause not in case.causes | NOTHING or not any(self.culprits <= who for who in case.accepted_culprits)


@dataclass(frozen=True)
class Judged:
    """What was said of a whole case that was judged rightly, and of an altered copy of it."""

    case: str
    name: str
    what: str
    before: Said
    after: Said
    outcome: str  # right, less, wrong
    loses: bool  # the copy holds less than the case

    @property
    def is_too_sure(self) -> bool:
        """Whether it is certain of what is not so."""
        return self.outcome == "wrong" and self.after.certainty == "certain"

    def __str__(self) -> str:
        told = (f"{s.cause} {sorted(s.culprits)} {s.certainty or '-'}" for s in (self.before, self.after))
        return f"{self.case} {self.name}{f' ({self.what})' if self.what else ''}: {' -> '.join(told)}"


def judge_case(folder: Path, names: Sequence[str]) -> list[Judged]:
    """Yield every altered copy of a case, judged; of a case that is judged wrongly as a whole, none."""
    case = Case.read(folder)
    copies = [(name, mutant) for name in names for mutant in mutants(case, name)]
    before = Said.on(folder / "logs") if copies else None
    return [_judged(case, before, name, mutant) for name, mutant in copies] if before and before.is_right(case) else []


def _judged(case: Case, before: Said, name: str, mutant: Mutant) -> Judged:
    with tempfile.TemporaryDirectory() as scratch:
        after = Said.on(*mutant.write(Path(scratch)))
    said_wrongly = after.is_wrong(case) if mutant.loses else not after.is_right(case)
    outcome = "right" if after.is_right(case) else "wrong" if said_wrongly else "less"
    return Judged(case.name, name, mutant.what, before, after, outcome, mutant.loses)
