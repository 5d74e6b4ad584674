"""Accelerate's debug mode raises on all ranks alike and lists the shapes by process: the list tells who differs."""

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


def test_the_process_whose_shape_differs_is_named(tmp_path: Path) -> None:
    shapes = ["[8, 512]"] * 64
    shapes[37] = "[5, 512]"
    text = raised(shapes)
    alone = told(tmp_path / "files", {f"rank{r}.log": text for r in range(0, 64, 8)})
    labelled = "".join(f"[rank{r}]: {line}\n" for r in (0, 37) for line in text.splitlines())
    console = told(tmp_path / "console", {"console.log": labelled})

    assert ("collective.shape-mismatch", [37]) == (cause(alone), culprits(alone))
    assert ("collective.shape-mismatch", [37]) == (cause(console), culprits(console))


def test_of_two_halves_neither_differs(tmp_path: Path) -> None:
    shapes = [["[8, 512]", "[5, 512]"], ["[8]", "[5]", "[8]", "[5]"], ["[1]", "[2]", "[3]", "[4]"]]
    reports = [told(tmp_path / str(i), {f"rank{r}.log": raised(s) for r in range(len(s))}) for i, s in enumerate(shapes)]

    assert [[], [], []] == [culprits(report) for report in reports]


def test_nested_shapes_are_compared_as_a_whole(tmp_path: Path) -> None:
    usual = "{'input_ids': [8, 512], 'labels': [8]}"
    shapes = [usual, usual, usual.replace("512", "480"), usual]

    assert [2] == culprits(told(tmp_path, {f"rank{r}.log": raised(shapes) for r in range(4)}))
