"""What Ray prints of workers that are gone, and of requests that wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import cause, told

STATUS = (
    "======== Autoscaler status: 2024-09-23 01:17:{second:02d}.277326 ========\nNode status\n"
    "---------------------------------------------------------------\nActive:\n 1 ray.head.default\n 1 ray.worker.default\n"
    "Pending:\n {coming}\nRecent failures:\n (no failures)\n\nResources\n"
    "---------------------------------------------------------------\nUsage:\n 0.0/2.0 CPU\n 0B/2.33GiB memory\n\n"
    "Demands:\n {demand}\n"
)
NOBODY = "(no pending nodes)"
GROUP = "{'CPU': 2.0} * 1 (SPREAD): 1+ pending placement groups"


def status(demand: str, coming: str = NOBODY, second: int = 18) -> str:
    """What `ray status` prints, and what the autoscaler logs every few seconds."""
    return STATUS.format(demand=demand, coming=coming, second=second)


@pytest.mark.xfail(strict=True, reason="a request that waits for a node is no error, and no question asks for it")
def test_a_placement_group_that_waits_while_no_node_comes_cannot_be_placed(tmp_path: Path) -> None:
    """As in Ray #47792: two CPUs in one bundle, and one CPU on each node."""
    report = told(tmp_path, {"ray-status.txt": "$ ray status\n" + status(GROUP)})
    assert ("hung", "ray.unschedulable") == (report.outcome, cause(report))
    assert ("possible", 20) == (report.diagnosis.certainty, report.diagnosis.evidence[0].line)


def test_a_request_that_the_next_status_lists_no_more_was_placed(tmp_path: Path) -> None:
    log = status(GROUP) + status("(no resource demands)", second=23)
    assert "unfinished" == cause(told(tmp_path, {"monitor.log": log}))


# --- A worker of Ray Train is gone, and the others lost it --------------------------------------------------------

LOG = """\
(TrainController pid=18100) Started training worker group of size 2:
(TrainController pid=18100) - (ip=10.80.0.1, pid=18463) world_rank=0, local_rank=0, node_rank=0
(TrainController pid=18100) - (ip=10.80.0.1, pid=18522) world_rank=1, local_rank=1, node_rank=0
(RayTrainWorker pid=18463) step 3 loss 1.7503
(RayTrainWorker pid=18522) step 3 loss 0.8017
(RayTrainWorker pid=18463) Error in training function:
(RayTrainWorker pid=18463) Traceback (most recent call last):
(RayTrainWorker pid=18463)   File "/data/jobs/train/ray_train.py", line 32, in loop
(RayTrainWorker pid=18463)     loss.backward()
(RayTrainWorker pid=18463) RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error [10.80.0.1]:6027: Connection reset by peer.
(TrainController pid=18100) [Rank 1 Error Snippet]:
(TrainController pid=18100) A worker health check failed.
(TrainController pid=18100) Traceback (most recent call last):
(TrainController pid=18100)   File "/data/jobs/venv/lib/python3.11/site-packages/ray/_private/worker.py", line 1055, in get_objects
(TrainController pid=18100)     raise value
(TrainController pid=18100) ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
(TrainController pid=18100) \tclass_name: RayTrainWorker
(TrainController pid=18100) \tactor_id: a95411ebff1be8c04a4f335901000000
(TrainController pid=18100) \tpid: 18522
(TrainController pid=18100) \tip: 10.80.0.1
(TrainController pid=18100) The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: End of file.
"""
FOLDED = " [repeated {}x across cluster]"
RAISED = """\
(RayTrainWorker pid=18522) Error in training function:
(RayTrainWorker pid=18522) Traceback (most recent call last):
(RayTrainWorker pid=18522)   File "/home/ml/job/rtrain.py", line 11, in loop
(RayTrainWorker pid=18522)     raise LookupError("label map has no entry for class 91")
(RayTrainWorker pid=18522) LookupError: label map has no entry for class 91
(TrainController pid=18100) ray.train.WorkerGroupError: Training failed due to worker errors:
(TrainController pid=18100) [Rank 1 Error Snippet]:
"""
AGAIN = RAISED.replace("RayTrainWorker pid=18522", "TrainController pid=18100").splitlines()[1:5]


def test_what_the_driver_folds_and_prints_late_shows_no_worker_that_went_on(tmp_path):
    """Ray holds equal lines back for seconds: the last step of before stands below what ended the worker."""
    met = "".join(LOG.splitlines(keepends=True)[:3])
    before = "(RayTrainWorker pid=18463) rank 0 step 0 loss 0.26\n(RayTrainWorker pid=18463) rank 0 step 4 loss 0.07{}\n"
    late = f"(RayTrainWorker pid=18522) rank 1 step 4 loss 0.1006{FOLDED.format(9)}\n"
    far_below = "(TrainController pid=18100) - a line of its report\n" * 70
    again = "".join(f"{line}{FOLDED.format(2)}\n" for line in AGAIN)
    report = told(tmp_path, {"driver.log": met + before.format(FOLDED.format(8)) + RAISED + late + far_below + again + late})

    assert "process.exception" == cause(report)


def test_a_worker_that_shows_further_steps_went_on_though_lines_are_folded(tmp_path):
    met = "".join(LOG.splitlines(keepends=True)[:3])
    steps = "".join(f"(RayTrainWorker pid=18522) rank 1 step {n} loss 0.1{FOLDED.format(2)}\n" for n in range(4, 80))
    report = told(tmp_path, {"driver.log": met + RAISED.partition("(TrainController")[0] + steps})
    assert report.diagnosis is None
