"""The same exception means different things by where it was raised and what was asked there."""

from __future__ import annotations

import pytest

from diagnose.engine import diagnose
from diagnose.sources.source import Text

from .told import cause


def raised(file: str, function: str, code: str, exception: str) -> str:
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


@pytest.mark.parametrize(
    ("file", "function", "code"),
    [
        ("/opt/deploy/plugins.py", "find_plugin", 'path = next(folder.glob(f"{name}.*.so"))'),
        ("/opt/transformers/modeling_utils.py", "dtype", "return next(self.parameters()).dtype"),
    ],
)
def test_an_empty_search_is_no_end_of_the_data(file: str, function: str, code: str) -> None:
    assert "process.exception" == raised(file, function, code, "StopIteration")


def test_a_search_for_transformer_engine_s_library_tells_that_it_is_missing() -> None:
    code = 'so_path = next(so_dir.glob(f"{name}.*.so"))'
    told = raised("/opt/transformer_engine/pytorch/__init__.py", "_load_library", code, "StopIteration")
    assert "software.import-error" == told


@pytest.mark.parametrize("code", ["batch = next(data_iterator)", "x, y = next(iter(self.loaders[0]))", "data = next(it)"])
def test_a_data_iterator_that_ends_had_too_few_batches(code: str) -> None:
    assert "data.uneven-inputs" == raised("/job/train.py", "main", code, "StopIteration")


def test_what_a_check_of_the_arguments_raises_is_a_wrong_argument() -> None:
    error = "AssertionError: Must use --overlap-param-gather with --overlap-grad-reduce"
    code = "assert args.overlap_grad_reduce, \\"

    assert "config.invalid-argument" == raised("/opt/megatron/training/arguments.py", "validate_args", code, error)
    assert "config.invalid-argument" == raised("/opt/nemo/config.py", "__post_init__", code, "ValueError: tp must divide 12")


def test_a_known_message_outweighs_where_it_was_raised() -> None:
    error = "AssertionError: world size (12) is not divisible by total_model_size (total_model_size=8)"

    assert "config.world-size-mismatch" == raised("/opt/megatron/training/arguments.py", "validate_args", "assert x", error)


@pytest.mark.parametrize(
    ("file", "function", "expected"),
    [
        ("/opt/lib/python3.11/multiprocessing/synchronize.py", "__init__", "memory.shm-full"),
        ("/opt/torch/serialization.py", "save", "storage.disk-full"),
    ],
)
def test_a_semaphore_without_space_tells_of_shared_memory_and_not_of_a_disk(file: str, function: str, expected: str) -> None:
    code = "sl = self._semlock = _multiprocessing.SemLock("
    assert expected == raised(file, function, code, "OSError: [Errno 28] No space left on device")
