"""Whose tensors have another shape than all the others', where Accelerate lists the shapes by process?

In debug mode each process gathers the shapes before an operation, raises where they differ, and prints all of them. So all
raise alike, and the list tells the odd one. Of two equal halves neither is at fault, nor is any where most differ.
Source: Accelerate, utils/operations.py, verify_operation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from ..job import Job
from ..lazy_pattern import lazy
from ..words.ranges import rank_ranges
from .finding import Finding, exhibits

RAISED = "collective.shape-mismatch/accelerate-shapes-differ"
LISTED = "context.collectives/accelerate-lists-shapes"
ENTRY = lazy(r"^\s{0,8}- Process (?P<process>\d{1,6}): (?P<shape>[^\n]{1,2000})$", re.MULTILINE)


def find(job: Job) -> Iterator[Finding]:
    """Yield one finding where a minority of the processes that the list names differs."""
    raised = next((e for e in job.failures() if e.rule.id == RAISED), None)
    by_shape: dict[str, list[int]] = defaultdict(list)
    for process, shape in sorted(_listed(job).items()):
        by_shape[shape].append(process)
    if raised is None or len(by_shape) <= 1:
        return
    (usual, crowd), *others = sorted(by_shape.items(), key=lambda item: -len(item[1]))
    odd = [process for _, processes in others for process in processes]
    if len(odd) >= len(crowd):
        return
    why = f"Rank{'s' * (len(odd) > 1)} {rank_ranges(odd)} passed {others[0][0]}, rank{'s' * (len(crowd) > 1)} "
    why += f"{rank_ranges(crowd)} {usual}."
    fields = {**raised.fields, "common": usual}
    cause = "collective.shape-mismatch"
    yield Finding(
        cause, why, exhibits([raised]), tuple(odd), onset=raised.onset, fields=fields, question="shapes_by_process"
    )  # fmt: skip


def _listed(job: Job) -> dict[int, str]:
    """What the first whole list says of each process; all ranks print the same."""
    told = [ENTRY.findall(e.fields["listed"]) for e in job.events if e.rule.id == LISTED]
    longest = max(told, key=len, default=[])
    return {int(process): shape.strip() for process, shape in longest}
