"""Runs that end well, or go on, say many things that look bad; and of jobs in one file only the last one is told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import cause, told

MARK = (
    ':::MLLOG {{"namespace": "", "time_ms": {time}, "event_type": "{kind}", "key": "{key}", "value": {value}, '
    '"metadata": {{"file": "/data/jobs/train.py", "lineno": 83{more}}}}}\n'
)
CARD = (
    "gpu-node-07:1493:1797 [0] misc/ibvwrap.cc:212 NCCL WARN Call to ibv_open_device failed\n\n"
    "gpu-node-07:1493:1797 [0] transport/net_ib.cc:148 NCCL WARN NET/IB : Unable to open device mlx5_9\n"
)
EPOCH = MARK.format(time=1594412349281, kind="POINT_IN_TIME", key="eval_accuracy", value=0.61, more=', "epoch_num": 3')
STOPPED = MARK.format(time=1594414595825, kind="INTERVAL_END", key="run_stop", value="null", more=', "status": "success"')
ABORTED = STOPPED.replace("success", "aborted")
ABORT = "gpu-node-07:{pid}:{pid} [{r}] NCCL INFO comm 0x150dc8008fb0 rank {r} nranks 8 cudaDev {r} busId e0000 - Abort COMPLETE\n"
ABORTS = "".join(ABORT.format(r=r, pid=92180 + r) for r in range(8))
STEP = "2022-06-09 22:48:17 [INFO]\t[TRAIN] epoch: 1, iter: 5/200, loss: 2.6422, lr: 0.009820, batch_cost: 1.3029\n"
OOM = (
    "Traceback (most recent call last):\n"
    '  File "/data/jobs/train.py", line 31, in <module>\n'
    "    loss.backward()\n"
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 63.42 GiB\n"
)


@pytest.mark.parametrize("end", [EPOCH, STOPPED, EPOCH + ABORTED])
def test_a_card_that_nccl_left_out_ended_no_run_that_went_on(tmp_path: Path, end: str) -> None:
    assert told(tmp_path, {"result_3.txt": CARD + end}).diagnosis is None


@pytest.mark.parametrize("end", ["", EPOCH, STOPPED])
def test_communicators_are_aborted_where_a_process_ends_well_too(tmp_path: Path, end: str) -> None:
    assert told(tmp_path, {"result_3.txt": end + ABORTS}).diagnosis is None


def test_a_run_that_stopped_short_of_its_target_did_not_end_well(tmp_path: Path) -> None:
    report = told(tmp_path, {"result_3.txt": EPOCH + OOM + ABORTED})

    assert "memory.cuda-oom" == cause(report)


@pytest.mark.parametrize(
    "line",
    [
        "/bin/sh: /usr/local/cuda/bin/nvcc: No such file or directory\n",
        "/var/spool/slurm/job96/slurm_script: line 5: conda: command not found\n",
        "python: can't open file 'get_mpi_rank.py': [Errno 2] No such file or directory\n",
        "CondaError: Run 'conda init' before 'conda deactivate'\n",
        "rm: cannot remove '/usr/local/cuda/compat/lib': Read-only file system\n",
    ],
)
def test_what_a_script_missed_before_the_training_began_ended_nothing(tmp_path: Path, line: str) -> None:
    assert told(tmp_path, {"console.log": line + STEP}).diagnosis is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("train.sh: line 12: torchrun: command not found\n", "software.missing-tool"),
        ("python: can't open file 'train.py': [Errno 2] No such file or directory\n", "config.invalid-argument"),
    ],
)
def test_what_a_script_missed_is_the_cause_where_nothing_follows(tmp_path: Path, line: str, said: str) -> None:
    assert said == cause(told(tmp_path, {"console.log": line}))


def test_what_a_finalizer_raises_ends_nothing_though_its_heading_is_cut_off(tmp_path: Path) -> None:
    """The interpreter prints `Exception ignored in: …` above it; a log of which the head is gone begins below that."""
    log = (
        "Traceback (most recent call last):\n"
        '  File "/opt/venv/lib/python3.12/site-packages/torch/utils/data/dataloader.py", line 1726, in __del__\n'
        "    self._shutdown_workers()\n"
        '  File "/usr/lib/python3.12/multiprocessing/connection.py", line 368, in _send\n'
        "    n = write(self._handle, buf)\n"
        "BrokenPipeError: [Errno 32] Broken pipe\n"
    )
    for text in (log, log.partition("\n")[2]):
        assert told(tmp_path, {"rank127.log": text}).diagnosis is None
