"""What batch systems, MPI's launchers and the viewers of their logs say, in the words of their own message files."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources.source import Text
from tests.told import BOX
from tests.told import cause as verdict_of

BORDER = "-" * 74


def cause(log: str) -> str:
    return verdict_of(diagnose(Text(log, name="train.log")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Aborted by PBS Server\nJob exceeded its walltime limit. Job was aborted\n", "process.time-limit"),
        ("job deleted\nMOAB_INFO:  job exceeded wallclock limit\n", "process.time-limit"),
        ("job deleted\njob 10086535 exceeded MEM usage hard limit (516 > 140)\n", "memory.host-oom"),
        ("Open RTE was unable to open the hostfile:\n    /job/hosts\n", "config.invalid-argument"),
        ("All nodes which are allocated for this job are already filled.\n", "config.world-size-mismatch"),
    ],
)
def test_a_batch_system_or_mpirun_that_ends_a_job_in_its_own_words_is_heard(text: str, expected: str) -> None:
    assert expected == cause(f"{BORDER}\n{text}{BORDER}\n")


def test_a_gpu_number_that_xla_cannot_open_comes_before_the_backend_that_has_none_left() -> None:
    log = """2024-09-05 07:57:34.555804: W external/xla/xla/service/platform_util.cc:199] unable to create StreamExecutor for \
CUDA:1: failed initializing StreamExecutor for CUDA device ordinal 1: INTERNAL: Failed call to cuDeviceGet: \
CUDA_ERROR_INVALID_DEVICE: invalid device ordinal
Traceback (most recent call last):
  File "/home/test.py", line 3, in <module>
    print(jax.devices())
RuntimeError: Unable to initialize backend 'cuda': INTERNAL: no supported devices found for platform CUDA
"""
    assert cause(log) == "config.world-size-mismatch"


def test_a_listing_with_numbers_before_its_lines_is_read_like_the_log_itself() -> None:
    log = """000310   Traceback (most recent call last):
000311     File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1132, in _try_get_data
000312   _queue.Empty
000313
000314   The above exception was the direct cause of the following exception:
000315
000316   Traceback (most recent call last):
000317     File "/opt/venv/lib/python3.10/site-packages/torch/utils/data/dataloader.py", line 1145, in _try_get_data
000320   RuntimeError: DataLoader worker (pid(s) 16143) exited unexpectedly
"""
    assert cause(log) == "data.worker-died"


def test_horovod_s_shutdown_alone_blames_no_exception_of_the_rank_that_tells_it() -> None:
    log = """Traceback (most recent call last):
  File "/job/train.py", line 202, in <module>
    model.fit(
tensorflow.python.framework.errors_impl.UnknownError:  Horovod has been shut down. This was caused by an exception on \
one of the ranks or an attempt to allreduce, allgather or broadcast a tensor after one of the ranks finished execution.
"""
    report = diagnose(Text(log, name="train.log"))
    assert report.diagnosis is not None
    assert (report.diagnosis.cause, report.diagnosis.certainty) == ("process.exit-code", "possible")


def test_rows_copied_from_a_viewer_with_empty_cells_before_the_time_are_read_like_the_log_itself() -> None:
    at = "  |   |   | 2021-11-17 12:30:37 | "
    log = f"""{at}Traceback (most recent call last):
{at}  File "/usr/local/lib/python3.6/dist-packages/keras/engine/training.py", line 267, in _init_batch_counters
{at}MemoryError: Unable to allocate 3.2 GiB for an array with shape (4096, 104857) and data type float64
"""
    assert cause(log) == "memory.host-alloc"


def test_a_loop_of_one_s_own_that_goes_on_with_a_loss_that_is_no_number_is_heard() -> None:
    log = """[2023-08-30 16:26:16,924][pretrain.py][INFO] Epoch:[0/2](6000/293491) loss:4.294 lr:0.0000991
[2023-08-30 16:29:49,699][pretrain.py][INFO] Epoch:[0/2](7000/293491) loss:nan lr:0.0000987
[2023-08-30 16:33:33,730][pretrain.py][INFO] Epoch:[0/2](8000/293491) loss:nan lr:0.0000983
"""
    assert cause(log) == "numerics.nan"


def test_a_loss_of_validation_that_is_no_number_says_nothing_of_the_training() -> None:
    log = "".join(f"epoch {n} | train loss 2.1 | val loss: nan\n" for n in range(3))
    assert cause(log) == "unfinished"


def test_a_cluster_that_kubectl_did_not_reach_comes_before_the_daemons_that_mpirun_then_lacks() -> None:
    log = f"""Error from server: error dialing backend: dial tcp 10.1.2.3:10250: getsockopt: connection timed out
{BORDER}
ORTE was unable to reliably start one or more daemons.
This usually is caused by:
"""
    assert cause(log) == "network.connect-timeout"


def test_the_words_of_vertex_ai_stand_above_the_traceback_in_their_own_string_and_are_no_part_of_it() -> None:
    raised = "requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))"
    frames = ["Traceback (most recent call last):", "  [...]", '  File \\"/opt/req/adapters.py\\", line 547, in send', "    raise x"]
    replica = "The replica workerpool1-1 exited with a non-zero status of 1. Termination reason: Error. "
    printed = "\\n".join([replica, *frames, raised, "", "To find out more please check the logs"])
    lines = ["RuntimeError: Training failed with:", "code: 3", f'message: "{printed}"']
    assert cause("\n".join(lines) + "\n") == "network.connection-reset"
    assert cause("\n".join(lines[1:]) + "\n") == "network.connection-reset"
    assert cause("".join(f"Step #4: {line}\n" for line in lines)) == "network.connection-reset"


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


@pytest.mark.parametrize("line", ["NNODES=1 NODE_RANK=0", "SLURM_NODEID=0", "num_machines: 1"])
def test_a_local_rank_is_the_rank_where_the_environment_tells_of_one_node(line: str) -> None:
    assert blamed(f"{line}\n{FAILED_AT_3}") == [3]


def test_an_agent_that_was_asked_for_two_nodes_does_not_know_the_ranks_of_its_own() -> None:
    asked = """Starting elastic_operator with launch configs:
  entrypoint       : train.py
  min_nodes        : 2
  max_nodes        : 2
  nproc_per_node   : 8
  run_id           : none
  rdzv_backend     : c10d
  rdzv_endpoint    : 10.0.0.1:29500
  rdzv_configs     : {'timeout': 900}
  max_restarts     : 0
"""
    assert blamed(asked + FAILED_AT_3) == []


def test_what_the_summary_of_torchrun_says_of_one_process_tells_the_ranks_of_its_node() -> None:
    box = BOX.format(at="10:09:38", host="gpu02", rank=11, local=3, pid=1187, blank="")
    assert blamed(box) == [11]


def blamed(log: str) -> list[int | None]:
    report = diagnose(Text(log, name="train.log"))
    assert report.diagnosis is not None
    return [c.rank for c in report.diagnosis.culprits]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("srun: error: *** STEP 21518451.0 CANCELLED AT 2026-08-25T13:15:44 DUE TO TIME LIMIT ***", "process.time-limit"),
        ("slurmstepd: *** JOB 7752164 CANCELLED AT 2019-03-27T00:30:50 DUE TO TIME LIMIT on node096 ***", "process.time-limit"),
        ("slurmd[c12]: *** JOB 16387 CANCELLED AT 2013-09-05T16:40:19 DUE TO PREEMPTION ***", "process.preempted"),
        ("slurmstepd: error: *** STEP 88.0 CANCELLED AT 2015-09-05T16:40:19 DUE TO NODE FAILURE ***", "process.node-failure"),
        ("slurmd[c12]: *** JOB 16387 CANCELLED AT 2013-09-05T16:40:19 ***", "process.terminated"),
    ],
)
def test_the_end_that_srun_and_older_slurm_tell_without_a_node_is_heard(line: str, expected: str) -> None:
    assert expected == cause(f"epoch 3 step 100 loss 2.31\nepoch 3 step 200 loss 2.27\n{line}\n")


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
