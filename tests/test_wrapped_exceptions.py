"""What a compiler, a validator or an engine quotes in its own exception is what was raised first."""

from __future__ import annotations

import pytest

from diagnose import diagnose
from diagnose.traces.quotation import quoted_in

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
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
            "  Value error, The checkpoint you are trying to load has model type `qwen3_next` but Transformers does not "
            "recognize this architecture. [type=value_error, input_value=ArgsKwargs((), {}), input_type=ArgsKwargs]",
            "software.version-incompatible",
        ),
        (
            "torch._dynamo.exc.BackendCompilerFailed: compile_fn raised ModuleNotFoundError: No module named 'triton.ops'",
            "software.import-error",
        ),
        (
            "Exception: Capture cuda graph failed: Ninja is required to load C++ extensions\nPossible solutions:",
            "software.missing-tool",
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
    assert 4 == found.evidence[0].line


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
