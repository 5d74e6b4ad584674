"""What a process said last, and what only stands beside it: one fact each, in the words of Ray, vLLM, torch and Python."""

from __future__ import annotations

import pytest

from .told import cause, culprits, told

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
@pytest.mark.xfail(strict=True, reason="the raylet's word for a worker goes before the worker's own")
def test_the_worker_that_raylet_found_dead_has_said_itself_that_it_aborted(tmp_path):
    assert "process.abort" == cause(told(tmp_path, {"driver.log": ABORTED + LOST.format(pid=7315)}))


@pytest.mark.xfail(strict=True, reason="a warning of Python counts as a statement")
def test_a_warning_of_python_yields_to_what_ended_the_program_later(tmp_path):
    assert "hub.download" == cause(told(tmp_path, {"train.log": NO_DRIVER + NO_HUB}))


def test_a_warning_of_python_stands_where_it_brought_the_end_about(tmp_path):
    ended = (
        'Traceback (most recent call last):\n  File "/app/train.py", line 9, in <module>\n    args = Arguments()\n'
        "ValueError: fp16 mixed precision requires a GPU (not 'cpu').\n"
    )

    assert "gpu.driver-mismatch" == cause(told(tmp_path, {"train.log": NO_DRIVER + ended}))


def test_a_child_s_stream_in_brackets_is_no_part_of_what_it_said(tmp_path):
    text = "[stderr] LLVM ERROR: Cannot select: intrinsic %llvm.amdgcn.fdot2.bf16.bf16\n[stderr] Thread 0x00002f10\n"

    assert "process.abort" == cause(told(tmp_path, {"backend.log": text}))


def test_the_sampling_kernel_s_own_assertion_is_about_nan(tmp_path):
    text = (
        "/pytorch/aten/src/ATen/native/cuda/TensorCompare.cu:112: _assert_async_cuda_kernel: block: [0,0,0], thread: [0,0,0] "
        "Assertion `probability tensor contains either `inf`, `nan` or element < 0` failed.\n"
        'Traceback (most recent call last):\n  File "/app/train.py", line 88, in train\n    trainer.train()\n'
        "torch.AcceleratorError: CUDA error: device-side assert triggered\n"
    )

    assert "numerics.nan" == cause(told(tmp_path, {"train.log": text}))


def test_lines_that_a_pane_of_64_columns_broke_are_read_whole(tmp_path):
    text = (
        "[rank18]:[E1013 11:12:31.455734215 ProcessGroupNCCL.cpp:746] [R\n"
        "ank 18] Some NCCL operations have failed or timed out. Due to t\n"
        "he asynchronous nature of CUDA kernels, subsequent GPU operatio\n"
        "ns might run on corrupted/incomplete data.\n"
        "[rank18]:[E1013 11:12:31.456700123 ProcessGroupNCCL.cpp:2068] [\n"
        "PG ID 0 PG GUID 0(default_pg) Rank 18] Process group watchdog t\n"
        "hread terminated with exception: [Rank 18] Watchdog caught coll\n"
        "ective operation timeout: WorkNCCL(SeqNum=420, OpType=ALLREDUCE\n"
        ", NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600071 mil\n"
        "liseconds before timing out.\n"
    )

    assert "collective.timeout" == cause(told(tmp_path, {"paste.txt": text}))


def test_a_gpu_number_that_is_not_there_is_told_before_the_clean_up_fails(tmp_path):
    text = (
        "THCudaCheck FAIL file=/pytorch/torch/csrc/cuda/Module.cpp line=59 error=10 : invalid device ordinal\n"
        "Process Process-2:\nTraceback (most recent call last):\n"
        '  File "/app/core/distributed.py", line 138, in run\n    destroy_process_group()\n'
        "RuntimeError: Invalid process group specified\n"
    )

    assert "config.world-size-mismatch" == cause(told(tmp_path, {"train.log": text}))


def test_a_preempted_node_is_why_ray_lost_the_node_though_ray_says_so_after(tmp_path):
    text = (
        "(TrainController pid=79312) The actor died because its node has died. Node Id: b157c93de9603b1458ae4bd2\n"
        "(TrainController pid=79312) \tthe actor's node was preempted: spot capacity is taken back\n"
    )

    assert "process.preempted" == cause(told(tmp_path, {"driver.log": text}))


def test_accelerate_s_test_that_a_worker_failed_says_less_than_the_launcher_that_names_it(tmp_path):
    text = (
        "stderr: Root Cause (first observed failure):\nstderr: [0]:\nstderr:   time      : 2023-06-15_00:47:44\n"
        "stderr:   host      : node-02\nstderr:   rank      : 1 (local_rank: 1)\nstderr:   exitcode  : 1 (pid: 226263)\n"
        "stderr:   error_file: <N/A>\nstderr: ============================================================\n"
        'Traceback (most recent call last):\n  File "/opt/lib/accelerate/test_utils/testing.py", line 383, in run\n'
        "    raise RuntimeError(\nRuntimeError: 'accelerate-launch /opt/test_script.py' failed with returncode 1\n"
    )

    assert [1] == culprits(told(tmp_path, {"test.log": text}))
