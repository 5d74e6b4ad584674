"""Runs that end well, or go on, say many things that look bad; and of jobs in one file only the last one is told of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import told

STEP = "2022-06-09 22:48:17 [INFO]\t[TRAIN] epoch: 1, iter: 5/200, loss: 2.6422, lr: 0.009820, batch_cost: 1.3029\n"
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
