"""Exceptions of libraries without a rule of their own: what the errno, the status, the client or CUDA's own name says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .told import cause, told

RAISED = 'step 10 loss 2.1\nTraceback (most recent call last):\n  File "/app/train.py", line 10, in <module>\n    main()\n'


def raised(tmp_path: Path, exception: str) -> str:
    return cause(told(tmp_path, {"train.log": f"{RAISED}{exception}\n"}))


@pytest.mark.parametrize(
    ("expected", "exception"),
    [
        ("network.connection-refused", "pymongo.errors.ServerSelectionTimeoutError: mongo:27017: [Errno 111] Connection refused"),
        ("network.connection-refused", "kafka.errors.NoBrokersAvailable: NoBrokersAvailable"),
        ("network.connection-reset", "pymongo.errors.AutoReconnect: 10.0.0.3:27017: [Errno 104] Connection reset by peer"),
        ("network.connection-reset", "aiohttp.client_exceptions.ClientOSError: [Errno 104] Connection reset by peer"),
        ("network.connect-timeout", "redis.exceptions.TimeoutError: Timeout reading from socket"),
        ("network.connect-timeout", "httpx.ReadTimeout"),
        ("config.authentication", "paramiko.ssh_exception.AuthenticationException: Authentication failed."),
        ("config.authentication", "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.wandb.ai/graphql"),
        ("config.authentication", "gcsfs.retry.HttpError: Anonymous caller does not have storage.objects.get access, 401"),
        ("storage.io-error", "gcsfs.retry.HttpError: Backend error, 503"),
    ],
)
def test_a_client_that_could_not_reach_its_service_tells_by_its_errno_status_or_class(tmp_path: Path, expected: str, exception: str) -> None:
    assert expected == raised(tmp_path, exception)


@pytest.mark.parametrize(
    ("expected", "exception"),
    [
        ("gpu.nvlink", "RuntimeError: jaxlib/cuda/versions_helpers.cc:113: operation cuInit(0) failed: CUDA_ERROR_SYSTEM_NOT_READY"),
        ("memory.cuda-oom", "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"),
        ("gpu.illegal-access", "RuntimeError: CUDA error encountered at: /rapids/copy.cu:10: 719 cudaErrorLaunchFailure unspecified launch failure"),
        ("memory.cuda-oom", "mxnet.base.MXNetError: [10:11:12] src/storage/./pooled_storage_manager.h:157: cudaMalloc failed: out of memory"),
        ("gpu.nvlink", "pycuda._driver.LogicError: cuInit failed: system not yet initialized"),
        ("process.exception", "XlaRuntimeError: INTERNAL: CustomCall failed: CUDA_ERROR_INVALID_VALUE: invalid argument"),
    ],
)
def test_the_name_or_the_words_of_a_cuda_error_tell_in_whatever_exception_they_stand(tmp_path: Path, expected: str, exception: str) -> None:
    assert expected == raised(tmp_path, exception)


WATCHDOG = "[rank{rank}]:[E620 11:20:31.118812 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation timeout: "
WORK = "WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=1800000) ran for 1800072 milliseconds before timing out."
LOST_CLIENT = "requests.exceptions.ConnectionError: ('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))\n"


def test_what_the_absent_rank_raised_is_the_cause_of_the_others_wait(tmp_path: Path) -> None:
    """Rank 0 lost its weight server half an hour before rank 1's watchdog spoke; alone, rank 1's line says straggler."""
    traceback = "".join(f"[rank0]: {line}\n" for line in (RAISED.split("\n", 1)[1] + LOST_CLIENT).splitlines())
    waited = WATCHDOG.format(rank=1) + WORK.format(seq=881, numel=1) + "\n"

    report = told(tmp_path, {"train.log": traceback + waited})

    assert "network.connection-reset" == cause(report)


@pytest.mark.parametrize(
    "exception",
    [
        "RuntimeError: MPS backend out of memory (MPS allocated: 11.14 GB, other allocations: 6.65 GB, max allowed: 18.13 GB).",
        "RuntimeError: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)",
        "RuntimeError: UR error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)",
        "RuntimeError: Could not allocate tensor with 134217728 bytes. There is not enough GPU video memory available!",
        "torch.OutOfMemoryError: HPU out of memory",
    ],
)
def test_every_backend_s_sentence_for_a_full_device_is_out_of_memory(tmp_path: Path, exception: str) -> None:
    assert "memory.cuda-oom" == raised(tmp_path, exception)


@pytest.mark.parametrize(
    ("expected", "exception"),
    [
        ("storage.disk-full", "lmdb.DiskError: /data/train.lmdb: No space left on device"),
        ("storage.disk-full", "ValueError: RESOURCE_EXHAUSTED: Failed to write to file [OS error 28: ENOSPC No space left on device]"),
        ("storage.io-error", "lmdb.Error: /data/train.lmdb: Permission denied"),
        ("storage.io-error", "OSError: Unable to open file (unable to lock file, errno = 11, error message = 'Resource temporarily unavailable')"),
        ("data.bad-sample", "OSError: Unable to open file (file signature not found)"),
        ("storage.checkpoint-corrupt", 'ValueError: NOT_FOUND: Error opening "zarr" driver: Metadata at "a/.zarray" in OCDBT database at gs://b/ckpt/ does not exist'),
        ("network.dns", "RuntimeError: UNAVAILABLE: DNS resolution failed for master-0:8476: Domain name not found"),
        ("hub.download", "urllib.error.HTTPError: HTTP Error 403: rate limit exceeded"),
        ("config.invalid-argument", "absl.flags._exceptions.UnrecognizedFlagError: Unknown command line flag 'foo'"),
        ("config.invalid-argument", "KeyError: 'Non-existent config key: MODEL.FOO'"),
    ],
)
def test_the_words_of_an_errno_or_the_library_that_reads_options_tell(tmp_path: Path, expected: str, exception: str) -> None:
    assert expected == raised(tmp_path, exception)
