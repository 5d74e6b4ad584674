"""What goes wrong while a job is put away, and what a paste cuts off, is not why it failed."""

from __future__ import annotations

from pathlib import Path

from .told import cause, culprits, told, watchdog

SEVERAL = """RuntimeError: shape '[-1, 0]' is invalid for input of size 4478976
Traceback (most recent call last):
  File "/srv/train.py", line 524, in <module>
    main()
RuntimeError: shape '[-1, 0]' is invalid for input of size 3760128
ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 1 (pid: 31223) of binary: /usr/bin/python
"""
SCROLLED = """[rank2]:[E816 00:34:01.133910474 ProcessGroupNCCL.cpp:629] [Rank 2] Watchdog caught collective operation timeout: \
WorkNCCL(SeqNum=812, OpType=ALLRE[451/1919]
"""


def test_one_error_of_several_processes_is_not_the_first_one_s_though_the_sizes_differ(tmp_path: Path) -> None:
    assert [] == culprits(told(tmp_path, {"run.log": SEVERAL}))


def test_an_operation_cut_off_by_the_terminal_differs_from_none(tmp_path: Path) -> None:
    text = SCROLLED + "".join(watchdog(rank) for rank in (0, 1, 3))
    report = told(tmp_path, {"run.log": text})
    assert ("collective.timeout", {""}) == (cause(report), {row.verdict for row in report.collectives})


def test_who_alone_prints_that_training_is_done_has_not_left_the_others_behind(tmp_path: Path) -> None:
    """`--local-ranks-filter 0`: rank 1 is known by its end alone, an abort as that of rank 0, while Python puts itself away."""
    console = (
        "[rank0]:2025-04-01 00:25:47,084 - root - INFO - step: 640/644 = 99.3789%  loss:  6.2116  memory: 87.04GiB(93.48%)\n"
        "[rank0]:2025-04-01 00:26:01,706 - root - INFO - Training completed\n"
        "[rank0]:terminate called without an active exception\n"
        "[rank0]:Fatal Python error: Aborted\n"
        "W0401 00:26:06.901000 3016633 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 3016738 closing "
        "signal SIGTERM\n"
        "E0401 00:26:08.212000 3016633 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -6) local_rank: 1 "
        "(pid: 3016739) of binary: /opt/env/bin/python3.11\n"
    )

    report = told(tmp_path, {"console.log": console})

    assert "process.abort" == cause(report)
