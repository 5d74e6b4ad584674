"""What programs' own checks say of settings, sizes, files and versions is told by its wording and by who raised it."""

from __future__ import annotations

import pytest

from .test_raising_frames import raised

LIBRARY = "/opt/conda/lib/python3.10/site-packages"


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            "ValueError: World size 6 does not equal the product of the specified parallelism degrees 8.",
            "config.world-size-mismatch",
        ),
        ("AssertionError: gpus_per_node should be divisible by tensor_model_parallel_size", "config.world-size-mismatch"),
        ("ValueError: global_batch_size must be >= `data_parallel_size * micro_batch_size`", "config.batch-size-mismatch"),
        ("FileNotFoundError: Expert checkpoint file not found: /ckpt/layer_6_expert_4.pt", "storage.checkpoint-corrupt"),
        ("AssertionError: HF token is required for importing checkpoint from HuggingFace", "config.authentication"),
        ("FileNotFoundError: Could not find CMake executable", "software.missing-tool"),
        ("ValueError: DeviceGPU cannot be created as torch.cuda is not available.", "gpu.driver-mismatch"),
        ("RuntimeError: Unable to fetch file https://dl.example.org/roberta.base.tar.gz", "hub.download"),
    ],
)
def test_a_check_names_its_cause_in_its_own_words(error: str, cause: str) -> None:
    assert cause == raised(f"{LIBRARY}/acme/setup.py", "run", "raise error", error)


def test_an_import_that_asks_for_a_version_is_one_of_versions() -> None:
    error = (
        "ImportError: vLLM >= 0.22.0 is required to use WeightTransferClient. Install it with: pip install 'vllm>=0.22.0'"
    )

    assert "software.version-incompatible" == raised(
        f"{LIBRARY}/trl/weight_transfer.py", "__init__", "raise ImportError(", error
    )


def test_an_import_error_in_any_words_is_an_import_that_failed() -> None:
    error = "ImportError: FP8 quantization not available"

    assert "software.import-error" == raised(f"{LIBRARY}/verl/fp8.py", "<module>", "raise ImportError(error)", error)


@pytest.mark.parametrize(
    ("function", "code", "cause"),
    [
        ("__init__", "raise ValueError(", "config.invalid-argument"),
        ("_prepare_deepspeed", "raise ValueError(", "config.invalid-argument"),
        ("forward", "raise ValueError(", "process.exception"),
        ("__init__", "self.rows = parse(text)", "process.exception"),
    ],
)
def test_a_setting_is_refused_by_what_is_built_not_by_what_computes(function: str, code: str, cause: str) -> None:
    error = "ValueError: labels must be set in training"

    assert cause == raised(f"{LIBRARY}/trl/trainer/sft_trainer.py", function, code, error)


def test_what_the_loader_of_a_checkpoint_refuses_is_the_checkpoint() -> None:
    error = "KeyError: \"Missing pretrained Flux tensor 'blocks.3.q'.\""
    frame = ("/opt/peft/flux.py", "_load_reduced_flux_state", "raise KeyError(")

    assert "storage.checkpoint-corrupt" == raised(*frame, error)
    assert "process.exception" == raised(frame[0], "reduce_flux", frame[2], error)


def test_tensorstore_tells_a_full_disk_by_its_own_brackets() -> None:
    error = (
        'ValueError: RESOURCE_EXHAUSTED: Error writing "params/zarr.json" in OCDBT database at local file "/out/3/": Failed to write '
        "to file \"/out/3/d/ab.__lock\": [OS error 28: No space left on device] [source locations='tensorstore/internal/os/file.cc:8']"
    )

    assert "storage.disk-full" == raised(f"{LIBRARY}/orbax/checkpoint/handler.py", "serialize", "await write(x)", error)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("Exception: Your audio file /data/a/0012.wav could not be decoded. We tried using ['pydub'].", "data.bad-sample"),
        ("ValueError: columns ['labels'] are not in features ['text', 'input_ids']", "data.bad-sample"),
        (
            "ValueError: Failed to retrieve the dataset. You can avoid this issue by increasing `max_length`",
            "data.bad-sample",
        ),
        ("ValueError: sequence length 4096 is too long for this attention", "process.exception"),
        ("AssertionError: num_bytes must be non-negative, got -7", "process.exception"),
    ],
)
def test_a_refused_sample_is_one_that_is_named(error: str, cause: str) -> None:
    assert cause == raised("/job/data.py", "__getitem__", "raise error", error)
