"""A request to Ray that waits, where the cluster's status is all that was copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import cause, told

STATUS = (
    "======== Autoscaler status: 2024-09-23 01:17:{second:02d}.277326 ========\nNode status\n"
    "---------------------------------------------------------------\nActive:\n 1 ray.head.default\n 1 ray.worker.default\n"
    "Pending:\n {coming}\nRecent failures:\n (no failures)\n\nResources\n"
    "---------------------------------------------------------------\nUsage:\n 0.0/2.0 CPU\n 0B/2.33GiB memory\n\n"
    "Demands:\n {demand}\n"
)
NOBODY = "(no pending nodes)"
GROUP = "{'CPU': 2.0} * 1 (SPREAD): 1+ pending placement groups"


def status(demand: str, coming: str = NOBODY, second: int = 18) -> str:
    """What `ray status` prints, and what the autoscaler logs every few seconds."""
    return STATUS.format(demand=demand, coming=coming, second=second)


@pytest.mark.xfail(strict=True, reason="a request that waits for a node is no error, and no question asks for it")
def test_a_placement_group_that_waits_while_no_node_comes_cannot_be_placed(tmp_path: Path) -> None:
    """As in Ray #47792: two CPUs in one bundle, and one CPU on each node."""
    report = told(tmp_path, {"ray-status.txt": "$ ray status\n" + status(GROUP)})

    assert ("hung", "ray.unschedulable") == (report.outcome, cause(report))
    assert ("possible", 20) == (report.diagnosis.certainty, report.diagnosis.evidence[0].line)


def test_a_request_that_the_next_status_lists_no_more_was_placed(tmp_path: Path) -> None:
    log = status(GROUP) + status("(no resource demands)", second=23)
    assert "unfinished" == cause(told(tmp_path, {"monitor.log": log}))
