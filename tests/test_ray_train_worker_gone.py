"""A worker of Ray Train is gone, and the others lost it."""

from __future__ import annotations

from tests.told import cause, culprits, told

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


def test_the_worker_that_ray_found_dead_is_whom_the_other_one_lost(tmp_path):
    report = told(tmp_path, {"driver.log": LOG})
    assert ("ray.actor-died", [1]) == (cause(report), culprits(report))


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

    assert ("process.exception", [1]) == (cause(report), culprits(report))


def test_a_worker_that_shows_further_steps_went_on_though_lines_are_folded(tmp_path):
    met = "".join(LOG.splitlines(keepends=True)[:3])
    steps = "".join(f"(RayTrainWorker pid=18522) rank 1 step {n} loss 0.1{FOLDED.format(2)}\n" for n in range(4, 80))
    report = told(tmp_path, {"driver.log": met + RAISED.partition("(TrainController")[0] + steps})

    assert report.diagnosis is None


def test_a_wrapper_printed_once_more_with_what_it_holds_tells_of_no_actor_that_died(tmp_path):
    """The controller's copy is empty where Ray has folded the traceback in it; what the driver raises has it."""
    met = "".join(LOG.splitlines(keepends=True)[:3])
    met += "(TrainController pid=18100) [2026-11-24 03:27:09,170 E 18100 25592] core_worker.cc:2465: Actor with class name\n"
    met += f"(RayTrainWorker pid=18463) rank 0 step 4 loss 0.0086{FOLDED.format(8)}\n"
    waited = [
        "Traceback (most recent call last):\n",
        '  File "/home/ml/job/rtrain.py", line 15, in loop\n    loss.backward()\n',
        "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 8000ms for recv "
        "operation to complete\n",
    ]
    own = "".join(f"(RayTrainWorker pid=18463) {line}" for line in "".join(waited).splitlines(keepends=True))
    wrapper = "ray.train.WorkerGroupError: Training failed due to worker errors:\n"
    copy = f"(RayTrainWorker pid=18522) rank 1 step 4 loss 0.0518\n(TrainController pid=18100) {wrapper}(TrainController pid=18100) [Rank 0 Error Snippet]:\n"
    copy += "(TrainController pid=18100) \n" + "(TrainController pid=18100) - a line of its report\n" * 9
    raised = 'Traceback (most recent call last):\n  File "/home/ml/job/rtrain.py", line 19, in <module>\n    trainer.fit()\n'
    report = told(tmp_path, {"driver.log": f"{met}{own}{copy}{raised}{wrapper}[Rank 0 Error Snippet]:\n{''.join(waited)}\n"})

    assert "collective.timeout" == cause(report)


def test_a_worker_that_only_the_raylet_knows_is_not_the_rank_that_is_left_over(tmp_path):
    """Engines, drivers and the ranks of other roles are workers of Ray too: the rest of a group of two is no proof."""
    lost = (
        "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check "
        "the logs for the dead worker. RayTask ID: ffffffffffffffffd155ee3e0ad41ffd2c03df6802000000 Worker ID: 38790ac22c3068cfd0eae7 "
        "Node ID: f3d197dfb0f1196567591cbc Worker IP address: 10.80.0.1 Worker port: 10003 Worker PID: 4156 Worker exit type: "
        "SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file.\n"
    )
    waited = (
        "(ReferenceModelRayActor pid=4347, ip=10.80.0.1) [rank1]:[E317 03:27:31.594678338 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog "
        "caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=_ALLGATHER_BASE, NumelIn=110336, NumelOut=220672, "
        "Timeout(ms)=600000) ran for 600033 milliseconds before timing out.\n"
    )
    report = told(tmp_path, {"driver.log": lost + waited})

    assert ("ray.actor-died", []) == (cause(report), culprits(report))
