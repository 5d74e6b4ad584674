"""The labels that vLLM puts before its lines, one within the other: whose line it is, and of whom it tells."""

from __future__ import annotations

import pytest

from diagnose.lines.prefix import split_prefix

from .told import cause, culprits, told

ILLEGAL = (
    "{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880] Traceback (most recent call last):\n"
    '{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880]   File "/x/vllm/executor.py", line 810, in worker_busy_loop\n'
    "{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880] torch.AcceleratorError: CUDA error: an illegal memory access "
    "was encountered\n"
    "(EngineCore_DP0 pid=900) ERROR 11-02 04:19:42 [core.py:842] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
    "encountered an issue. See stack trace (above) for the root cause.\n"
)
KILLED = (
    "(EngineCore_DP0 pid=900) (Worker_TP3 pid=907) INFO 11-02 04:11:22 [gpu_worker.py:298] Available KV cache: 41.20 GiB\n"
    "(EngineCore_DP0 pid=900) ERROR 11-02 04:19:41 [multiproc_executor.py:230] Worker proc VllmWorker-3 died unexpectedly, "
    "shutting down executor.\n"
    "(EngineCore_DP0 pid=900) Traceback (most recent call last):\n"
    '(EngineCore_DP0 pid=900)   File "/x/vllm/v1/engine/core.py", line 842, in run_engine_core\n    raise e\n'
    "(EngineCore_DP0 pid=900) RuntimeError: the engine stops\n"
    "[Sun Nov  2 04:19:40 2025] Memory cgroup out of memory: Killed process {pid} (VLLM::Worker_TP) total-vm:198012312kB, "
    "anon-rss:62123444kB, file-rss:112kB, shmem-rss:0kB, UID:0 pgtables:131072kB oom_score_adj:999\n"
)


@pytest.mark.parametrize(
    "worker",
    [
        "(Worker_TP3 pid=907)",
        "(EngineCore_DP0 pid=900) (Worker_TP3 pid=907)",
        "(EngineCore_0 pid=900) (VllmWorker TP3 pid=907)",
        "(Worker pid=907) (Worker_TP3 pid=907)",
        "(EngineCore pid=900) (RayWorkerProc pid=907) (Worker_TP3 pid=907)",
    ],
)
def test_the_innermost_label_says_which_rank_of_the_engine_it_is(tmp_path, worker):
    assert [3] == culprits(told(tmp_path, {"serve.log": ILLEGAL.format(worker=worker)}))


def test_an_actor_of_ray_keeps_its_name_before_a_label_of_the_engine():
    prefix = split_prefix("(WorkerDict pid=11, ip=10.0.0.2) (Worker_TP0 pid=12) INFO 11-02 04:11:22 [a.py:1] loaded")

    assert ("WorkerDict", 12) == (prefix.actor, prefix.pid)


def test_a_killed_process_is_the_rank_in_its_label(tmp_path):
    report = told(tmp_path, {"serve.log": KILLED.format(pid=907)})

    assert ("memory.host-oom", [3]) == (cause(report), culprits(report))


def test_a_program_that_signs_each_line_with_its_rank_is_that_rank(tmp_path):
    lines = ("Traceback (most recent call last):", '  File "/app/t.py", line 9, in main', "    run()", "ValueError: odd batch")

    assert [3] == culprits(told(tmp_path, {"train.log": "".join(f"[Rank 3] {line}\n" for line in lines)}))


def test_engine_that_repeats_its_workers_error_is_no_second_one_that_failed(tmp_path):
    worker = ILLEGAL.replace("{worker}", "(Worker_TP3 pid=907)").partition("(EngineCore")[0]
    loaded = "".join(f"(Worker_TP{n} pid={904 + n}) INFO 11-02 04:18:41 [gpu_model_runner.py:4823] Model loading took 89.39 GiB memory "
                     "and 32.668146 seconds\n" for n in range(4))  # fmt: skip
    passed_on = "(EngineCore_DP0 pid=900) ERROR 11-02 04:19:42 [core.py:780] RuntimeError: Worker failed with error 'CUDA error: an "
    passed_on += "illegal memory access was encountered', please check the stack trace above for the root cause\n"

    assert [3] == culprits(told(tmp_path, {"server.log": loaded + worker + passed_on}))


def test_worker_that_was_found_dead_is_the_one_that_the_others_lost(tmp_path):
    """The watcher is told no code, and the others say within seconds that their peer went away."""
    step = "(Worker_TP{0} pid={1}) INFO 11-02 04:19:38 [gpu_model_runner.py:4823] Model loading took 89.39 GiB memory and 3.66 seconds\n"
    lost = "(Worker_TP{0} pid={1}) ERROR 11-02 04:19:43 [multiproc_executor.py:822] torch.distributed.DistBackendError: NCCL error in: "
    lost += "NCCLUtils.cpp:77, remote process exited or there was a network error, NCCL version 2.26.2\n"
    died = "(EngineCore_DP0 pid=900) ERROR 11-02 04:19:41 [multiproc_executor.py:230] Worker proc VllmWorker-2 died unexpectedly, "
    text = "".join(step.format(n, 904 + n) for n in range(4)) + f"{died}shutting down executor.\n"
    report = told(tmp_path, {"server.log": text + "".join(lost.format(n, 904 + n) for n in (0, 1, 3))})

    assert ("process.exit-code", [2]) == (cause(report), culprits(report))
