"""What a job went on after, in a log that names no rank."""

from __future__ import annotations

from diagnose.engine import diagnose
from diagnose.sources import Text


def said(lines: list[str]) -> str:
    report = diagnose(Text("\n".join(lines) + "\n", name="train.log"))
    return report.diagnosis.cause if report.diagnosis else report.outcome


def step(number: int, norm: str) -> str:
    return (
        f" [2026-11-10 10:00:{number:02d}] iteration {number:8d}/  250000 | consumed samples: 43408 | elapsed time per"
        f" iteration (ms): 4247.9 | learning rate: 2.999E-04 | loss scale: 1.0 | grad norm: {norm} | number of nan iterations:   0 |"
    )


def test_a_step_without_a_finite_norm_is_survived_where_later_ones_are_finite() -> None:
    assert said([step(1, "nan"), *(step(n, "1.02") for n in range(2, 30))]) == "recovered"


def test_norms_that_stay_not_finite_are_named() -> None:
    assert said([step(1, "1.02"), *(step(n, "nan") for n in range(2, 30))]) == "numerics.nan"
