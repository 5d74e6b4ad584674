"""Jobs of many processes: whom the lines of one launcher, or of several, point at."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import alive, cause, culprits, told, watchdog

JAX = """F0603 11:02:00.314417 90311 client.h:77] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details. absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
/job:jax_worker/replica:0/task:3
The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction) to debug further.
"""
BARRIER = """jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect::0.
# of tasks that reached the barrier: 1/2.
The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out task names:
/job:jax_worker/replica:0/task:1
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [(JAX, ("network.connection-reset", [3])), (BARRIER, ("rendezvous.timeout", [1]))],
    ids=["heartbeat", "barrier"],
)
def test_a_process_that_jax_lost_or_never_met_is_no_straggler(
    log: str, expected: tuple[str, list[int]], tmp_path: Path
) -> None:
    report = told(tmp_path, {"worker.log": log})

    assert expected == (cause(report), culprits(report))
    assert "torchrun" not in " ".join(f"{s.text} {s.command}" for s in report.diagnosis.remedy)


def hosts(folder: Path, files: dict[str, str]) -> tuple[str, list[int], list[str | None]]:
    report = told(folder, files)
    return cause(report), culprits(report), [c.host for c in report.diagnosis.culprits] if report.diagnosis else []


UNDEFINED = """[default{lr}]:Traceback (most recent call last):
[default{lr}]:  File "/ws/train.py", line 3, in <module>
[default{lr}]:    import flash_attn_2_cuda as flash_attn_gpu
[default{lr}]:ImportError: /opt/conda/lib/python3.10/site-packages/flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2E
"""
WAITS = """[default{lr}]:Traceback (most recent call last):
[default{lr}]:  File "/ws/train.py", line 20, in main
[default{lr}]:    dist.init_process_group("nccl")
[default{lr}]:torch.distributed.DistNetworkError: Connection reset by peer
"""
ENDED = """E1120 10:00:2{n}.100000 300 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0 (pid: 500) of binary: /usr/bin/python3
[0]:
  time      : 2026-11-20_10:00:2{n}
  host      : gpu-node-0{n}
  rank      : {first} (local_rank: 0)
  exitcode  : 1 (pid: 500)
[1]:
  time      : 2026-11-20_10:00:2{n}
  host      : gpu-node-0{n}
  rank      : {second} (local_rank: 1)
  exitcode  : 1 (pid: 501)
"""


def test_an_import_that_fails_on_all_ranks_of_one_host_only_is_that_host_s(tmp_path: Path) -> None:
    logs = {
        f"gpu-node-0{n}.log": "".join(text.format(lr=lr) for lr in (0, 1))
        + ENDED.format(n=n, first=2 * n, second=2 * n + 1)
        for n, text in enumerate((WAITS, UNDEFINED))
    }

    assert ("software.import-error", [], ["gpu-node-01"]) == hosts(tmp_path, logs)


def test_an_import_that_fails_everywhere_is_no_host_s(tmp_path: Path) -> None:
    logs = {
        f"gpu-node-0{n}.log": "".join(UNDEFINED.format(lr=lr) for lr in (0, 1))
        + ENDED.format(n=n, first=2 * n, second=2 * n + 1)
        for n in range(2)
    }

    assert ("software.import-error", [], []) == hosts(tmp_path, logs)


LOST = """[rank{r}]:[E1120 10:06:40.104231877 ProcessGroupNCCL.cpp:542] [Rank {r}] Collective WorkNCCL(SeqNum=512, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) raised the following async exception: NCCL error: remote process exited or there was a network error, NCCL version 2.21.5
ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
Last error:
socketProgress: Connection closed by remote peer w-2.svc<40001>
"""


def test_the_one_whose_log_just_stops_is_the_one_that_the_others_lost(tmp_path: Path) -> None:
    """What NCCL said last stands on a line without a rank, below that of the rank which quotes it."""
    steps = "".join(f"[rank{{r}}]: step {n} loss 2.1\n" for n in range(0, 200, 10))
    logs = {f"pods/job-worker-{r}.log": (steps + (LOST if r != 2 else "")).replace("{r}", str(r)) for r in range(4)}

    report = told(tmp_path, logs)

    assert ("network.connection-reset", [2]) == (cause(report), culprits(report))


def test_an_exception_after_which_the_file_goes_on_with_losses_was_survived(tmp_path: Path) -> None:
    """Nobody takes steps without the others; the GPU's number alone says whose exception it was."""
    steps = [f"[2026-11-20 10:{m:02}:00,001][train][INFO] step {m * 10} loss 9.{60 - m}\n" for m in range(20)]
    caught = (
        "Traceback (most recent call last):\n"
        '  File "/ws/eval.py", line 30, in evaluate\n'
        "    out = model(**b)\n"
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 2 has a total capacity of 79.11 GiB of "
        "which 1.35 GiB is free.\n"
    )
    died = "[rank5]: Traceback (most recent call last):\n[rank5]: KeyError: 'labels'\n"
    early, late = "".join([*steps[:4], caught, *steps[4:], died]), "".join([*steps, caught])

    survived, fatal = told(tmp_path / "a", {"job.log": early}), told(tmp_path / "b", {"job.log": late})

    assert ("process.exception", [5]) == (cause(survived), culprits(survived))
    assert "memory.cuda-oom" == cause(fatal)


def _tree(reports: dict[int, str], stderr_of: set[int]) -> dict[str, str]:
    """As torchrun --log-dir leaves it: one file of each stream a rank."""
    logs = {}
    for r in range(8):
        logs[f"logs/none_k2v9q0zt/attempt_0/{r}/stdout.log"] = alive(r)
        if r in stderr_of:
            logs[f"logs/none_k2v9q0zt/attempt_0/{r}/stderr.log"] = reports.get(r, "")
    return logs


def test_a_rank_whose_standard_error_was_not_given_is_not_silent(tmp_path: Path) -> None:
    """The others report there; an empty file is silence, a missing one is a gap."""
    reports = {r: watchdog(r) for r in range(8) if r != 5}

    empty = told(tmp_path / "empty", _tree(reports, set(range(8))))
    missing = told(tmp_path / "missing", _tree(reports, set(range(8)) - {5}))

    assert ("collective.straggler", [5]) == (cause(empty), culprits(empty))
    assert [] == culprits(missing)


OLD_KILL = (
    "[Thu Nov 19 05:12:44 2026] Memory cgroup out of memory: Killed process 90412 (java) total-vm:81234567kB, "
    "anon-rss:64123456kB, file-rss:1234kB, shmem-rss:0kB, UID:1001 pgtables:131232kB oom_score_adj:0\n"
)
RAISED = "[rank2]: Traceback (most recent call last):\n[rank2]: KeyError: 'caption'\n"
OF_2 = LOST.replace("w-2.svc", "gpu-08")


@pytest.mark.parametrize(
    "stamp", ["", "[2026-11-20 10:00:00,001][train][INFO] step 1 loss 9.1\n"], ids=["untimed", "timed"]
)
def test_a_kill_of_another_process_does_not_explain_what_a_rank_raised(stamp: str, tmp_path: Path) -> None:
    """The kernel's log goes back to other jobs of the host; here each rank says what it failed of."""
    logs = {f"rank{r}.log": stamp + (RAISED if r == 2 else OF_2.replace("{r}", str(r))) for r in range(4)}

    report = told(tmp_path, {**logs, "dmesg-gpu-08.txt": OLD_KILL})

    assert ("process.exception", [2]) == (cause(report), culprits(report))
