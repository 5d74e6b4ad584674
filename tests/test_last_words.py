"""What a process said last, and what only stands beside it: one fact each, in the words of Ray, vLLM, torch and Python."""

from __future__ import annotations

from .told import cause, told

ABORTED = (
    "(RayTrainWorker pid=7315) [/pytorch/third_party/gloo/gloo/transport/uv/libuv.h:596] uv_accept: invalid argument\n"
    "(RayTrainWorker pid=7315) *** SIGABRT received at time=1734086759 ***\n"
    "(RayTrainWorker pid=7315) PC: @        0x19ea96600  (unknown)  __pthread_kill\n"
)
LOST = (
    "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, "
    "check the logs for the dead worker. RayTask ID: ffff Worker ID: 6b7a Node ID: 1d2f Worker IP address: 10.0.0.4 Worker "
    "port: 58312 Worker PID: {pid} Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a "
    "connection error code 2. End of file.\n"
)
NO_DRIVER = (
    "/opt/conda/lib/python3.9/site-packages/torch/cuda/__init__.py:138: UserWarning: CUDA initialization: The NVIDIA driver on "
    "your system is too old (found version 10020). Please update your GPU driver\n  return torch._C._cuda_getDeviceCount() > 0\n"
)
NO_HUB = (
    'Traceback (most recent call last):\n  File "/app/train.py", line 17, in <module>\n    trainer = Trainer(opts)\n'
    '  File "/opt/conda/lib/python3.9/site-packages/requests/adapters.py", line 507, in send\n'
    "    raise ConnectTimeout(e, request=request)\n"
    "requests.exceptions.ConnectTimeout: (MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries "
    "exceeded with url: /timm/resnet50/resolve/main/model.bin (Caused by ConnectTimeoutError(<conn>, 'Connection to "
    "huggingface.co timed out. (connect timeout=None)'))\"), '(Request ID: dedf7ad6)')\n"
)


def test_the_worker_that_raylet_found_dead_has_said_itself_that_it_aborted(tmp_path):
    assert "process.abort" == cause(told(tmp_path, {"driver.log": ABORTED + LOST.format(pid=7315)}))


def test_a_warning_of_python_yields_to_what_ended_the_program_later(tmp_path):
    assert "hub.download" == cause(told(tmp_path, {"train.log": NO_DRIVER + NO_HUB}))
