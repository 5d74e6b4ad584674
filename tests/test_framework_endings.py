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
    return report.diagnosis.cause, [c.rank for c in report.diagnosis.culprits]


def test_what_spawn_passes_on_is_the_child_s_error_not_a_wordless_exit() -> None:
    assert verdict(said(("console.log", SPAWN_PASSES_ON))) == ("network.connection-reset", [])


RAY_TRAIN_SNIPPETS = """ray.train.v2.api.exceptions.WorkerGroupError: Training failed due to worker errors:
[Rank {rank}{words}]:
Traceback (most recent call last):
  File "/job/train.py", line 40, in train_fn
    raise ValueError("boom")
ValueError: boom
[Rank 0{words}]:
Traceback (most recent call last):
  File "/job/train.py", line 44, in train_fn
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
    assert ("collective.straggler", (), "possible") == (found.cause, tuple(found.culprits), found.certainty)


def test_slurm_s_container_that_did_not_start_is_looked_for_in_slurm_not_in_kubernetes() -> None:
    text = "slurmstepd: error: pyxis: container start failed with error code: 1\n"
    found = diagnose(Text(text, name="job.err")).diagnosis
    assert "process.not-started" == found.cause
    assert "kubectl" not in " ".join(step.command or "" for step in found.remedy)


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
    assert cause == found.cause
    assert advised in " ".join(step.command or "" for step in found.remedy)


def test_a_link_of_ascend_cards_is_looked_for_with_ascend_s_tools() -> None:
    text = (
        "EI0006: 2024-08-05-18:15:21.270.506 Getting socket times out. Reason: Remote Rank did not send the data in time. Please "
        "check the reason for the rank being stuck\n"
    )
    found = diagnose(Text(text, name="npu.log")).diagnosis

    commands = " ".join(step.command or "" for step in found.remedy)
    assert "hccn_tool" in commands
    assert "NCCL_" not in commands.replace("HCCL_", "")
