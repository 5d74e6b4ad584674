"""The message of an exception that a program logged without the exception's name."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.report.report import Report
from diagnose.sources.source import Text

OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 371.41 MiB is free."


def read(text: str) -> Report:
    return diagnose(Text(text, name="train.log"))


TOLD = {
    "2026-11-20 03:04:05,678 - ERROR - Training failed: CUDA error: an illegal memory access was encountered": "gpu.illegal-access",
    f"2026-11-20 03:04:05,678 - trainer - ERROR - {OUT_OF_MEMORY}": "memory.cuda-oom",
    f"❌ Training failed: {OUT_OF_MEMORY}": "memory.cuda-oom",
    "Error saving checkpoint: [Errno 28] No space left on device: '/ckpt/step_100'": "storage.disk-full",
    "Failed to load checkpoint: PytorchStreamReader failed reading zip archive: failed finding central directory": (
        "storage.checkpoint-corrupt"
    ),
    "DataLoader worker (pid 20991) is killed by signal: Bus error. Details are lost due to multiprocessing.": "memory.shm-full",
    "[2024-04-18 15:55:06] CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error: Too Many Requests for url: "
    "https://huggingface.co/api/datasets/glue/paths-info/bcdcba79": "hub.download",
    "Yesterday it worked, and today I am getting: ```OSError: We couldn't connect to 'https://huggingface.co' to load this file.": (
        "hub.download"
    ),
    "It dies with `RuntimeError: One of the subprocesses has abruptly died during map operation.` and then succeeds.": "data.worker-died",
    "Got an error: RuntimeError: CUDA error: device-side assert triggered": "gpu.device-assert",
    f"2026-11-20 03:04:05,678 - trainer - ERROR - rank=3 fn_ex: OutOfMemoryError({OUT_OF_MEMORY!r})": "memory.cuda-oom",
    "Writer failed with OSError(28, 'No space left on device')": "storage.disk-full",
    "The store could not be opened, it failed with gaierror(-2, 'Name or service not known')": "network.dns",
    "Training failed: RuntimeError(\"CUDA error: device-side assert triggered\\nCompile with `TORCH_USE_CUDA_DSA`\")": "gpu.device-assert",
}


@pytest.mark.parametrize("line", TOLD)
def test_a_message_without_its_exceptions_name_is_a_hint_and_no_proof(line: str) -> None:
    """`print(f"failed: {e}")` says what was raised; whether it ended the program it leaves open."""
    report = read(line + "\n")

    assert TOLD[line] == report.diagnosis.cause
    assert "certain" != report.diagnosis.certainty


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            f"2026-11-20 03:04:05,678 - WARNING - {OUT_OF_MEMORY}",
            marks=pytest.mark.xfail(strict=True, reason="the level of a line that holds the message alone is not heeded"),
        ),
        f"OOM caught at step 12, skipping the batch: {OUT_OF_MEMORY}",
        "Error uploading artifact: [Errno 104] Connection reset by peer, retrying in 5 s",
        "If you get `RuntimeError: CUDA error: device-side assert triggered`, look at the labels",
        "If you see CUDA out of memory. Tried to allocate 2.00 GiB, lower the batch size",
        f"on failure it does this: raise OutOfMemoryError({OUT_OF_MEMORY!r})",
        f"the queue holds OutOfMemoryError({OUT_OF_MEMORY!r})",
    ],
)
def test_what_a_program_went_on_after_is_no_failure(line: str) -> None:
    assert read(line + "\n").diagnosis is None


@pytest.mark.parametrize(
    ("exception", "known"),
    [
        (f"Exception: {OUT_OF_MEMORY}", "memory.cuda-oom"),
        ("engine.SaveError: saving failed: [Errno 28] No space left on device: '/ckpt/x'", "storage.disk-full"),
        ("RuntimeError: Failed to load /ckpt/x.pt: PytorchStreamReader failed reading zip archive: failed finding central directory",
         "storage.checkpoint-corrupt"),
        (f"RuntimeError: rank 3 is gone, OutOfMemoryError({OUT_OF_MEMORY!r})", "memory.cuda-oom"),
        ("ValueError: Error in step 3: the labels are wrong", "process.exception"),
    ],
)  # fmt: skip
def test_an_exception_raised_anew_as_another_is_known_by_its_message(exception: str, known: str) -> None:
    report = read(f'Traceback (most recent call last):\n  File "/job/train.py", line 3, in <module>\n    main()\n{exception}\n')

    assert (known, 4) == (report.diagnosis.cause, report.diagnosis.evidence[0].line)


NCCL_RESULT = "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n"


def test_line_of_a_message_that_is_understood_as_a_whole_tells_nothing_more():
    report = read(
        'Traceback (most recent call last):\n  File "/job/train.py", line 9, in <module>\n    dist.barrier()\n'
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2006, remote "
        f"process exited or there was a network error, NCCL version 2.20.5\n{NCCL_RESULT}"
    )
    assert [e.ref for e in report.timeline] == ["train.log:4"]
