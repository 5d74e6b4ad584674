"""Consoles of small runs on the CPU: what JAX, mpi4py, Ray and the like print around the one thing that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.told import cause, culprits, told

MPI4PY = """iter 3 |w| 0.400
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/mpi4py/run.py", line 53, in run_command_line
    run_path(sys.argv[0], run_name="__main__")
  File "rates.py", line 14, in <module>
    print(rates["cool"])
KeyError: 'cool'
--------------------------------------------------------------------------
MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD
with errorcode 1.

NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.
--------------------------------------------------------------------------
"""
JAX_DIED = """F1123 02:03:52.49130{rank}   2846{rank} client.h:80] Terminating process because the JAX distributed service detected fatal errors. This most likely indicates that another task died; see the other task logs for more details. absl::Status: {status}
*** Check failure stack trace: ***
Fatal Python error: Aborted
"""
JAX_LOST = """E1123 02:04:35.422396   28898 coordination_service.cc:1549] [7279997064170001106] Use error polling to propagate the following error to all tasks: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):
2
The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction) to debug further.
"""


def test_the_rank_of_mpi_abort_raised_the_exception_above_it(tmp_path: Path) -> None:
    assert culprits(told(tmp_path, {"job.out": MPI4PY})) == [2]


def test_jax_names_the_process_without_heartbeat_by_its_bare_number(tmp_path: Path) -> None:
    logs = {f"proc_{r}.log": JAX_DIED.format(rank=r, status="INTERNAL: Shutdown barrier has failed.") for r in (0, 1)}
    logs["proc_0.log"] = JAX_LOST + logs["proc_0.log"]
    logs["proc_2.log"] = "I1123 02:04:27.450442 139791033731968 train.py:34] step 50 loss 2.26231\n"
    assert culprits(told(tmp_path, logs)) == [2]


RAY_ALIKE = """(RayTrainWorker pid=5334) Setting up process group for: env:// [rank=0, world_size=2]
(TrainController pid=5212) - (ip=10.0.0.2, pid=5334) world_rank=0, local_rank=0, node_rank=0
(TrainController pid=5212) - (ip=10.0.0.2, pid=5368) world_rank=1, local_rank=1, node_rank=0
(RayTrainWorker pid=5334) Error in training function:
(RayTrainWorker pid=5334) Traceback (most recent call last):
(RayTrainWorker pid=5334)   File "/app/fit.py", line 22, in __getitem__
(RayTrainWorker pid=5334)     return torch.tensor([float(r[self.label])])
(RayTrainWorker pid=5334) KeyError: 'cost'
Traceback (most recent call last):
  File "/app/fit.py", line 46, in <module>
    trainer.fit()
ray.train.WorkerGroupError: Training failed due to worker errors:
[Rank 0,1 Error Snippet]:
Traceback (most recent call last):
  File "/app/fit.py", line 22, in __getitem__
    return torch.tensor([float(r[self.label])])
KeyError: 'cost'
"""


def test_what_ray_train_lists_for_all_ranks_is_no_fault_of_the_one_that_is_heard(tmp_path: Path) -> None:
    assert culprits(told(tmp_path, {"driver.log": RAY_ALIKE})) == []


GOES_FIRST = """[rank0]: Traceback (most recent call last):
[rank0]:   File "/app/align.py", line 43, in <module>
[rank0]:     trainer = DPOTrainer(model=model, args=cfg, train_dataset=ds)
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 502, in __init__
[rank0]:     train_dataset = train_dataset.map(self.tokenize_row)
[rank0]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line 750, in tokenize_row
[rank0]:     chosen = features["chosen"]
[rank0]: KeyError: 'chosen'
[rank1]: Traceback (most recent call last):
[rank1]:   File "/app/align.py", line 43, in <module>
[rank1]:     trainer = DPOTrainer(model=model, args=cfg, train_dataset=ds)
[rank1]:   File "/opt/venv/lib/python3.11/site-packages/trl/trainer/dpo_trainer.py", line {line}, in __init__
[rank1]:     with PartialState().local_main_process_first():
[rank1]:   File "/opt/venv/lib/python3.11/site-packages/accelerate/state.py", line 381, in wait_for_everyone
[rank1]:     torch.distributed.barrier()
[rank1]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [127.0.0.1]:26300
"""


@pytest.mark.parametrize(("line", "blamed"), [(499, []), (520, [0])], ids=["before it", "behind it"])
def test_what_rank_zero_meets_is_its_own_only_where_the_others_are_past_it(tmp_path: Path, line: int, blamed: list[int]) -> None:
    assert culprits(told(tmp_path, {"console.log": GOES_FIRST.format(line=line)})) == blamed


RAY_MISTAKEN = """[2026-11-23 02:35:27,636 C 21883 21883] (raylet) node_manager.cc:1043: [Timeout] Exiting because this node manager has mistakenly been marked as dead by the GCS: GCS failed to check the health of this node for 5 times. This is likely because the machine or raylet has become overloaded.
"""


def test_a_raylet_that_nobody_told_to_end_was_marked_dead_by_mistake(tmp_path: Path) -> None:
    assert cause(told(tmp_path, {"raylet.err": RAY_MISTAKEN})) == "ray.node-died"


LOGGED = """2026-11-23 02:41:47,655 I [{a}] step 10 loss 0.1091
2026-11-23 02:41:47,755 I [{b}] step 10 loss 0.1095
2026-11-23 02:41:47,817 E [{b}] exception calling callback for <Future at 0x7fbc06c1d4d0 state=finished raised OSError>
Traceback (most recent call last):
  File "/usr/lib/python3.11/concurrent/futures/_base.py", line 340, in _invoke_callbacks
    callback(self)
  File "/opt/venv/lib/python3.11/site-packages/streaming/base/dataset.py", line 1311, in on_exception
    raise exception
FileNotFoundError: [Errno 2] No such file or directory: '/data/remote/shard.00003.mds'
2026-11-23 02:41:47,872 I [{a}] step 15 loss 0.0922
"""


@pytest.mark.parametrize("labels", [("rank0", "rank1"), ("r0", "r1")])
def test_a_traceback_below_a_loggers_line_is_of_the_rank_that_logged_it(tmp_path: Path, labels: tuple[str, str]) -> None:
    assert culprits(told(tmp_path, {"console.log": LOGGED.format(a=labels[0], b=labels[1])})) == [1]
