"""What a compiler, a validator or an engine quotes in its own exception is what was raised first."""

from __future__ import annotations

from pathlib import Path

import pytest

from diagnose import diagnose
from diagnose.traces.quotation import quoted_in

from .told import cause, told

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


def test_frames_of_the_users_code_do_not_hide_what_dynamo_raised(tmp_path):
    log = tmp_path / "train.log"
    message = "torch._dynamo.exc.Unsupported: Unexpected type in sourceless builder"
    code = 'from user code:\n   File "/app/model.py", line 7, in forward\n    return self.run(x)'
    log.write_text(f'{TRACE}{message}\n\n{code}\n\nSet TORCH_LOGS="+dynamo" for more information\n')

    found = diagnose(str(log)).diagnosis

    assert ("process.exception", 4) == (found.cause, found.evidence[0].line)


def test_a_child_that_was_started_and_got_nothing_read_no_damaged_file(tmp_path: Path) -> None:
    """The same words below `spawn_main` tell of the parent, below `torch.load` of a file."""
    head = 'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
    spawned = (
        head + '  File "/usr/lib/python3.10/multiprocessing/spawn.py", line 116, in spawn_main\n    exitcode = _main(fd)\n'
    )
    loaded = head + '  File "/usr/lib/python3/torch/serialization.py", line 1046, in _legacy_load\n    magic = load(f)\n'
    words = "EOFError: Ran out of input\n"

    assert "process.exception" == cause(told(tmp_path / "a", {"console.log": spawned + words}))
    assert "storage.checkpoint-corrupt" == cause(told(tmp_path / "b", {"console.log": loaded + words}))


OUT_OF_MEMORY = (
    "OutOfMemoryError('CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 39.39 GiB')"
)


def test_what_hydras_target_raised_is_no_refused_configuration(tmp_path: Path) -> None:
    raised = (
        f"hydra.errors.InstantiationException: Error in call to target 'src.model.Net':\n{OUT_OF_MEMORY}\nfull_key: model\n"
    )
    report = told(tmp_path, {"train.log": TRACE + raised})
    assert "memory.cuda-oom" == cause(report)


def test_hydras_short_report_quotes_what_was_raised(tmp_path: Path) -> None:
    """Without HYDRA_FULL_ERROR no traceback and no name of Hydra's own exception is printed."""
    hint = "full_key: model\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n"
    head = "Error executing job with overrides: ['trainer.devices=4']\nError in call to target 'src.model.Net':\n"
    report = told(tmp_path, {"train.log": head + OUT_OF_MEMORY + "\n" + hint})
    assert "memory.cuda-oom" == cause(report)


def test_a_class_that_hydra_did_not_find_is_named_where_another_targets_config_holds_it(tmp_path: Path) -> None:
    """The outer target was found; Hydra gives what it raised for the inner one as a `repr`, with line ends spelt out."""
    inner = "Error locating target 'training.vos.VOSDataset', set env var HYDRA_FULL_ERROR=1 to see chained exception."
    raised = (
        "[rank0]: hydra.errors.InstantiationException: Error in call to target 'training.trainer.Trainer':\n"
        f'[rank0]: InstantiationException("{inner}\\nfull_key: data.train.datasets[0]")\n[rank0]: full_key: trainer\n'
    )
    assert "software.import-error" == cause(told(tmp_path, {"train.log": raised}))


def test_a_plain_exception_of_hydras_target_is_shown(tmp_path: Path) -> None:
    head = "Error executing job with overrides: []\nError in call to target 'src.model.Net':\n"
    report = told(
        tmp_path, {"train.log": head + "TypeError(\"Net.__init__() got an unexpected keyword argument 'depth'\")\n"}
    )
    assert report.diagnosis is not None
    assert "process.exception" == cause(report)
    assert "unexpected keyword argument 'depth'" in report.diagnosis.summary
