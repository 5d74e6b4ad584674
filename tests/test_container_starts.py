"""A container that did not start is its node's matter: srun's task is only the one for which the node set it up."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose.report.report import Report

from .told import cause, told

LOST = "nvidia-container-cli: detection error: nvml error: gpu is lost"
UNKNOWN = "nvidia-container-cli: device error: 3: unknown device"
HOOK = "[ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1"
MISMATCH = "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch"
REST = (
    "srun: Terminating StepId=4242.0\nslurmstepd: error: *** STEP 4242.0 ON node-a CANCELLED AT 2026-11-20T10:20:03 ***\n"
    "srun: error: node-a: tasks 0-7: Terminated\n"
)


def _start(daemon: str, *said: str, node: str = "node-b", task: int = 8) -> str:
    """What pyxis prints when a container does not start, with the lines of enroot's own log."""
    told_first = ("container start failed with error code: 1", "printing enroot log file:", *(f"    {x}" for x in said), "couldn't start container")
    lines = [f"{daemon}: error: pyxis: {text}\n" for text in told_first]
    lines.append(f"{daemon}: error: spank: required plugin spank_pyxis.so: task_init() failed with rc=-1\n")
    return "".join(lines) + f"srun: error: {node}: task {task}: Exited with exit code 1\n"


def _blamed(report: Report) -> list[tuple[int | None, str | None]]:
    return [(c.rank, c.host) for c in report.diagnosis.culprits] if report.diagnosis else []


@pytest.mark.parametrize("daemon", ["slurmstepd", "8: slurmstepd-node-b"])
@pytest.mark.parametrize(
    ("said", "meant"),
    [(LOST, "gpu.off-bus"), (UNKNOWN, "gpu.off-bus"), (HOOK, "process.not-started"), (MISMATCH, "gpu.driver-mismatch")],
)
def test_node_on_which_a_container_did_not_start_is_at_fault_and_no_rank(tmp_path: Path, daemon: str, said: str, meant: str) -> None:
    report = told(tmp_path, {"slurm-4242.out": _start(daemon, said) + REST})

    assert (meant, [(None, "node-b")]) == (cause(report), _blamed(report))


def test_gpu_that_is_lost_in_a_running_job_still_has_its_rank(tmp_path: Path) -> None:
    """The same words of the driver, but said by a process of the job."""
    raised = 'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n    main()\npynvml.NVMLError_GpuIsLost: GPU is lost\n'
    report = told(tmp_path, {"rank5.log": raised, "rank4.log": "step 7 loss 1.23\n"})

    assert [5] == [c.rank for c in report.diagnosis.culprits] if report.diagnosis else False
