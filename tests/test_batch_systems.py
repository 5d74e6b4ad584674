"""What batch systems, MPI's launchers and the viewers of their logs say, in the words of their own message files."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.report.report import Report

from .told import cause, told
from .told import cause as verdict_of


def cause_of(log: str) -> str:
    return verdict_of(diagnose(Text(log, name="train.log")))


def test_the_words_of_vertex_ai_stand_above_the_traceback_in_their_own_string_and_are_no_part_of_it() -> None:
    raised = "requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))"
    frames = ["Traceback (most recent call last):", "  [...]", '  File \\"/opt/req/adapters.py\\", line 547, in send', "    raise x"]
    replica = "The replica workerpool1-1 exited with a non-zero status of 1. Termination reason: Error. "
    printed = "\\n".join([replica, *frames, raised, "", "To find out more please check the logs"])
    lines = ["RuntimeError: Training failed with:", "code: 3", f'message: "{printed}"']
    assert cause_of("\n".join(lines) + "\n") == "network.connection-reset"


FAILED_AT_3 = """Traceback (most recent call last):
  File "/job/train.py", line 44, in <module>
    loss.backward()
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 3; 15.77 GiB total capacity; 14.71 GiB already \
allocated; 10.12 MiB free; 14.90 GiB reserved in total by PyTorch)
[2024-03-11 10:09:38,112] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: 1) local_rank: 3 (pid: 1187) \
of binary: /opt/venv/bin/python
"""


@pytest.mark.parametrize(
    ("command", "rank"),
    [
        ("torchrun --nproc_per_node=8 train.py", 3),
        ("srun torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend c10d --rdzv_endpoint 10.0.0.1:29500 train.py", None),
        ("torchrun --nnodes=2 --node_rank=1 --nproc_per_node=8 --rdzv_backend c10d train.py", None),
    ],
)
def test_a_local_rank_of_one_node_of_several_is_no_rank_without_its_node(
    command: str, rank: int | None
) -> None:
    assert blamed(f"+ {command}\n{FAILED_AT_3}") == ([] if rank is None else [rank])


@pytest.mark.parametrize(
    "line", ["NNODES=2 NODE_RANK=1", "SLURM_NODEID=1", "SLURM_JOB_NUM_NODES=4", "machine_rank: 1", "export NNODES=2"]
)
def test_a_local_rank_of_one_node_of_several_is_no_rank_where_the_environment_tells_of_more_nodes(line: str) -> None:
    assert blamed(f"{line}\n{FAILED_AT_3}") == []


def blamed(log: str) -> list[int | None]:
    report = diagnose(Text(log, name="train.log"))
    return [c.rank for c in report.diagnosis.culprits]


def test_a_binding_that_a_step_took_over_from_the_job_around_it_is_no_fault_of_the_node_that_refuses_it() -> None:
    log = """srun: error: CPU binding outside of job step allocation, allocated CPUs are: 0x0000000F0000000F.
srun: error: Task launch for StepId=7993406.0 failed on node pool0-00509: Unable to satisfy cpu bind request
srun: error: Application launch failed: Unable to satisfy cpu bind request
srun: Job step aborted
"""
    diagnosis = diagnose(Text(log, name="train.log")).diagnosis
    assert diagnosis is not None and diagnosis.cause == "config.invalid-argument" and not diagnosis.culprits
    assert "SLURM_CPU_BIND" in diagnosis.remedy[0].command


def test_whose_clock_is_wrong_an_expired_credential_does_not_tell() -> None:
    """The controller signs it, the node compares: either may be off, or the step came late."""
    srun = "srun: error: Task launch for StepId=989.0 failed on node n5: Job credential expired\n"
    munge = "[2026-11-20T10:00:00.123] error: Munge decode failed: Expired credential\n"
    for name, log in (("train.log", srun), ("gpu-044.slurmd.log", munge)):
        diagnosis = diagnose(Text(log, name=name)).diagnosis

        assert diagnosis is not None and diagnosis.cause == "network.clock-skew"
        assert diagnosis.certainty != "certain" and not diagnosis.culprits


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
