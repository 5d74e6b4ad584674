"""Accelerate's debug mode raises on all ranks alike and lists the shapes by process."""

from __future__ import annotations

from pathlib import Path

from tests.told import cause, culprits, told

RAISED = """Traceback (most recent call last):
  File "/app/train.py", line 61, in <module>
    gathered = accelerator.gather(preds)
  File "/opt/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 380, in wrapper
    raise DistributedOperationException(
accelerate.utils.operations.DistributedOperationException: Cannot apply desired operation due to shape mismatches. All shapes \
across devices must be valid.

Operation: `accelerate.utils.operations.gather`
Input shapes:
"""


def raised(shapes: list[str]) -> str:
    """What each rank prints where these are the shapes."""
    return RAISED + "".join(f"  - Process {i}: {shape}\n" for i, shape in enumerate(shapes))


def test_shapes_that_differ_are_a_mismatch_and_of_two_halves_neither_is_blamed(tmp_path: Path) -> None:
    shapes = [["[8, 512]", "[5, 512]"], ["[8]", "[5]", "[8]", "[5]"], ["[1]", "[2]", "[3]", "[4]"]]
    reports = [told(tmp_path / str(i), {f"rank{r}.log": raised(s) for r in range(len(s))}) for i, s in enumerate(shapes)]

    assert {"collective.shape-mismatch"} == {cause(report) for report in reports}
    assert [[], [], []] == [culprits(report) for report in reports]
