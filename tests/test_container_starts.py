"""What enroot, pyxis and LSF say around a job: the reason comes before the word that something did not start."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources import Text
from tests.told import cause

PYXIS = "slurmstepd: error: pyxis: "


@pytest.mark.parametrize(
    "reason",
    [
        "    nvidia-container-cli: mount error: stat failed: /dev/nvidia-modeset: no such file or directory",
        "    [ERROR] Command not found: nvidia-container-cli, see https://github.com/NVIDIA/libnvidia-container",
    ],
)
def test_the_reason_in_enroot_s_log_is_shown_before_pyxis_word_that_no_container_started(reason: str) -> None:
    log = f"""{PYXIS}container start failed with error code: 1
{PYXIS}printing enroot log file:
{PYXIS}{reason}
{PYXIS}    [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1
{PYXIS}couldn't start container
"""
    report = diagnose(Text(log, name="train.log"))
    assert report.diagnosis is not None
    assert ("process.not-started", 3) == (report.diagnosis.cause, report.diagnosis.evidence[0].line)


def test_a_hook_of_enroot_that_failed_says_without_pyxis_that_no_container_started() -> None:
    log = "[ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1\n"
    assert cause(diagnose(Text(log, name="train.log"))) == "process.not-started"


def test_the_account_of_lsf_tells_of_a_job_that_ended_well() -> None:
    log = "epoch 3 done\n\nSuccessfully completed.\n\nResource usage summary:\n\n    CPU time :   510.08 sec.\n"
    assert diagnose(Text(log, name="job.out")).outcome == "healthy"


def test_the_exit_code_in_lsf_s_account_names_the_signal() -> None:
    log = "epoch 3 done\n\nExited with exit code 139.\n\nResource usage summary:\n"
    assert cause(diagnose(Text(log, name="job.out"))) == "process.segfault"
