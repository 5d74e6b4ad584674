"""What an exception tells in whatever dress: wrapped, told without its name, warned of, caught, or of a library without a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import Text, diagnose
from diagnose.report.report import Report
from diagnose.traces.quotation import quoted_in

from .told import alive, cause, culprits, told

# --- exceptions of libraries without a rule of their own: what the errno, the status, the client or CUDA's own name says of them ---

RAISED = 'step 10 loss 2.1\nTraceback (most recent call last):\n  File "/app/train.py", line 10, in <module>\n    main()\n'


def raised(tmp_path: Path, exception: str) -> str:
    return cause(told(tmp_path, {"train.log": f"{RAISED}{exception}\n"}))


@pytest.mark.parametrize(
    ("expected", "exception"),
    [
        ("network.connection-refused", "pymongo.errors.ServerSelectionTimeoutError: mongo:27017: [Errno 111] Connection refused"),
        ("network.connection-reset", "pymongo.errors.AutoReconnect: 10.0.0.3:27017: [Errno 104] Connection reset by peer"),
        ("network.connect-timeout", "httpx.ReadTimeout"),
        ("config.authentication", "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://api.wandb.ai/graphql"),
    ],
)
def test_a_client_that_could_not_reach_its_service_tells_by_its_errno_status_or_class(tmp_path: Path, expected: str, exception: str) -> None:
    assert expected == raised(tmp_path, exception)


@pytest.mark.parametrize(
    ("expected", "exception"),
    [
        ("gpu.nvlink", "RuntimeError: jaxlib/cuda/versions_helpers.cc:113: operation cuInit(0) failed: CUDA_ERROR_SYSTEM_NOT_READY"),
        ("memory.cuda-oom", "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY"),
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
        "RuntimeError: Could not allocate tensor with 134217728 bytes. There is not enough GPU video memory available!",
    ],
)
def test_every_backend_s_sentence_for_a_full_device_is_out_of_memory(tmp_path: Path, exception: str) -> None:
    assert "memory.cuda-oom" == raised(tmp_path, exception)


@pytest.mark.parametrize(
    ("expected", "exception"),
    [
        ("storage.disk-full", "lmdb.DiskError: /data/train.lmdb: No space left on device"),
        ("storage.io-error", "OSError: Unable to open file (unable to lock file, errno = 11, error message = 'Resource temporarily unavailable')"),
        ("data.bad-sample", "OSError: Unable to open file (file signature not found)"),
        ("storage.checkpoint-corrupt", 'ValueError: NOT_FOUND: Error opening "zarr" driver: Metadata at "a/.zarray" in OCDBT database at gs://b/ckpt/ does not exist'),
        ("hub.download", "urllib.error.HTTPError: HTTP Error 403: rate limit exceeded"),
        ("config.invalid-argument", "KeyError: 'Non-existent config key: MODEL.FOO'"),
    ],
)
def test_the_words_of_an_errno_or_the_library_that_reads_options_tell(tmp_path: Path, expected: str, exception: str) -> None:
    assert expected == raised(tmp_path, exception)


# --- what a compiler, a validator or an engine quotes in its own exception is what was raised first ---------------

TRACE = 'Traceback (most recent call last):\n  File "/app/train.py", line 42, in main\n    run(cfg)\n'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n"
            "RuntimeError: Cannot find a working triton installation. More information on installing Triton",
            "software.version-incompatible",
        ),
        (
            "torch._inductor.exc.InductorError: OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. "
            "GPU 0 has a total capacity of 79.11 GiB of which 1.20 GiB is free.",
            "memory.cuda-oom",
        ),
        (
            "RuntimeError: Worker failed with error 'CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
            "capacity of 79.11 GiB of which 1.20 GiB is free.', please check the stack trace above for the root cause",
            "memory.cuda-oom",
        ),
    ],
)
def test_the_quoted_exception_names_the_cause(tmp_path, text, cause):
    log = tmp_path / "train.log"
    log.write_text(TRACE + text + "\n")
    found = diagnose(str(log)).diagnosis
    assert cause == found.cause
    assert found.evidence[0].line in (4, 5)  # the line of the wrapper, or the one below it that it quotes


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        ("ValueError", "could not convert string to float: '0.1f3x'"),
        ("RuntimeError", "Error: see the log"),
        ("KeyError", "'target'"),
        ("RuntimeError", "the size of tensor a (3) must match the size of tensor b (4)\nValueError: of another writer"),
    ],
)
def test_an_ordinary_message_quotes_nothing(exception, message):
    assert [] == list(quoted_in(exception, message))


# --- the message of an exception that a program logged without the exception's name -------------------------------

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
    "[2024-04-18 15:55:06] CRITICAL [olmo.util:158, rank=6] Uncaught HfHubHTTPError: 429 Client Error: Too Many Requests for url: "
    "https://huggingface.co/api/datasets/glue/paths-info/bcdcba79": "hub.download",
    "Yesterday it worked, and today I am getting: ```OSError: We couldn't connect to 'https://huggingface.co' to load this file.": (
        "hub.download"
    ),
    "It dies with `RuntimeError: One of the subprocesses has abruptly died during map operation.` and then succeeds.": "data.worker-died",
    f"2026-11-20 03:04:05,678 - trainer - ERROR - rank=3 fn_ex: OutOfMemoryError({OUT_OF_MEMORY!r})": "memory.cuda-oom",
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


# --- what a logger writes as a warning the program caught: it is not what another rank died of --------------------

DISK = "OSError: [Errno 28] No space left on device"
FRAME = '  File "/job/lib/cache.py", line 61, in {}\n    do(x)\n'
OOM = (
    "[rank5]: Traceback (most recent call last):\n"
    '[rank5]:   File "/job/train.py", line 88, in <module>\n'
    "[rank5]:     main()\n"
    "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of "
    "79.10 GiB of which 1.20 GiB is free.\n"
)
WARNING = "WARNING 11-20 10:17:21 [cache.py:123] Could not write the cache, going on without it.\n"
LOGGED = (
    f"W1120 10:17:21.123000 41217 torch/_inductor/cache.py:12] {DISK}\n",
    f"[WARNING|cache.py:12] 2026-11-20 10:17:21,123 >> {DISK}\n",
    f"{WARNING}Traceback (most recent call last):\n{FRAME.format('write')}{DISK}\n",
    f"/opt/lib/python3.11/site-packages/lib/cache.py:12: UserWarning: {DISK}\n  warnings.warn(str(e))\n",
)


@pytest.mark.parametrize("text", LOGGED)
def test_what_was_logged_as_a_warning_is_not_what_another_rank_died_of(tmp_path, text):
    report = told(tmp_path, {"rank0.log": alive(0), "rank3.log": text, "rank5.log": OOM})
    assert ("memory.cuda-oom", [5]) == (cause(report), culprits(report))


@pytest.mark.parametrize("text", LOGGED[:3])
def test_what_was_logged_as_a_warning_is_not_certain(tmp_path, text):
    found = told(tmp_path, {"rank3.log": text}).diagnosis
    assert found is None or found.certainty != "certain"


@pytest.mark.parametrize(
    "text",
    [
        *LOGGED[:3],
        "WARNING: could not find the metadata file /out/latest_checkpointed_iteration.txt\n",
        "[W1120 10:17:21.123456789 ProcessGroupGloo.cpp:723] Warning: Unable to resolve hostname to a (local) address. Using "
        "the loopback address as fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME. "
        "(function operator())\n",
    ],
)
def test_steps_of_a_console_without_ranks_outlive_a_warning(tmp_path, text):
    steps = "".join(f"step {n}/100 loss={2 - n / 100:.3f}\n" for n in range(1, 90))
    assert told(tmp_path, {"train.log": text + steps}).diagnosis is None


# --- what one process prints time and again it catches: no process ends twice by an exception ---------------------


def said(*lines: str) -> str:
    report = diagnose(Text("\n".join(lines) + "\n", name="rollout.log"))
    return report.diagnosis.cause if report.diagnosis else report.outcome


def logged(minute: int, pid: int, error: str = "TypeError: cannot unpack non-iterable NoneType object") -> list[str]:
    who = f"(ToolWorker pid={pid})"
    return [
        f"{who} ERROR:2026-11-10 10:{minute:02d}:41,526:Traceback (most recent call last):",
        f'{who}   File "/job/rl/env.py", line 470, in step',
        f"{who}     action, x, y = extract(text)",
        f"{who} {error}",
        f"{who} ERROR:2026-11-10 10:{minute:02d}:41,526:Error extracting action for item 355{minute}",
    ]


def engine(minute: int) -> list[str]:
    at, who = f"11-10 10:{minute:02d}:20 [core.py:708]", "(EngineCore_DP0 pid=171)"
    return [
        f"{who} ERROR {at} EngineCore failed to start.",
        f"{who} ERROR {at} Traceback (most recent call last):",
        f'{who} ERROR {at}   File "/v/vllm/v1/engine/core.py", line 699, in run_engine_core',
        f"{who} ERROR {at} ValueError: no such layer: model.layers.61",
    ]


def test_a_container_that_starts_again_gives_its_processes_the_same_numbers() -> None:
    assert said(*engine(1), *engine(5)) == "process.exception"


# --- the same exception means different things by where it was raised_in and what was asked there -----------------


def raised_in(file: str, function: str, code: str, exception: str) -> str:
    """The verdict on one rank's traceback."""
    lines = (
        "Traceback (most recent call last):",
        '  File "/job/train.py", line 88, in <module>',
        "    main()",
        f'  File "{file}", line 57, in {function}',
        f"    {code}",
        exception,
    )
    return cause(diagnose(Text("".join(f"[rank0]: {line}\n" for line in lines), name="console.log")))


def test_a_search_for_transformer_engine_s_library_tells_that_it_is_missing() -> None:
    code = 'so_path = next(so_dir.glob(f"{name}.*.so"))'
    told = raised_in("/opt/transformer_engine/pytorch/__init__.py", "_load_library", code, "StopIteration")
    assert "software.import-error" == told


# --- Accelerate's debug mode raises on all ranks alike and lists the shapes by process ----------------------------

ON_ALL_RANKS = """Traceback (most recent call last):
  File "/app/train.py", line 61, in <module>
    gathered = accelerator.gather(preds)
  File "/opt/venv/lib/python3.11/site-packages/accelerate/utils/operations.py", line 380, in wrapper
    raise DistributedOperationException(
accelerate.utils.operations.DistributedOperationException: Cannot apply desired operation due to shape mismatches. All shapes \
across devices must be valid.

Operation: `accelerate.utils.operations.gather`
Input shapes:
"""


def on_all_ranks(shapes: list[str]) -> str:
    """What each rank prints where these are the shapes."""
    return ON_ALL_RANKS + "".join(f"  - Process {i}: {shape}\n" for i, shape in enumerate(shapes))


def test_shapes_that_differ_are_a_mismatch_and_of_two_halves_neither_is_blamed(tmp_path: Path) -> None:
    shapes = [["[8, 512]", "[5, 512]"], ["[8]", "[5]", "[8]", "[5]"], ["[1]", "[2]", "[3]", "[4]"]]
    reports = [told(tmp_path / str(i), {f"rank{r}.log": on_all_ranks(s) for r in range(len(s))}) for i, s in enumerate(shapes)]
    assert {"collective.shape-mismatch"} == {cause(report) for report in reports}
    assert [[], [], []] == [culprits(report) for report in reports]
