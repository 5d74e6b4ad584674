"""A text that breaks off inside a traceback shows that something was raised, and not what."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import cause, culprits, told

BROKEN = """Added key: store_based_barrier_key:1 to store for rank: 0
Traceback (most recent call last):
  File "train.py", line 600, in <module>
    main(opt)
  File "train.py", line 494, in main
    dist.init_process_group(backend="nccl" if dist.is_nccl_available() else "gloo")
  File "/opt/conda/lib/pytho"""


def test_a_traceback_that_breaks_off_is_a_failure_without_a_name(tmp_path: Path) -> None:
    report = told(tmp_path, {"console.log": BROKEN})

    assert ("failed", "unknown") == (report.outcome, cause(report))
    assert 7 == report.diagnosis.evidence[0].line
    assert any("rest of the traceback" in step.text for step in report.diagnosis.remedy)


def test_a_launcher_that_cleans_up_and_breaks_off_was_not_told_to_end_from_outside(tmp_path: Path) -> None:
    cleaned = "[2021-11-21 08:32:07,148] [INFO] [launch.py:131:sigkill_handler] Killing subprocess 250621\n"

    assert "process.terminated" == cause(told(tmp_path / "whole", {"console.log": cleaned}))
    assert "unknown" == cause(told(tmp_path / "cut", {"console.log": cleaned + BROKEN.split("\n", 1)[1]}))


@pytest.mark.parametrize("begun", ["[rank3]:[E ProcessGroupNCCL.cpp:523] [R", "[rank3]:[E Proc"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_who_was_about_to_report_when_the_text_broke_off_is_not_silent(tmp_path: Path, begun: str, end: str) -> None:
    """Ranks 0 and 2 may have reported below it: nobody knows."""
    said = (
        "[rank{0}]:[E ProcessGroupNCCL.cpp:523] [Rank {0}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=167, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600272 milliseconds before timing out.\n"
    )
    waited = "".join(said.format(rank) for rank in (5, 4, 1, 6, 7))

    report = told(tmp_path / "cut", {"console.log": waited + begun + end})

    assert ("collective.timeout", []) == (cause(report), culprits(report))
    whole = "[rank3]: INFO epoch 2 begins\n" + waited + said.format(0) + said.format(2)
    assert [3] == culprits(told(tmp_path / "whole", {"console.log": whole}))
