"""Logs in, the loss of each training step out; all steps, where a scan keeps the first and the last."""

from __future__ import annotations

from collections.abc import Sequence

from ..catalogue.load import Catalogue
from ..lines.record import record
from ..scan.passages import TextBlock
from ..scan.progress import ProgressLines, all_signs
from ..scan.scan_rules import ScanRules
from ..sources.blocks import read_blocks
from ..sources.bounds import Deadline
from ..sources.source import Input, Source, find_sources

MAX_STEPS = 1_000_000


@record
class Loss:
    """What a step's first line says: its loss (None: none), and where it stands."""

    value: float | None
    place: str  # file:line


def losses(inputs: Sequence[Input], catalogue: Catalogue, deadline: Deadline) -> dict[int, Loss]:
    """Yield the steps in `inputs`, each as the first line that names it says; of several ranks those of one file."""
    lines = ScanRules(catalogue).progress
    found: dict[int, Loss] = {}
    for source in find_sources(inputs, deadline):
        if source.skipped is None and source.kind in ("text", "markdown") and not deadline.passed():
            for step, loss in _of(source, lines, deadline).items():
                if step not in found or (found[step].value is None and loss.value is not None):
                    found[step] = loss
    return found


def _of(source: Source, lines: ProgressLines, deadline: Deadline) -> dict[int, Loss]:
    found: dict[int, Loss] = {}
    number = 0
    previous: TextBlock | None = None
    for block in read_blocks(source, deadline=deadline):
        text = TextBlock(block.data, number, previous, continues=block.continues, overlap=block.overlap)
        for hit in all_signs(lines, text):
            step, loss = (hit.fields or {}).get("step"), (hit.fields or {}).get("loss")
            if isinstance(step, int) and len(found) < MAX_STEPS:
                found.setdefault(step, Loss(loss if isinstance(loss, float) else None, f"{source.name}:{hit.line}"))
        number, previous = text.lines(), None
        if deadline.passed():
            break
    return found
