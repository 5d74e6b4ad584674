"""The labels that vLLM puts before its lines, one within the other: whose line it is, and of whom it tells."""

from __future__ import annotations

import pytest

from diagnose.lines.prefix import split_prefix

from .told import culprits, told

ILLEGAL = (
    "{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880] Traceback (most recent call last):\n"
    '{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880]   File "/x/vllm/executor.py", line 810, in worker_busy_loop\n'
    "{worker} ERROR 11-02 04:19:41 [multiproc_executor.py:880] torch.AcceleratorError: CUDA error: an illegal memory access "
    "was encountered\n"
    "(EngineCore_DP0 pid=900) ERROR 11-02 04:19:42 [core.py:842] vllm.v1.engine.exceptions.EngineDeadError: EngineCore "
    "encountered an issue. See stack trace (above) for the root cause.\n"
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
