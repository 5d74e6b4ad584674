"""What Ray Train, mp.spawn, notebook_launcher and the frameworks' side services print round a failure, from real runs."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.report.report import Report
from diagnose.sources.source import Text

LOST = (
    "RuntimeError: [/__w/pytorch/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer "
    "[127.0.0.1]:31442. This is typically caused by a remote worker crashing. Check the logs of the remote worker before "
    "reporting an error.\n"
)
SPAWN_PASSES_ON = f"""[rank 0] step 6 loss -9.1392
[rank 1] step 6 loss -9.1392
[rank 2] step 6 loss -9.1392
W1122 11:33:55.183000 26797 torch/multiprocessing/spawn.py:165] Terminating process 26840 via signal SIGTERM
Traceback (most recent call last):
  File "/job/train.py", line 101, in <module>
    mp.spawn(main, args=(port,), nprocs=3)
  File "/opt/torch/multiprocessing/spawn.py", line 296, in start_processes
    while not context.join():
  File "/opt/torch/multiprocessing/spawn.py", line 211, in join
    raise ProcessRaisedException(msg, error_index, failed_process.pid)
torch.multiprocessing.spawn.ProcessRaisedException: \n
-- Process 2 terminated with the following error:
Traceback (most recent call last):
  File "/opt/torch/multiprocessing/spawn.py", line 87, in _wrap
    fn(i, *args)
  File "/job/train.py", line 36, in main
    loss.backward()
{LOST}
"""
RAY_TRAIN = """(TrainController pid=15459) Started training worker group of size 2:
(TrainController pid=15459) - (ip=192.0.2.2, pid=15584) world_rank=0, local_rank=0, node_rank=0
(TrainController pid=15459) - (ip=192.0.2.2, pid=15613) world_rank=1, local_rank=1, node_rank=0
"""
RAY_TRAIN_RAISED = (
    RAY_TRAIN
    + """(RayTrainWorker pid=15613) Error in training function:
(RayTrainWorker pid=15613) Traceback (most recent call last):
(RayTrainWorker pid=15613)   File "/job/train.py", line 123, in loop
(RayTrainWorker pid=15613)     raise KeyError("input_ids")
(RayTrainWorker pid=15613) KeyError: 'input_ids'
(RayTrainWorker pid=15613)
(TrainController pid=15459) Error: Training failed due to worker errors:
(TrainController pid=15459) [Rank 1 Error Snippet]:
(TrainController pid=15459) Traceback (most recent call last):
(TrainController pid=15459)   File "/job/train.py", line 123, in loop
(TrainController pid=15459)     raise KeyError("input_ids")
(TrainController pid=15459) KeyError: 'input_ids'
"""
)
AGENT = "E1122 12:06:58.988000 23955 torch/distributed/elastic/multiprocessing/api.py:836] "
NOTEBOOK = f"""{AGENT}failed (exitcode: 1) local_rank: 0 (pid: 23967) of fn: main (start_method: fork)
{AGENT}Traceback (most recent call last):
{AGENT}  File "/opt/torch/multiprocessing/spawn.py", line 211, in join
{AGENT}    raise ProcessRaisedException(msg, error_index, failed_process.pid)
{AGENT}torch.multiprocessing.spawn.ProcessRaisedException:
{AGENT}
{AGENT}-- Process 0 terminated with the following error:
{AGENT}Traceback (most recent call last):
{AGENT}  File "/job/train.py", line 27, in main
{AGENT}    accelerator.backward(loss)
{AGENT}{LOST}{AGENT}
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
main FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-22_12:06:58
  host      : localhost
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 23967)
  error_file: /tmp/torchelastic_sxslb5o8/none_d6fg6vbt/attempt_0/0/error.json
============================================================
"""


def said(*logs: tuple[str, str]) -> Report:
    return diagnose(*(Text(text, name=name) for name, text in logs))


def verdict(report: Report) -> tuple[str, list[int | None]]:
    assert report.diagnosis is not None
    return report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits]


def test_what_spawn_passes_on_is_the_child_s_error_not_a_wordless_exit() -> None:
    assert verdict(said(("console.log", SPAWN_PASSES_ON))) == ("network.connection-reset", [])


def test_the_controller_that_lists_ray_train_s_workers_is_none_of_them() -> None:
    assert verdict(said(("driver.log", RAY_TRAIN_RAISED))) == ("process.exception", [1])


RAY_TRAIN_SNIPPETS = """ray.train.v2.api.exceptions.WorkerGroupError: Training failed due to worker errors:
[Rank {rank}{words}]:
Traceback (most recent call last):
  File "/job/train.py", line 40, in train_fn
    raise ValueError("boom")
ValueError: boom
[Rank 0{words}]:
Traceback (most recent call last):
  File "/job/train.py", line 38, in train_fn
    dist.all_reduce(x)
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2394, remote process \
exited or there was a network error, NCCL version 2.21.5
"""


@pytest.mark.parametrize("words", ["", " Error Snippet"])
def test_ray_train_s_controller_tells_which_rank_raised(words: str) -> None:
    assert verdict(said(("driver.log", RAY_TRAIN_SNIPPETS.format(rank=2, words=words)))) == ("process.exception", [2])


def test_a_rank_that_lost_a_peer_and_ended_with_a_code_is_not_the_one_that_began() -> None:
    assert verdict(said(("console.log", NOTEBOOK))) == ("network.connection-reset", [])


def test_rank_that_waited_for_others_to_load_is_no_culprit() -> None:
    """SGLang's barrier behind the loading names who waited: of `TP rank 1 could finish …` rank 1 was certainly at fault."""
    log = (
        "sglang-0:100:1012 [1] NCCL INFO ncclCommInitRank comm 0x55c8b7ed9050 rank 1 nranks 16 cudaDev 1 nvmlDev 1 busId 3a000 "
        "commId 0x11e35ff62bc85e0d - Init COMPLETE\n"
        "[2025-03-17 17:15:55 TP1] Scheduler hit an exception: Traceback (most recent call last):\n"
        '  File "/srv/sglang/srt/model_executor/model_runner.py", line 417, in load_model\n'
        "    raise ValueError(\n"
        "ValueError: TP rank 1 could finish the model loading, but there are other ranks that didn't finish loading. It is likely "
        "due to unexpected failures (e.g., OOM) or a slow node.\n"
    )
    found = diagnose(Text(log, name="console.log")).diagnosis
    assert found is not None
    assert ("collective.straggler", (), "possible") == (found.cause, tuple(found.culprits), found.certainty)


def test_worker_killed_under_vllm_is_told_before_the_wait_for_it_that_was_broken_off() -> None:
    """`RuntimeError: cancelled` is what the engine raises at its queue once a worker is gone."""
    killed = "ERROR 03-31 15:45:20 [multiproc_worker_utils.py:124] Worker VllmWorkerProcess pid 1867860 died, exit code: -9\n"
    gone = "(EngineCore pid=11) ERROR 04-02 06:21:53 [multiproc_executor.py:273] Worker proc VllmWorker-0 died unexpectedly, shutting down executor.\n"
    frame = '  File "/opt/vllm/distributed/device_communicators/shm_broadcast.py", line 596, in acquire_read\n    raise RuntimeError("cancelled")\n'
    raised = f"Traceback (most recent call last):\n{frame}RuntimeError: cancelled\n"
    died = "Traceback (most recent call last):\n  File \"/opt/vllm/executor/utils.py\", line 58, in get\n    raise e\nChildProcessError: worker died\n"

    first, second = (diagnose(Text(x, name="serve.log")).diagnosis for x in (killed + died, gone + raised))

    assert first is not None
    assert second is not None
    assert ("process.sigkill", "process.exit-code") == (first.cause, second.cause)


def test_the_code_of_torch_npu_is_the_last_word_of_an_allocation_that_failed() -> None:
    """ERR00100 says only that a call of the runtime failed; the CANN code below it says which."""
    text = (
        "[ERROR] 2026-04-09-21:56:46 (PID:210907, Device:0, RankID:0) ERR00100 PTA call acl api failed.\n"
        "[PID: 210907] 2026-04-09-21:56:40.384.694 Memory_Allocation_Failure(EL0004): Failed to allocate memory requested by "
        "GE module.\n"
    )
    found = diagnose(Text(text, name="npu.log")).diagnosis

    assert found is not None
    assert "memory.cuda-oom" == found.cause


def test_slurm_s_container_that_did_not_start_is_looked_for_in_slurm_not_in_kubernetes() -> None:
    text = "slurmstepd: error: pyxis: container start failed with error code: 1\n"
    found = diagnose(Text(text, name="job.err")).diagnosis

    assert found is not None
    assert "process.not-started" == found.cause
    assert "kubectl" not in " ".join(step.command or "" for step in found.remedy)


def test_a_tpu_chip_s_driver_error_names_the_worker_that_reported_it() -> None:
    text = (
        "E0511 18:18:50.796514     915 session_master.cc:505] Session is failing with the following status: Session master "
        "detected TPU session error from worker train-8-5-15.headless-svc:8471. The reporting TPU chip locations are:tpu31:pe4:3,\n"
        "E0511 18:18:50.796852     915 tpunetd_client.cc:311] Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR in session "
        "e6c885828b538167; Start failure handling\n"
    )
    found = diagnose(Text(text, name="worker-0.log")).diagnosis

    assert found is not None
    assert ("gpu.xid", ["train-8-5-15"]) == (found.cause, [culprit.host for culprit in found.culprits])


@pytest.mark.parametrize(
    ("error", "cause", "advised"),
    [
        (
            "botocore.exceptions.ConnectionClosedError: Connection was closed before we received a valid response from endpoint "
            'URL: "https://s3.example.org/b/k".',
            "storage.io-error",
            "aws s3 ls",
        ),
        (
            "FileNotFoundError: [Errno 2] No such file or directory: "
            "'/tmp/torchinductor_ubuntu/triton/4/5eba80/triton_.cubin.tmp.pid_93828_100098'",
            "process.exception",
            "TRITON_CACHE_DIR",
        ),
        (
            "ValueError: The path '/out/run7/last.ckpt' does not point to a valid checkpoint. Make sure the path points to either "
            "a directory with FSDP checkpoint shards, or a single file with a full checkpoint.",
            "storage.checkpoint-corrupt",
            "ls -lat $(dirname /out/run7/last.ckpt)",
        ),
    ],
)
def test_advice_fits_what_was_lost_a_store_s_object_a_compiled_kernel_or_a_checkpoint(error: str, cause: str, advised: str) -> None:
    found = diagnose(Text(f'Traceback (most recent call last):\n  File "train.py", line 7, in main\n    run()\n{error}\n', name="rank0.log")).diagnosis

    assert found is not None
    assert cause == found.cause
    assert advised in " ".join(step.command or "" for step in found.remedy)


def test_a_link_of_ascend_cards_is_looked_for_with_ascend_s_tools() -> None:
    text = (
        "EI0006: 2024-08-05-18:15:21.270.506 Getting socket times out. Reason: Remote Rank did not send the data in time. Please "
        "check the reason for the rank being stuck\n"
    )
    found = diagnose(Text(text, name="npu.log")).diagnosis

    assert found is not None
    commands = " ".join(step.command or "" for step in found.remedy)
    assert "hccn_tool" in commands
    assert "NCCL_" not in commands.replace("HCCL_", "")


EXITED = """W1118 09:00:20.000000 4400 torch/multiprocessing/spawn.py:169] Terminating process 4410 via signal SIGTERM
Traceback (most recent call last):
  File "/data/jobs/train.py", line 90, in <module>
    mp.spawn(run, nprocs=2, args=(2,))
  File "/opt/torch/multiprocessing/spawn.py", line 202, in join
    raise ProcessExitedException(
torch.multiprocessing.spawn.ProcessExitedException: process 1 terminated with {how}
"""


@pytest.mark.parametrize(("how", "cause"), [("signal SIGKILL", "process.sigkill"), ("exit code 3", "process.exit-code")])
def test_the_process_that_spawn_says_ended_is_not_the_one_that_it_had_to_end(how: str, cause: str) -> None:
    assert verdict(said(("console.log", EXITED.format(how=how)))) == (cause, [1])
