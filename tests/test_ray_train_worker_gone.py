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
