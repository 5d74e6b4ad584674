"""What belongs to the life of the processes that decides, and who is who by the names of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.lines.path_identity import identity_from_path
from tests.incident_pipe import look
from tests.told import alive, told

BOOT = "[    2.900112] mlx5_core 0000:c1:00.0: Port module event: module 0, Cable unplugged\n"
AT_EXIT = """Traceback (most recent call last):
  File "/usr/lib/python3.10/multiprocessing/util.py", line 300, in _run_finalizers
    finalizer()
OSError: [Errno 16] Device or resource busy: '.nfs00000000021a44e10000d2f3'
"""


def test_what_a_kernel_finds_while_it_boots_failed_no_job(tmp_path: Path) -> None:
    assert told(tmp_path, {"dmesg-n7.txt": BOOT, "train.log": alive(0) + alive(1)}).diagnosis is None


def test_what_libraries_raise_when_all_is_done_failed_nothing(tmp_path: Path) -> None:
    done = "2026-11-20 10:20:00,000 | INFO | rank 0 | training finished after 120 steps, best val loss 1.9\n"
    assert told(tmp_path, {"train.log": alive(0) + done + AT_EXIT}).diagnosis is None


@pytest.mark.parametrize("name", ["server-6151947.out", "train-h100-6151947.out", "worker-6151947.err"])
def test_a_name_with_a_job_s_number_is_no_host(name: str) -> None:
    assert identity_from_path(f"logs/{name}").host is None


def test_a_placed_event_does_not_change(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(alive(0) + "[rank0]: RuntimeError: CUDA error: an illegal memory access was encountered\n")
    event = look(tmp_path / "train.log").job.failures()[0]
    with pytest.raises(AttributeError, match="placed"):
        event.rank = 1
    assert event.but(rank=1).rank == 1 != event.rank
