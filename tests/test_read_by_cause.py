"""Texts read cause by cause: what a message of one cause's neighbour must not be taken for."""

import pytest

from diagnose import diagnose
from diagnose.sources.source import Text


def told(text: str) -> tuple[str, list[tuple[int | None, str | None]], str]:
    """The cause, the culprits' ranks and hosts, and the first line of evidence."""
    found = diagnose(Text(text, name="console.log")).diagnosis
    return found.cause, [(c.rank, c.host) for c in found.culprits], found.evidence[0].text


def test_a_tensor_that_cannot_be_mapped_met_no_full_shared_memory() -> None:
    """The file had its bytes; the kernel allows 65530 mappings, and every shared tensor is one."""
    text = (
        "Traceback (most recent call last):\n"
        '  File "/opt/conda/lib/python3.8/site-packages/torch/multiprocessing/reductions.py", line 343, in reduce_storage\n'
        "    fd, size = storage._share_fd_cpu_()\n"
        "RuntimeError: unable to mmap 276 bytes from file </torch_116128_1191909093_62920>: Cannot allocate memory (12)\n"
    )
    assert "memory.host-alloc" == told(text)[0]


PRTERUN = """../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [949,0,0], thread: [62,0,0] \
Assertion `srcIndex < srcSelectDimSize` failed.
terminate called after throwing an instance of 'c10::Error'
  what():  CUDA error: device-side assert triggered
[gpu0304:3411853] *** Process received signal ***
[gpu0304:3411853] Signal: Aborted (6)
--------------------------------------------------------------------------
prterun noticed that process rank 7 with PID 0 on node gpu0304 exited on
signal 6 (Aborted).
--------------------------------------------------------------------------
"""


def test_prterun_names_the_rank_over_two_lines() -> None:
    assert ("gpu.device-assert", 7) == (told(PRTERUN)[0], told(PRTERUN)[1][0][0])


LOCKED = "[_get_plugin()] Lock file exists in build directory: '/home/zq/.cache/torch_extensions/py39_cu118/nvdiffrast_plugin/lock'\n"


def test_a_log_that_stops_at_a_lock_in_the_build_folder_waits_for_it() -> None:
    assert "software.stale-lock" == told(LOCKED)[0]


GRAPH_ERROR = """tensorflow.python.framework.errors_impl.DataLossError: Graph execution error:

Detected at node 'IteratorGetNext' defined at (most recent call last):
    File "train.py", line 88, in <module>
      main()
    File "/usr/local/lib/python3.8/dist-packages/keras/engine/training.py", line 1384, in fit
      tmp_logs = self.train_function(iterator)
Node: 'IteratorGetNext'
{said}
\t [[{{{{node IteratorGetNext}}}}]] [Op:__inference_train_function_1474]
"""


def test_what_tensorflow_says_below_the_place_in_the_graph_is_read() -> None:
    assert "data.bad-sample" == told(GRAPH_ERROR.format(said="corrupted record at 0"))[0]


def test_a_full_gpu_is_seen_among_several_root_errors() -> None:
    text = (
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: 2 root error(s) found.\n"
        "  (0) Resource exhausted:  OOM when allocating tensor with shape[64,512,28,28] and type float on"
        " /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n"
        "\t [[node model/conv2d/Conv2D (defined at train.py:88) ]]\n"
    )
    assert "memory.cuda-oom" == told(text)[0]


def test_a_container_that_yarn_killed_ran_out_of_host_memory() -> None:
    """Horovod on Spark then tells only that its process left with 255."""
    text = (
        "22/08/12 14:15:32 ERROR YarnScheduler: Lost executor 2 on worker-3: Container killed by YARN for exceeding memory limits."
        " 22.1 GB of 22 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.\n"
        "RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus causing the job to be"
        " terminated. The first process to do so was:\nProcess name: 1\nExit code: 255\n"
    )
    assert "memory.host-oom" == told(text)[0]


def test_a_loss_scale_far_below_one_is_no_search_for_the_scale() -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to {}\n"
    assert "numerics.nan" == told("".join(line.format(f"{n}.16e-303") for n in (8, 4, 2)))[0]
    assert diagnose(Text("".join(line.format(n) for n in ("256.0", "128.0", "1.52587890625e-05")), name="console.log")).diagnosis is None


def test_a_bar_that_shows_nan_step_after_step() -> None:
    bar = "Steps:   1%|▋    | {n}/2000 [00:2{n}<1:02:00,  1.87s/it, lr=0.0001, step_loss=nan]\n"
    assert "numerics.nan" == told("".join(bar.format(n=n) for n in (4, 5, 6)))[0]


def test_a_fatal_status_that_holds_a_cuda_error_is_that_error() -> None:
    text = (
        "2020-05-04 09:20:11.124556: F tensorflow/core/kernels/random_op_gpu.h:232] Non-OK-status:"
        " GpuLaunchKernel(FillPhiloxRandomKernelLaunch<Distribution>, num_blocks, block_size, 0, d.stream(), gen, data, size, dist)"
        " status: Internal: out of memory\nAborted (core dumped)\n"
    )
    assert "memory.cuda-oom" == told(text)[0]


def test_jax_ends_for_a_link_that_its_log_names() -> None:
    text = (
        "E0905 17:34:36.549100     162 gpu_cudamallocasync_allocator.cc:414] cudaFreeAsync failed to free 0x7f12a000:"
        " CUDA_ERROR_CONTAINED: Invalid access of peer GPU memory over nvlink or a hardware error\n"
        "F0905 17:34:43.194200 1044529 client.h:77] Terminating process because the JAX distributed service detected fatal errors."
        " This most likely indicates that another task died; see the other task logs for more details.\n"
    )
    assert "gpu.nvlink" == told(text)[0]


def test_an_exception_that_nobody_caught_is_not_why_the_watchdog_threw_it() -> None:
    """PyTorch 1.8 to 1.13 print the remark first, and without a rank."""
    text = (
        "[E ProcessGroupNCCL.cpp:485] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA"
        " kernels, subsequent GPU operations might run on corrupted/incomplete data. To avoid this inconsistency, we are taking"
        " the entire process down.\nterminate called after throwing an instance of 'std::runtime_error'\n"
        "  what():  [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for"
        " 1804582 milliseconds before timing out.\n"
    )
    assert "collective.timeout" == told(text)[0]


def test_batch_systems_that_end_a_job_for_its_memory() -> None:
    lines = (
        "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n",
        "=>> PBS: job killed: mem 68719480kb exceeded limit 67108864kb\n",
        "Job has gone over memory limit of 2048 megabytes. Peak usage: 2048 megabytes.\n",
    )
    assert {"memory.host-oom"} == {told(line)[0] for line in lines}
    assert "process.time-limit" == told("=>> PBS: job killed: walltime 86429 exceeded limit 86400\nTerminated\n")[0]


def test_tensorflow_without_memory_for_the_handle_of_cublas() -> None:
    text = (
        "2019-04-05 18:59:37.772229: E tensorflow/stream_executor/cuda/cuda_blas.cc:510] failed to create cublas handle:"
        " CUBLAS_STATUS_NOT_INITIALIZED\nTraceback (most recent call last):\n"
        '  File "main.py", line 88, in <module>\n    runner.train()\n'
        "tensorflow.python.framework.errors_impl.InternalError: Blas GEMM launch failed : a.shape=(32, 2048), b.shape=(2048, 1001)\n"
    )
    assert "memory.cuda-oom" == told(text)[0]


def test_a_container_that_cannot_open_its_gpus_has_no_other_driver() -> None:
    assert "gpu.off-bus" == told("Failed to initialize NVML: Unknown Error\n")[0]
    assert "gpu.driver-mismatch" == told("Failed to initialize NVML: Driver/library version mismatch\n")[0]


def test_vertex_says_that_a_replica_ran_out_of_memory() -> None:
    assert "memory.host-oom" == told("The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)\n")[0]


@pytest.mark.xfail(strict=True, reason="the status of a Neuron dump is read as a lost device")
def test_the_status_in_the_dump_of_the_neuron_runtime_is_read_by_name() -> None:
    dump = "2024-Jul-30 14:22:31.305961 65191:69012 ERROR   NRT:nrt_infodump                            "
    assert "memory.cuda-oom" == told(dump + "Failure: NRT_RESOURCE in nrt_load()\n" + dump + "Visible cores: 0, 1\n")[0]
    assert "gpu.ecc" == told(dump + "Failure: NRT_EXEC_HW_ERR_HBM_UE in nrt_execute()\n")[0]


def test_an_image_that_tensorflow_cannot_decode_is_no_wrong_argument() -> None:
    text = (
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\n"
        "2 root error(s) found.\n"
        "  (0) INVALID_ARGUMENT:  Unknown image file format. One of JPEG, PNG, GIF, BMP required.\n"
        "\t [[{{node DecodeJpeg}}]]\n"
        "  (1) CANCELLED:  Function was cancelled before it was started\n"
    )
    assert "data.bad-sample" == told(text)[0]


def test_what_nccl_told_tensorflow_is_read_as_of_nccl() -> None:
    text = "tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled system error. Set NCCL_DEBUG=WARN for detail.\n"
    assert "nccl.system-error" == told(text)[0]


JAX_BARRIER = """jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: save.0.1. This usually happens because \
a task triggered the barrier too early or too slowly.
# of tasks that reached the barrier: 14/16.
The first task at the barrier: /job:jax_worker/replica:0/task:13. Some timed out task names:
/job:jax_worker/replica:0/task:6
/job:jax_worker/replica:0/task:4


RPC: /tensorflow.CoordinationService/Barrier [type.googleapis.com/tensorflow.CoordinationServiceError='']
"""


def test_every_process_that_a_barrier_of_jax_names_is_a_culprit() -> None:
    assert ("rendezvous.timeout", [(4, None), (6, None)]) == told(JAX_BARRIER)[:2]


def test_what_ended_a_process_of_julia_is_its_signal() -> None:
    end = "in expression starting at /home/z/ImageNet/main.jl:537\nMPI_Bcast at /usr/lib/libmpi.so (unknown line)\n"
    assert "process.segfault" == told("signal (11): Segmentation fault\n" + end)[0]
    assert "process.segfault" == told("[1433292] signal 11 (1): Segmentation fault\n" + end)[0]
    assert "process.abort" == told("[4211] signal (6.-6): Aborted\n" + end)[0]


def test_a_check_of_dmlc_that_holds_an_error_of_cuda_is_read_as_that_error() -> None:
    check = "/opt/dgl/src/runtime/cuda/cuda_device_api.cc:196: Check failed: e == cudaSuccess || e == cudaErrorCudartUnloading: CUDA: "
    assert "memory.cuda-oom" == told(f"[09:50:35] {check}out of memory\n")[0]
    raised = f"dgl._ffi.base.DGLError: [10:02:44] {check}an illegal memory access was encountered\n"
    assert "gpu.illegal-access" == told(raised)[0]


def test_a_tpu_that_cannot_be_opened_is_held() -> None:
    text = (
        "jax.errors.JaxRuntimeError: UNKNOWN: TPU initialization failed: open(/dev/vfio/0): Device or resource busy: "
        "Device or resource busy; Couldn't open iommu group /dev/vfio/0\n"
    )
    assert "gpu.in-use" == told(text)[0]


def test_h5py_ends_the_first_line_of_its_message_within_the_time() -> None:
    lost = ", filename = '/mnt/x.h5', file descriptor = 7, errno = {}, error message = '{}', buf = 0x7f, total size = 65536)\n"
    read = "OSError: Can't synchronously read data (file read failed: time = Fri May  2 10:00:00 2026\n"
    write = "OSError: Can't synchronously write data (file write failed: time = Fri May  2 10:00:00 2026\n"
    assert "storage.io-error" == told(read + lost.format(5, "Input/output error"))[0]
    assert "storage.disk-full" == told(write + lost.format(28, "No space left on device"))[0]


def test_what_slurm_puts_before_all_lines_of_a_file_is_no_label_of_a_collector() -> None:
    """What enroot says below `pyxis:` begins as a log does, so that the head looked like one that a viewer adds."""
    text = (
        "slurmstepd: error: pyxis: child 41232 failed with error code: 1\n"
        "slurmstepd: error: pyxis: failed to import docker image\n"
        "slurmstepd: error: pyxis: printing enroot log file:\n"
        "slurmstepd: error: pyxis:     [INFO] Querying registry for permission grant\n"
        "slurmstepd: error: pyxis:     [ERROR] URL https://auth.docker.io/token returned error code: 401 Unauthorized\n"
    )
    assert "process.not-started" == told(text)[0]


def test_what_dali_met_is_read_below_the_operator() -> None:
    """Its first line is the same for an image that cannot be decoded and for a GPU without memory."""
    head = "RuntimeError: Critical error in pipeline:\nError in GPU operator `nvidia.dali.fn.normalize`,\nencountered:\n\n"
    end = "Current pipeline object is no longer valid.\n"
    memory = "CUDA runtime API error cudaErrorMemoryAllocation (2):\nout of memory\n"
    address = "CUDA runtime API error cudaErrorIllegalAddress (700):\nan illegal memory access was encountered\n"
    assert "memory.cuda-oom" == told(head + memory + end)[0]
    assert "memory.cuda-oom" == told(head + "CUDA allocation failed\n" + end)[0]
    assert "gpu.illegal-access" == told(head + address + end)[0]
    assert "data.bad-sample" == told(head + "Failed to decode the image: /data/0001.jpg\n" + end)[0]


def test_the_health_agent_of_hyperpod_quotes_the_kernel() -> None:
    text = (
        '{"level":"info","ts":"2026-08-21T18:35:35Z","msg":"NPD caught event: %v","details: ":{"severity":"warn",'
        '"reason":"XidHardwareFailure","message":"Node condition NvidiaErrorReboot is now: True, reason: XidHardwareFailure, '
        'message: \\"NVRM: Xid (PCI:0000:b9:00): 79, pid=<unknown>, name=<unknown>, GPU has fallen off the bus.\\""},'
        '"HealthMonitoringAgentDetectionEvent":"HealthEvent"}\n'
    )
    assert "gpu.off-bus" == told(text)[0]
