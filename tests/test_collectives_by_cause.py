"""Failures of collectives, NCCL and networks as public threads show them, each with what else it might be taken for."""

from __future__ import annotations

from pathlib import Path

from .told import cause, told


def test_segment_that_cuda_would_not_register_is_not_certain_to_lack_room(tmp_path: Path) -> None:
    log = (
        "n1:4711:4800 [1] misc/shmutils.cc:103 NCCL WARN Cuda failure 'invalid argument'\n"
        "n1:4711:4800 [1] misc/shmutils.cc:114 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-NzwJ7O "
        "(size 9637888)\n"
    )
    report = told(tmp_path, {"console.log": log})
    assert report.diagnosis is not None
    assert "certain" != report.diagnosis.certainty


def test_heartbeat_monitor_that_lost_the_store_saw_no_collective_time_out(tmp_path: Path) -> None:
    log = (
        "[rank1]:[E614 11:14:03.086670611 ProcessGroupNCCL.cpp:1319] [PG 0 Rank 1] Failed to get exception dump flag from the "
        "global store.Connection reset by peer\n"
    )
    assert "collective.timeout" != cause(told(tmp_path, {"console.log": log}))
